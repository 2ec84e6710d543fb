"""Tests of the steps' time limit."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from installer.shell import Failed
from tools.run_tests.deadline import Deadline


class DeadlineTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.log = Path(directory.name) / "log"

    def test_what_hangs_is_named_and_killed(self):
        # The shell ends at once; its child has a session of its own and holds the pipe.
        hanging = subprocess.Popen(["sh", "-c", "setsid sleep 4711 &"], stdout=subprocess.PIPE)
        with self.assertRaisesRegex(Failed, "not done after 0.002 minutes.*log"), Deadline(0.002, self.log):
            hanging.stdout.read()
            self.fail("the pipe closed before the deadline")
        self.assertIn("sleep 4711", self.log.read_text())
        self.assertEqual(hanging.stdout.read(), b"", "only when the sleeper is dead does the pipe end")
        hanging.stdout.close()
        hanging.wait()

    def test_what_is_done_in_time_goes_on(self):
        with Deadline(0.01, self.log):
            pass
        subprocess.run(["sleep", "0.7"], check=True)
        self.assertFalse(self.log.exists())


if __name__ == "__main__":
    unittest.main()
