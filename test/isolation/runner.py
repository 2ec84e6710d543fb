"""Runs many histories and counts what was found, by setting."""

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from test.isolation.check import check, explain
from test.isolation.history import ABORTED, COMMITTED, UNKNOWN, save

_SHOWN = 3  # Histories that are explained for each setting and anomaly.


@dataclass
class Tally:
    histories: int = 0
    outcomes: Counter = field(default_factory=Counter)
    forbidden: Counter = field(default_factory=Counter)  # Numbers of histories, by the anomaly's name.
    allowed: Counter = field(default_factory=Counter)

    def line(self, name):
        found = ", ".join(f"{count} {anomaly}" for anomaly, count in sorted(self.forbidden.items())) or "none"
        allowed = ", ".join(f"{count} {anomaly}" for anomaly, count in sorted(self.allowed.items())) or "none"
        return (f"{name}: {self.histories} histories, {self.outcomes[COMMITTED]} transactions committed, "
                f"{self.outcomes[ABORTED]} aborted, {self.outcomes[UNKNOWN]} unknown; forbidden anomalies: {found}; "
                f"allowed: {allowed}")


class Runner:
    """Owns: tallies by setting. directory: where histories with forbidden anomalies go. say: prints a line."""

    def __init__(self, driver, directory, say=print):
        self._driver, self._directory, self._say = driver, Path(directory), say
        self.tallies = defaultdict(Tally)

    def one(self, setting, seed):
        """Runs and checks one history. Returns its verdict."""
        history = self._driver.run(setting, seed)
        outcomes = Counter(transaction.outcome for transaction in history.transactions)
        verdict = check(history)
        tally = self.tallies[setting.said()]
        tally.histories += 1
        tally.outcomes.update(outcomes)
        forbidden, allowed = verdict.counts()
        tally.forbidden.update(forbidden.keys())
        tally.allowed.update(allowed.keys())
        if forbidden and any(tally.forbidden[name] <= _SHOWN for name in forbidden):
            self._explain(history, verdict, setting, seed)
        return verdict

    def _explain(self, history, verdict, setting, seed):
        place = "-".join(setting.said().replace(",", "").split()).lower()
        path = self._directory / f"{place}-{setting.workload}-{seed}.jsonl"
        save(history, path)
        self._say(f"{setting.said()}, workload {setting.workload}, seed {seed}; check it again: "
                  f"python3 -m test.isolation check {path}")
        for anomaly in verdict.forbidden[:4]:
            self._say("\n".join(explain(history, anomaly)))

    def many(self, settings, seeds, seconds=None):
        """Runs each seed with each setting, until the time is over."""
        end = None if seconds is None else time.monotonic() + seconds
        for seed in seeds:
            for setting in settings:
                if end is not None and time.monotonic() > end:
                    return
                self.one(setting, seed)

    def lines(self):
        return [tally.line(name) for name, tally in sorted(self.tallies.items())]

    def failed(self):
        """The number of TidesDB's forbidden anomalies. InnoDB's are only printed."""
        return sum(sum(tally.forbidden.values()) for name, tally in self.tallies.items() if name.startswith("TidesDB"))
