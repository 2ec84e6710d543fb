"""Tests of the steps' time limit."""

import signal
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from installer.shell import Failed
from tools.run_tests import deadline
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

    def test_a_body_that_takes_the_error_for_its_own_is_ended_again(self):
        with mock.patch.object(deadline, "_AGAIN_S", 0.05), self.assertRaises(Failed), Deadline(0.001, self.log):
            try:
                signal.pause()
            except Failed:
                signal.pause()
                self.fail("the second pause ended by itself")

    def test_what_is_done_in_time_goes_on(self):
        with Deadline(0.01, self.log):
            pass
        subprocess.run(["sleep", "0.7"], check=True)
        self.assertFalse(self.log.exists())


if __name__ == "__main__":
    unittest.main()
