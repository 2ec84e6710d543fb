"""Tests of how run-tests judges the end of a step."""

import io
import tempfile
import unittest
from pathlib import Path

from installer.shell import Failed, Unavailable
from tools.run_tests import __main__ as run_tests
from tools.run_tests.step import DEFAULT, Context, Outcome, Step, of_unittest


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

    def test_a_skipped_test_is_none_that_passed(self):
        """Reads the output of this Python's unittest."""
        class Some(unittest.TestCase):
            def test_one(self):
                pass

            @unittest.skip("of another release")
            def test_two(self):
                """It says what it is."""

            @unittest.skip("without root")
            def test_three(self):
                pass

        said = io.StringIO()
        unittest.TextTestRunner(said, verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(Some))
        with tempfile.TemporaryDirectory() as name:
            log = Path(name) / "log"
            log.write_text(said.getvalue())
            found = of_unittest("a-step", log)
        self.assertEqual((found.passed, found.failed, found.skipped), (1, 0, 2))
        self.assertEqual(sorted(found.notes), ["skipped: a-step: test_three: without root",
                                               "skipped: a-step: test_two: of another release"])


if __name__ == "__main__":
    unittest.main()
