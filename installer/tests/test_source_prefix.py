"""The directory of a server from source: put, put again, undone, interrupted, removed."""

import os
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from installer.shell import Failed
from installer.source import prefix as prefix_module
from installer.source.prefix import Prefix, scan


class Directory(unittest.TestCase):
    def setUp(self):
        temporary = TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.base = Path(temporary.name)
        self.stage, self.there = self.base / "stage", self.base / "prefix"
        self.write(self.stage, {"bin/mariadbd": "1", "share/a": "a", "share/b": "b"})
        (self.stage / "bin/mariadbd").chmod(0o755)
        (self.stage / "bin/mysqld").symlink_to("mariadbd")

    @staticmethod
    def write(directory, files):
        for name, text in files.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text)

    def prefix(self):
        """The prefix as a new run sees it."""
        return Prefix(self.there, self.base / "record" / "files.json")

    def put(self, version="11.8.6"):
        prefix = self.prefix()
        prefix.check(version)
        changed = prefix.put(self.stage, version)
        prefix.keep()
        return changed

    def test_put_is_idempotent_and_remove_leaves_the_data(self):
        self.assertTrue(self.put())
        self.assertEqual(scan(self.there), scan(self.stage))
        self.assertFalse(self.put())
        self.write(self.there, {"data/ibdata1": "rows", "data.unfinished/ibdata1": ""})
        self.prefix().remove()
        self.assertEqual(sorted(scan(self.there)), ["data.unfinished/ibdata1", "data/ibdata1"])
        self.assertFalse((self.base / "record" / "files.json").exists())
        self.assertTrue(self.put())  # The server's own data does not prevent a new installation.

    def test_a_directory_of_somebody_else_is_refused(self):
        self.write(self.there, {"bin/theirs": "x"})
        with self.assertRaises(Failed) as caught:
            self.prefix().check("11.8.6")
        self.assertIn("not from this install.sh", str(caught.exception))
        self.assertEqual(sorted(scan(self.there)), ["bin/theirs"])

    def test_a_file_of_somebody_else_is_not_overwritten(self):
        self.put()
        self.write(self.there, {"share/c": "theirs"})
        self.write(self.stage, {"share/c": "ours", "share/a": "a2"})
        with self.assertRaises(Failed) as caught:
            self.put()
        self.assertIn("share/c is in the way", str(caught.exception))
        self.assertEqual((self.there / "share/c").read_text(), "theirs")
        self.assertEqual((self.there / "share/a").read_text(), "a")

    def test_there_is_one(self):
        self.put()
        with self.assertRaises(Failed) as caught:
            Prefix(self.base / "other", self.base / "record" / "files.json")
        self.assertIn(str(self.there), str(caught.exception))

    def test_it_does_not_go_back(self):
        self.put("11.8.6")
        self.prefix().check("11.8.5")
        with self.assertRaises(Failed):
            self.prefix().check("11.4.9")

    def test_what_is_damaged_is_mended_and_what_was_edited_is_kept_aside(self):
        self.put()
        (self.there / "share/b").unlink()
        (self.there / "bin/mariadbd").write_text("edited")
        prefix = self.prefix()
        self.assertTrue(prefix.put(self.stage, "11.8.6"))
        prefix.keep()
        self.assertEqual({name: entry for name, entry in scan(self.there).items() if not name.endswith(".edited")},
                         scan(self.stage))
        self.assertEqual((self.there / "bin/mariadbd.edited").read_text(), "edited")
        self.assertIn("mariadbd.edited", prefix.notes[0])
        (self.there / "bin/mariadbd").write_text("edited again")
        prefix = self.prefix()
        self.assertTrue(prefix.put(self.stage, "11.8.6"))
        prefix.keep()
        self.assertEqual([(self.there / f"bin/mariadbd.edited{number}").read_text() for number in ("", ".1")],
                         ["edited", "edited again"])
        self.assertIn("mariadbd.edited.1", prefix.notes[0])
        (self.there / "bin/mariadbd").write_text("edited again")
        for _ in range(2):
            prefix = self.prefix()
            self.assertTrue(prefix.put(self.stage, "11.8.6"))
            prefix.roll_back()
        self.assertEqual(len(list(self.there.glob("bin/mariadbd.edited*"))), 2)  # One edit, one copy.

    def another(self):
        before = scan(self.stage)
        (self.stage / "share/b").unlink()
        (self.stage / "bin/mysqld").unlink()
        self.write(self.stage, {"bin/mariadbd": "2", "lib/new": "n"})
        return before

    def test_roll_back(self):
        self.put()
        before = self.another()
        prefix = self.prefix()
        prefix.put(self.stage, "11.8.7")
        self.assertEqual((prefix.version, prefix.settled), ("11.8.7", "11.8.6"))
        self.assertEqual({name: e for name, e in scan(self.there).items() if not name.startswith(".before/")},
                         scan(self.stage))
        prefix.roll_back()
        self.assertEqual(scan(self.there), before)
        self.assertEqual(self.prefix().version, "11.8.6")
        self.assertTrue(self.put("11.8.7"))
        self.assertEqual(scan(self.there), scan(self.stage))

    def test_the_first_one_rolled_back_leaves_nothing(self):
        prefix = self.prefix()
        prefix.put(self.stage, "11.8.6")
        self.assertIsNone(self.prefix().settled)
        prefix.roll_back()
        self.assertFalse(self.there.exists())
        self.assertFalse((self.base / "record" / "files.json").exists())

    def test_an_interruption_anywhere_is_undone_by_the_next_run(self):
        self.put()
        before = self.another()
        new = scan(self.stage)
        steps = 0
        while True:
            self._interrupted(steps)
            if scan(self.there) != new:
                self._interrupted(steps)  # Again: roll_back() must restore the state before the first run.
            prefix = self.prefix()
            prefix.roll_back()
            if scan(self.there) == new:
                break
            self.assertEqual(scan(self.there), before, f"after {steps} steps")
            steps += 1
        self.assertEqual(steps, 5)  # Three set aside, two put.

    def _interrupted(self, steps):
        """Runs put(), and ends it after so many changes of files."""
        left = [steps]

        def count(function):
            def counted(*args, **kwargs):
                if left[0] == 0:
                    raise KeyboardInterrupt
                left[0] -= 1
                return function(*args, **kwargs)
            return counted

        with mock.patch.object(prefix_module.os, "rename", count(os.rename)), \
                mock.patch.object(prefix_module, "_copy", count(prefix_module._copy)):
            prefix = self.prefix()
            try:
                prefix.put(self.stage, "11.8.7")
                prefix.keep()
            except KeyboardInterrupt:
                pass

    def test_a_mode_is_put_too(self):
        self.put()
        (self.there / "bin/mariadbd").chmod(0o600)
        self.assertTrue(self.put())
        self.assertEqual((self.there / "bin/mariadbd").stat().st_mode & 0o777, 0o755)

    def test_remove_keeps_what_was_changed(self):
        self.put()
        (self.there / "share/a").write_text("edited")
        prefix = self.prefix()
        prefix.remove()
        self.assertEqual(sorted(scan(self.there)), ["share/a"])
        self.assertIn("share/a has changed", prefix.notes[0])


if __name__ == "__main__":
    unittest.main()
