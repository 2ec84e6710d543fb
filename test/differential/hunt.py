"""One worker: a server of its own, seed after seed, each new difference shrunk and written."""

import collections
import time

from differential import findings
from differential.cases import random_case
from differential.compare import Difference
from differential.plant import FAULTS
from differential.replay import SERVER, Replay
from differential.session import OURS, THEIRS, Lost, Session
from differential.shrink import Shrinker
from differential.sql import Case

_CRASH = "server gone"


class Worker:
    """options: of the command line. say: where a line for a person goes."""

    def __init__(self, server, options, say):
        self.server, self.options, self.say = server, options, say
        plant = FAULTS[options.plant]() if options.plant else None
        socket = str(server.socket)
        self.replay = Replay(Session(socket, OURS, "ours"), Session(socket, THEIRS, "theirs"), plant)
        self.kinds, self.cases, self.files = collections.Counter(), 0, []

    def case(self, seed):
        """Runs one seed. Returns the differences that were new."""
        case = random_case(seed, self.options.length, self.options.without)
        self.cases += 1
        new = []
        for difference in self._differences(case):
            self.kinds[difference.kind] += 1
            if self._passed_over(difference.kind):
                continue
            if self.kinds[difference.kind] <= self.options.each:
                new.append(difference)
                self._report(case, difference)
        return new

    def _passed_over(self, kind):
        return any(text in kind for text in self.options.skip) or (SERVER in kind and not self.options.server_too)

    def _differences(self, case, only=None):
        try:
            return self.replay.run(case, only)
        except Lost as lost:
            tail = self.server.log_tail(90)
            self.server.again()
            number = getattr(lost, "number", 0)
            text = case.statements[number].texts()[0] if case.statements else ""
            kind = case.statements[number].kind if case.statements else ""
            return [Difference(f"{kind}: {_CRASH}", number, text, "an answer", f"{lost}; the error log: {_of_crash(tail)}", True)]

    def _shows(self, kind):
        return lambda case: any(found.kind == kind for found in self._differences(case, kind))

    def _report(self, case, difference):
        began = time.monotonic()
        if not self.options.shrink:
            self.say(f"seed {case.seed}: {difference.kind}: {difference.text}\n  expected {difference.expected}\n  came {difference.came}")
            return
        case = Case(case.seed, case.settings, case.statements[:difference.number + 1])
        if not self._shows(difference.kind)(case):
            self.say(f"seed {case.seed}: {difference.kind}: not again: {difference.text}\n  expected {difference.expected}\n"
                     f"  came {difference.came}")
            self.kinds[difference.kind + " (not again)"] += 1
            return
        shrinker = Shrinker(self._shows(difference.kind), self.options.shrink_seconds)
        small = shrinker.shrink(case)
        again = next((found for found in self._differences(small, difference.kind) if found.kind == difference.kind), difference)
        path = findings.write(self.options.findings, small, again, self.options.server)
        self.files.append(path)
        self.say(f"seed {case.seed}: {difference.kind}: {len(small.statements)} statements after {shrinker.attempts} attempts, "
                 f"{time.monotonic() - began:.0f} s: {path}")


def _of_crash(tail):
    """The first lines of the error log that speak of the crash."""
    lines = [line for line in tail.splitlines() if ".so(" in line or "mariadbd(" in line or "ssertion" in line or "CHECK" in line]
    return " | ".join(line.rpartition("/")[2] for line in lines[:12])[:1500]
