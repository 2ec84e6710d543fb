"""One worker: runs seed after seed on its own server; shrinks and writes each new difference."""

import collections
import time

from test.differential import findings
from test.differential.cases import random_case
from test.differential.compare import Difference
from test.differential.plant import FAULTS
from test.differential.replay import SERVER, Replay
from test.differential.session import OURS, THEIRS, Lost, Session
from test.differential.shrink import Shrinker
from test.differential.sql import Case

_CRASH = "server gone"


class Worker:
    """options: the command line's. say: prints a line."""

    def __init__(self, server, options, say):
        self.server, self.options, self.say = server, options, say
        socket = str(server.socket)
        self.replay = Replay(Session(socket, OURS, "ours"), Session(socket, THEIRS, "theirs"), options.skip)
        self._plant = FAULTS[options.plant]() if options.plant else None
        self.kinds, self.cases, self.files = collections.Counter(), 0, []

    def case(self, seed):
        """Runs one seed. Returns the new differences, which it has reported."""
        case = random_case(seed, self.options.length, self.options.without)
        self.cases += 1
        new = []
        for difference in self._differences(case):
            self.kinds[difference.kind] += 1
            if self._passed_over(difference.kind) or not self._is_planted(case, difference):
                continue
            if self.kinds[difference.kind] <= self.options.each:
                new.append(difference)
                self._report(case, difference)
        return new

    def _passed_over(self, kind):
        return any(text in kind for text in self.options.skip) or (SERVER in kind and not self.options.server_too)

    def _is_planted(self, case, difference):
        """Whether the planted fault causes the difference; True if nothing is planted."""
        return self._plant is None or not self._shown(_until(case, difference), difference.kind, None)

    def _differences(self, case, only=None):
        return self._run(case, only, self._plant)

    def _run(self, case, only, plant):
        try:
            return self.replay.run(case, only, plant)
        except Lost as lost:
            crash = _on_one_line(self.server.log_tail())
            self.server.again()
            statement = case.statements[lost.number] if case.statements else None
            kind, text = (statement.kind, statement.texts()[0]) if statement else ("begin", "")
            return [
                Difference(f"{kind}: {_CRASH}", lost.number, text, "an answer", f"{lost}; the error log: {crash}", True)
            ]

    def _shown(self, case, kind, plant):
        return any(found.kind == kind for found in self._run(case, kind, plant))

    def _shows(self, kind):
        """A function that tells whether a case shows the difference; if a fault is planted, only because of it."""
        if self._plant is None:
            return lambda case: self._shown(case, kind, None)
        return lambda case: self._shown(case, kind, self._plant) and not self._shown(case, kind, None)

    def _report(self, case, difference):
        began = time.monotonic()
        told = f"{difference.text}\n  expected {difference.expected}\n  got {difference.came}"
        if not self.options.shrink:
            self.say(f"seed {case.seed}: {difference.kind}: {told}")
            return
        case = _until(case, difference)
        if not self._shows(difference.kind)(case):
            self.say(f"seed {case.seed}: {difference.kind}: not reproduced: {told}")
            self.kinds[difference.kind + " (not reproduced)"] += 1
            return
        shrinker = Shrinker(self._shows(difference.kind), self.options.shrink_seconds)
        small = shrinker.shrink(case)
        again = [found for found in self._differences(small, difference.kind) if found.kind == difference.kind]
        path = findings.write(self.options.findings, small, (again or [difference])[0], self.options.server)
        self.files.append(path)
        self.say(
            f"seed {case.seed}: {difference.kind}: {len(small.statements)} statements after {shrinker.attempts} "
            f"attempts, {time.monotonic() - began:.0f} s: {path}"
        )


def _until(case, difference):
    """The case up to the statement that differs."""
    return Case(case.seed, case.settings, case.statements[: difference.number + 1])


def _on_one_line(lines):
    return " | ".join(line.rpartition("/")[2] for line in lines.splitlines()[:12])[:1500]
