"""A step of ./run-tests and its outcome."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

QUICK, DEFAULT, FULL = 0, 1, 2  # The levels; a step runs at its own level and at those above.


@dataclass
class Outcome:
    """Counts of single tests, and a readable line about each failed or skipped one."""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    notes: list = field(default_factory=list)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.notes += other.notes


def of_unittest(name, log):
    """The counts of a step's last unittest, with each skipped test and its reason. log: its output."""
    said = log.read_text()
    # If a test has a docstring, the reason is on a separate line.
    skipped = re.findall(r"^(test_\w+) \(.*\)(?: |\n.* )\.\.\. skipped '(.*)'", said, re.M)
    return Outcome(int(re.findall(r"^Ran (\d+) tests?", said, re.M)[-1]) - len(skipped), 0, len(skipped),
                   [f"skipped: {name}: {test}: {reason}" for test, reason in skipped])


@dataclass(frozen=True)
class Context:
    """A step's environment."""
    level: int
    log: Path        # All its output goes here.
    directory: Path  # For its other files; empty at the start.


@dataclass(frozen=True)
class Step:
    """A line of the table. run may raise installer.shell.Unavailable, with the reason, to be
    skipped (with CI=true that is a failure), and Failed to fail as a whole."""
    name: str
    level: int
    run: Callable  # Context -> Outcome
    packages: tuple = ()  # Debian packages it needs on this machine.
    minutes: int = 20     # A longer step counts as hanging; four times the slowest step's time on two idle cores.
    lane: str = ""        # Steps of one lane run in order, beside those of other lanes. "": it runs alone.
