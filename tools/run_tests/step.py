"""What a step of ./run-tests is, and what comes out of one."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

QUICK, DEFAULT, FULL = 0, 1, 2  # The levels; a step runs at its own level and at those above.


@dataclass
class Outcome:
    """Counts of single tests, and a line for a person about each failed or skipped one."""
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
    """What the last unittest of a step has counted, each skipped test named with its reason. log: what it printed."""
    said = log.read_text()
    # Of a test with a docstring the reason is on a line of its own.
    skipped = re.findall(r"^(test_\w+) \(.*\)(?: |\n.* )\.\.\. skipped '(.*)'", said, re.M)
    return Outcome(int(re.findall(r"^Ran (\d+) tests?", said, re.M)[-1]) - len(skipped), 0, len(skipped),
                   [f"skipped: {name}: {test}: {reason}" for test, reason in skipped])


@dataclass(frozen=True)
class Context:
    """What a step is given."""
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
    minutes: int = 20     # A step that takes longer hangs; four times what the slowest takes on two idle cores.
    lane: str = ""        # Steps of one lane follow one another, beside those of other lanes. "": it runs alone.
