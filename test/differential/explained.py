"""The intended differences from InnoDB, each with its reason. Every other difference is reported.

Some values are never compared, such as warnings that depend on the plan and ALTER's row count: see compare.RULES.
"""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Explained:
    """applies: takes the statement, its text, our outcome and InnoDB's. ends: the data differ now, so the case ends."""

    name: str
    reason: str
    applies: Callable
    ends: bool = False


def _innodb_corrupt(statement, _, ours, theirs):
    return (
        statement.kind == "check"
        and bool(theirs.rows)
        and theirs.rows[-1][3] == b"Corrupt"
        and bool(ours.rows)
        and ours.rows[-1][3] == b"OK"
    )


def _refused_replace(_, text, ours, theirs):
    return text.startswith("REPLACE") and theirs.error == 1062 and not ours.error


DIFFERENCES = [
    Explained(
        "innodb-corrupt",
        "InnoDB loses entries of an index over a prefix of a virtual column, and calls its own table corrupt",
        _innodb_corrupt,
    ),
    Explained(
        "replace-of-two",
        "InnoDB refuses a REPLACE that matches one row by the primary key and another by a hash, at READ COMMITTED",
        _refused_replace,
        ends=True,
    ),
    Explained(
        "prefix-refused",
        "TidesDB refuses an index on a prefix that sorts differently from the whole text (czech_cs, some nopad CHAR)",
        lambda statement, text, ours, theirs: ours.error == 1478 and "support an index on a prefix of" in ours.text,
        ends=True,
    ),
]


def find(statement, text, ours, theirs):
    """The Explained that covers this difference, or None."""
    return next((one for one in DIFFERENCES if one.applies(statement, text, ours, theirs)), None)
