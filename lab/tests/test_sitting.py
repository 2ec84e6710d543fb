"""lab/study/sitting.py: a step is done once, and one that fails is tried again in a later sitting."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from installer.shell import Failed
from lab.study import sitting
from lab.study.journal import Journal
from lab.study.progress import Progress, Step


class OnceTest(unittest.TestCase):
    def test_once(self):
        with tempfile.TemporaryDirectory() as name, mock.patch("builtins.print"):
            path, work = Path(name) / "journal.jsonl", mock.Mock(side_effect=[Failed("no disk\nat all"), {"tps": 7}])
            for expected, kept in ((False, None), (True, {"tps": 7}), (None, {"tps": 7})):
                with Journal(path, "test", {}) as journal, Progress("test", [Step("a", 1, "a")]) as progress:
                    self.assertIs(sitting.once(journal, progress, "a", work), expected)
                    self.assertEqual(journal.result("a"), kept)
                    self.assertIn("no disk", " ".join(journal.history()))
            self.assertEqual(work.call_count, 2)


class ResumeTest(unittest.TestCase):
    def test_a_run_is_gone_on_with_as_it_was_begun(self):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "journal.jsonl"
            with self.assertRaisesRegex(Failed, "has no journal of an interrupted run"):
                sitting.plan_of(path, "compare", ["--resume", name])
            Journal(path, "compare", {"argv": ["--rounds", "2"]}).close()
            for argv in (["--resume", name], [f"--resume={name}"], ["--pass", "x", "--resume", name]):
                self.assertEqual(sitting.plan_of(path, "compare", argv, ("--pass",))["argv"], ["--rounds", "2"])
            with self.assertRaisesRegex(Failed, "^--rounds: --resume keeps the options"):
                sitting.plan_of(path, "compare", ["--resume", name, "--rounds=5"])
            with self.assertRaisesRegex(Failed, "is a run of compare, not hammerdb"):
                sitting.plan_of(path, "hammerdb", ["--resume", name])
            path.unlink()
            Journal(path, "sqlbench", {"engines": []}).close()
            with self.assertRaisesRegex(Failed, "has no journal of an interrupted run"):
                sitting.plan_of(path, "compare", ["--resume", name])


class PlacesTest(unittest.TestCase):
    def test_relative_paths_mean_the_same_in_a_later_sitting(self):
        self.addCleanup(os.chdir, os.getcwd())
        with tempfile.TemporaryDirectory() as name:
            begun, elsewhere = Path(name).resolve() / "begun", Path(name) / "elsewhere"
            for place in (begun, elsewhere):
                place.mkdir()
            os.chdir(begun)
            path = begun / "journal.jsonl"
            Journal(path, "compare", sitting.plan(["-S", "x.sock", "--pass", "secret"])).close()
            os.chdir(elsewhere)
            self.assertEqual(sitting.plan_of(path, "compare", ["--resume", name])["argv"], ["-S", "x.sock"])
            self.assertEqual(Path.cwd(), begun)
            moved = Path(name) / "moved.jsonl"
            path.rename(moved)
            os.chdir(name)
            begun.rmdir()
            with self.assertRaisesRegex(Failed, "was begun in .*/begun: No such file"):
                sitting.plan_of(moved, "compare", ["--resume", name])
            os.chdir("/")

    def test_a_directory_that_cannot_be_made_is_named(self):
        with tempfile.NamedTemporaryFile() as file, \
                self.assertRaisesRegex(Failed, f"^--output-dir {file.name}/x: Not a directory"):
            sitting.make_directory("--output-dir", Path(file.name) / "x")


class Interrupted(unittest.TestCase):
    def test_it_is_gone_on_with_where_something_was_begun(self):
        with tempfile.TemporaryDirectory() as name:
            journal = Path(name) / "journal.jsonl"
            self.assertTrue(sitting.how_to_go_on("x.sh", journal).endswith("Nothing was begun."))
            journal.touch()
            self.assertTrue(sitting.how_to_go_on("x.sh", journal).endswith(f"ended. Resume with: x.sh --resume {name}"))
