"""Parallel steps: in order within a lane, parallel across lanes, and a process that dies."""

import os
import tempfile
import time
import unittest
from pathlib import Path

from tools.run_tests import lanes
from tools.run_tests.step import DEFAULT, Outcome, Step
from tools.run_tests.table import STEPS


def _step(name, lane="", minutes=1):
    return Step(name, DEFAULT, None, minutes=minutes, lane=lane)


class Lanes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_batches(self):
        steps = [_step("a"), _step("b", "x"), _step("c", "y"), _step("d"), _step("e")]
        names = [[step.name for step in batch] for batch in lanes.batches(steps)]
        self.assertEqual(names, [["a"], ["b", "c"], ["d"], ["e"]])

    def test_next(self):
        waiting = [_step("short", "x"), _step("long", "y", 9), _step("longer", "y")]
        self.assertEqual(lanes.next_of(waiting, set()).name, "long")
        self.assertEqual(lanes.next_of(waiting, {"y"}).name, "short")
        self.assertIsNone(lanes.next_of(waiting, {"y"}))
        self.assertEqual(lanes.next_of(waiting, set()).name, "longer")

    def test_a_long_step_is_not_left_to_the_end(self):
        waiting = [_step("a1", "a", 20), _step("a2", "a", 20), _step("b1", "b"), _step("b2", "b", 25)]
        taken = [lanes.next_of(waiting, set()).name for _ in range(4)]
        self.assertEqual(taken, ["b1", "b2", "a1", "a2"])

    def run_all(self, steps, one):
        ended = lanes.run(steps, one, self.folder, at_once=2)
        return [(step.name, result[0].failed, said) for step, result, said in ended]

    def test_two_lanes_run_at_once_and_each_in_its_order(self):
        waits_for = {"a1": "b1", "b1": "a1"}

        def one(step):
            (self.folder / step.name).touch()
            while step.name in waits_for and not (self.folder / waits_for[step.name]).exists():
                time.sleep(0.01)
            print(*sorted(path.name for path in self.folder.glob("done-*")))
            (self.folder / f"done-{step.name}").touch()
            return Outcome(passed=1), 0

        found = self.run_all([_step("a1", "a"), _step("a2", "a"), _step("a3", "a"), _step("b1", "b")], one)
        self.assertEqual([failed for _, failed, _ in found], [0] * 4)
        done = {name: said.split() for name, _, said in found}
        self.assertIn("done-a1", done["a2"])
        self.assertIn("done-a2", done["a3"])

    def test_a_process_that_dies_is_a_failure(self):
        def one(step):
            return os._exit(3) if step.name == "a" else (Outcome(1), 0)

        found = self.run_all([_step("a", "a"), _step("b", "b")], one)
        self.assertEqual(sorted((name, failed) for name, failed, _ in found), [("a", 1), ("b", 0)])

    def test_what_runs_ends_with_who_waits(self):
        def one(step):
            (self.folder / step.name).write_text(str(os.getpid()))
            if step.name == "b":
                return Outcome(1), 0
            time.sleep(600)

        running = lanes.run([_step("a", "a"), _step("b", "b")], one, self.folder, at_once=2)
        next(running)
        while not (self.folder / "a").exists() or not (self.folder / "a").read_text():
            time.sleep(0.01)
        running.close()
        self.assertFalse(Path(f"/proc/{(self.folder / 'a').read_text()}").exists())

    def test_the_table_has_lanes(self):
        together = [batch for batch in lanes.batches(STEPS) if len(batch) > 1]
        self.assertEqual([{step.lane for step in batch} for batch in together],
                         [{"debian12", "debian13", "runners", "front-door"}])
