"""Runs steps in parallel: steps of one lane in order, several lanes at once.

A step often waits for disks, starting servers and clients; another step uses the processors meanwhile. More steps
than processors gain nothing: three at once on two took as long as two.
"""

import ctypes
import multiprocessing
import os
import signal
import sys
import traceback
from multiprocessing import connection

from tools.run_tests.step import Outcome

_PR_SET_PDEATHSIG = 1


def batches(steps):
    """The steps in order, in lists: a step that runs alone, or neighbours that all have a lane."""
    found = []
    for step in steps:
        if step.lane and found and found[-1][0].lane:
            found[-1].append(step)
        else:
            found.append([step])
    return found


def next_of(waiting, busy):
    """Takes the next step from the free lane with the longest waiting step, of several from that with the most.

    So no long step is left to run alone at the end. None: all lanes are busy.
    """
    left = {}
    for step in waiting:
        if step.lane not in busy:
            left.setdefault(step.lane, []).append(step)
    if not left:
        return None
    step = max(left.values(), key=lambda steps: (max(one.minutes for one in steps), sum(one.minutes for one in steps)))[0]
    waiting.remove(step)
    return step


class _Child:
    """A step in its own process. Its output goes to a file."""

    def __init__(self, step, run, said):
        self.step = step
        self.said = said
        self.pipe, theirs = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.get_context("fork").Process(target=self._main, args=(run, theirs))
        sys.stdout.flush()
        self.process.start()
        theirs.close()

    def _main(self, run, pipe):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        with open(self.said, "w", encoding="utf-8") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            try:
                pipe.send(run(self.step))
            except BaseException:  # The end of a process: no caller to raise to.
                traceback.print_exc()
            sys.stdout.flush()

    def outcome(self):
        """Its result; a failure if it ended without one."""
        try:
            result = self.pipe.recv()
        except EOFError:
            result = None
        self.process.join()
        return result or (Outcome(failed=1, notes=[f"failed: {self.step.name}: its process ended with "
                                                   f"{self.process.exitcode}; see {self.said}"]), 0)


def run(steps, one, directory, at_once=None):
    """Yields (step, (outcome, seconds), output) in the order in which they end. one: step -> that pair."""
    waiting, running = list(steps), []
    try:
        while waiting or running:
            while len(running) < (at_once or os.cpu_count() or 2):
                step = next_of(waiting, {child.step.lane for child in running})
                if step is None:
                    break
                running.append(_Child(step, one, directory / f"{step.name}.said"))
            ended = connection.wait([child.pipe for child in running])
            for child in [child for child in running if child.pipe in ended]:
                running.remove(child)
                result = child.outcome()
                yield child.step, result, child.said.read_text(encoding="utf-8", errors="replace")
    finally:
        for child in running:
            child.process.terminate()
            child.process.join()
