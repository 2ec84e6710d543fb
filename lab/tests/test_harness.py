"""Tests of lab/study: estimating the remaining time, resuming a run, finding facts."""

import io
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from installer.shell import Failed
from lab.record import provenance
from lab.study import journal
from lab.study.journal import Journal
from lab.study.progress import NOTE_EVERY_S, Estimate, Progress, Step, duration
from lab.tests.cases import folder


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class EstimateOfTheRest(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.estimate = Estimate([Step("load", 10, "load"), Step("a", 100, "run"), Step("b", 100, "run"),
                                  Step("load 2", 10, "load")], self.clock)

    def test_is_what_was_expected_at_first(self):
        self.assertEqual(self.estimate.left_s(), 220)

    def test_learns_from_steps_of_a_kind(self):
        self.estimate.begin("load")
        self.clock.now += 40
        self.estimate.end("load")
        self.assertEqual(self.estimate.left_s(), 200 + 40)

    def test_falls_while_a_step_runs_but_not_below_the_other_steps(self):
        self.estimate.begin("a")
        self.clock.now += 30
        self.assertEqual(self.estimate.left_s(), 190)
        self.clock.now += 1000
        self.assertEqual(self.estimate.left_s(), 120)

    def test_a_step_that_failed_teaches_nothing(self):
        self.estimate.begin("a")
        self.clock.now += 1
        self.estimate.end("a", counts=False)
        self.assertEqual(self.estimate.left_s(), 120)

    def test_two_steps_of_one_name_are_refused(self):
        with self.assertRaises(ValueError):
            Estimate([Step("a", 1), Step("a", 1)])

    def test_durations_are_said_as_a_person_does(self):
        self.assertEqual([duration(s) for s in (5, 99, 130, 3600 * 3 + 300)], ["5 s", "99 s", "2 min", "3 h 05 min"])


class PlainProgress(unittest.TestCase):
    def setUp(self):
        self.clock, self.out = Clock(), io.StringIO()
        self.progress = Progress("study", [Step("a", 10), Step("b", 10), Step("c", 10)], self.out, self.clock)

    def test_a_line_for_each_step_with_what_is_left(self):
        with self.progress:
            self.progress.already("a")
            with self.progress.step("b") as step:
                self.clock.now += 20
                step.note("7 a second")
        said = self.out.getvalue().splitlines()
        self.assertEqual(said[0], "study: 3 steps, about 30 s")
        self.assertEqual(said[1], "[1/3] a: done in an earlier sitting")
        self.assertEqual(said[2], "[2/3] b ... (about 20 s left)")
        self.assertEqual(said[3], "[2/3] b: 20.0 s; 7 a second")
        self.assertEqual(self.progress.left_s(), 20)

    def test_notes_come_seldom(self):
        with self.progress.step("a") as step:
            for _ in range(4 * NOTE_EVERY_S):
                self.clock.now += 0.5
                step.note("on the way")
        self.assertEqual(self.out.getvalue().count("    on the way"), 2)

    def test_a_rest_counts_down(self):
        with mock.patch("lab.study.progress.time.sleep") as slept, self.progress.step("a") as step:
            step.rest(2.5)
        self.assertEqual([call.args[0] for call in slept.call_args_list], [1, 1, 0.5])

    def test_a_step_that_fails_says_so(self):
        with self.assertRaises(Failed):
            with self.progress, self.progress.step("a"):
                raise Failed("no")
        self.assertIn("[1/3] a: FAILED", self.out.getvalue())
        self.assertNotIn("done in", self.out.getvalue())

    def test_a_step_that_is_interrupted_says_so(self):
        with self.assertRaises(KeyboardInterrupt):
            with self.progress, self.progress.step("a"):
                raise KeyboardInterrupt
        self.assertIn("[1/3] a: interrupted after 0.0 s", self.out.getvalue())

    def test_a_terminal_is_redrawn(self):
        progress = Progress("study", [Step("a", 10)], self.out, self.clock, live=True)
        with progress, progress.step("a") as step:
            self.clock.now += 5
            step.note("7 a second")
        self.assertIn("[1/1] a: 5.0 s; 7 a second", self.out.getvalue())


class Interrupted(unittest.TestCase):
    def setUp(self):
        self.path = folder(self) / "run" / "journal.jsonl"
        self.plan = {"engines": ("InnoDB", "TidesDB"), "seconds": 5}

    def journal(self, **more):
        journal = Journal(self.path, "study", {**self.plan, **more}, now=lambda: "today")
        self.addCleanup(journal.close)
        return journal

    def test_what_is_done_stays_done(self):
        with self.journal() as first:
            first.begin("a")
            first.finish("a", {"tps": 1.5})
            first.begin("b")
            self.assertFalse(first.resumed)
        second = self.journal()
        self.assertEqual(second.result("a"), {"tps": 1.5})
        self.assertIsNone(second.result("b"))
        self.assertTrue(second.resumed)
        self.assertIn("Interrupted during: b (sitting of today); resumed today", second.history()[0])

    def test_a_run_that_ended_was_not_interrupted(self):
        with self.journal() as first:
            first.finish("a", 1)
            first.end()
        second = self.journal()
        self.assertFalse(second.resumed)
        self.assertEqual((second.history(), second.results()), ([], {"a": 1}))

    def test_a_step_that_failed_is_tried_again_and_named(self):
        with self.journal() as first:
            first.begin("a")
            first.fail("a", Failed("the server ended"))
        second = self.journal()
        self.assertIsNone(second.result("a"))
        self.assertIn("Failed: a: the server ended", second.history())

    def test_each_line_is_synced(self):
        journal = self.journal()
        with mock.patch("os.fsync") as fsync:
            journal.begin("a")
            journal.finish("a", 1)
        self.assertEqual(fsync.call_count, 2)

    def test_a_line_that_was_cut_off_is_dropped(self):
        with self.journal() as first:
            first.finish("a", 1)
            first.finish("b", 2)
        whole = self.path.read_bytes()
        for cut in range(1, len(whole)):
            self.path.write_bytes(whole[:cut])
            with self.journal() as again:
                self.assertLessEqual(set(again.results().items()), {("a", 1), ("b", 2)})
                again.finish("c", 3)
            with self.journal() as third:
                self.assertEqual(third.result("c"), 3)

    def test_another_plan_is_refused_by_name(self):
        self.journal().close()
        with self.assertRaisesRegex(Failed, r"\(seconds was 5 and is 6\); use another directory"):
            self.journal(seconds=6)

    def test_another_build_is_refused_by_name(self):
        self.plan["binaries"] = {"mariadbd": "a" * 64, "ha_tidesdb.so": "b" * 64, "server": "10.11.18"}
        self.journal().close()
        self.journal().close()
        for now, said in (({**self.plan["binaries"], "ha_tidesdb.so": "c" * 64},
                           "ha_tidesdb.so was bbbbbbbbbbbb and is cccccccccccc"),
                          ({"mariadbd": "a" * 64, "server": "11.8.6"}, "ha_tidesdb.so was bbbbbbbbbbbb and is not known; "
                                                                       "server was 10.11.18 and is 11.8.6")):
            with self.assertRaisesRegex(Failed, rf"begun with another build \({said}\): its figures would mix two"):
                self.journal(binaries=now)

    def test_a_run_that_does_not_say_its_build_is_not_gone_on_with(self):
        self.journal().close()
        with self.assertRaisesRegex(Failed, r"another build \(tpcc was not known and is aaaaaaaaaaaa\)"):
            self.journal(binaries={"tpcc": "a" * 64})

    def test_a_foreign_file_is_refused_and_kept(self):
        self.path.parent.mkdir()
        for text in ["hello\n", "hello", '{"a": 1}\n', "[]\n"]:
            self.path.write_text(text)
            with self.assertRaisesRegex(Failed, "not a journal|not a line of a journal"):
                self.journal()
            self.assertEqual(self.path.read_text(), text)

    def test_a_journal_is_read_and_left_as_it_is(self):
        with self.journal() as first:
            first.begin("a")
            first.finish("a", 1)
            first.begin("b")
        with self.journal() as second:
            before = self.path.read_bytes()
            record = journal.read(self.path)
            self.assertEqual((record.results(), record.history()), (second.results(), second.history()))
            self.assertIn("Interrupted during: b", record.history()[0])
            self.assertEqual(record.plan["seconds"], 5)
            self.assertEqual(self.path.read_bytes(), before)
        for text in ("", "hello\n", "{}\n"):
            self.path.write_text(text)
            with self.assertRaisesRegex(Failed, "not a journal|not a line of a journal"):
                journal.read(self.path)

    def test_two_runs_do_not_share_a_directory(self):
        self.journal()
        with self.assertRaisesRegex(Failed, "in use"):
            self.journal()


class Facts(unittest.TestCase):
    def test_all_of_this_machine(self):
        facts = provenance.collect(".", {"python": "/usr/bin/python3", "none": None})
        self.assertEqual(json.loads(json.dumps(facts)), facts)
        self.assertEqual(facts["kernel"], os.uname().release)
        self.assertIn("CPUs usable", facts["cpu"])
        self.assertGreater(facts["memory_mb"], 0)
        self.assertIn("Python 3", facts["binaries"]["python"]["version"])
        said = provenance.markdown(facts)
        self.assertIn(facts["commit"], said)
        self.assertIn(facts["binaries"]["python"]["sha256"], said)
        self.assertNotIn("/usr/bin", said)
        self.assertNotIn("/usr/bin", json.dumps(facts))

    def test_the_longest_mount_holds_a_path(self):
        text = ("20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
                "21 20 8:2 / /da rw,noatime shared:1 - xfs /dev/sdb rw\n"
                "22 20 8:3 / /data\\040two rw - btrfs /dev/sdc rw\n")
        self.assertEqual(provenance.mount_of("/da/x", text)["file_system"], "xfs")
        self.assertEqual(provenance.mount_of("/data", text)["file_system"], "ext4")
        self.assertEqual(provenance.mount_of("/data two/x", text)["device"], "/dev/sdc")

    def test_checksums_are_those_of_sha256sum(self):
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "sub").mkdir()
            (Path(name) / "sub" / "a.csv").write_text("1,2\n")
            for place in ("data/InnoDB", "server-tidesdb", "server-data"):  # As a failed run leaves them.
                (Path(name) / place).mkdir(parents=True)
                (Path(name) / place / "ibdata1").write_text("many gigabytes")
            (Path(name) / "server-pgo").mkdir()
            (Path(name) / "server-pgo" / "run1.txt").write_text("of a build of that name\n")
            provenance.write_checksums(name)
            done = subprocess.run(["sha256sum", "-c", provenance.CHECKSUMS], cwd=name, capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.stdout, "server-pgo/run1.txt: OK\nsub/a.csv: OK\n")

    def test_the_allocator_of_this_process(self):
        self.assertIn(provenance.allocator(os.getpid()), ("glibc", "jemalloc", "mimalloc", "tcmalloc"))
