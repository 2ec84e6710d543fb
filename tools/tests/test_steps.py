"""Tests of what run-tests makes of a step's end."""

import tempfile
import unittest
from pathlib import Path

from installer.shell import Failed, Unavailable
from tools.run_tests import __main__ as run_tests
from tools.run_tests.step import DEFAULT, Context, Outcome, Step


class Steps(unittest.TestCase):
    def outcome(self, run, strict=False):
        with tempfile.TemporaryDirectory() as name:
            return run_tests._run(Step("a-step", DEFAULT, run), Context(DEFAULT, Path(name) / "log", Path(name)), strict)

    def test_one_that_ran_no_test_has_failed(self):
        self.assertEqual(self.outcome(lambda _: Outcome(passed=3)), Outcome(passed=3))
        said = self.outcome(lambda _: Outcome())
        self.assertEqual(said.failed, 1)
        self.assertIn("a-step: no test was run or counted", said.notes[0])

    def test_one_that_cannot_run_here_is_skipped_but_not_in_ci(self):
        def run(_):
            raise Unavailable("no such server")
        self.assertEqual([self.outcome(run).skipped, self.outcome(run, strict=True).failed], [1, 1])

    def test_whatever_goes_wrong_is_the_step_s(self):
        for error in (Failed("it broke"), KeyError("it broke")):
            def run(_, error=error):
                raise error
            said = self.outcome(run)
            self.assertEqual(said.failed, 1)
            self.assertIn("it broke", said.notes[0])


if __name__ == "__main__":
    unittest.main()
