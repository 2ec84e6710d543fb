"""Compares two outcomes of a statement: which parts must be equal depends on its kind."""

import re
from dataclasses import dataclass, field

# What is compared of a statement besides its error and, for a query, its rows.
AFFECTED, WARNINGS, MESSAGE, INSERT_ID = "affected", "warnings", "message", "insert id"
_ALL = {AFFECTED, WARNINGS, MESSAGE, INSERT_ID}

# By kind of statement. For other kinds, nothing else is compared.
# - Warnings of an UPDATE or DELETE depend on the plan, which decides for which rows WHERE is evaluated.
# - A copying ALTER counts rows, an in-place one does not.
# - insert_id comes from AUTO_INCREMENT; after IGNORE, REPLACE or ON DUPLICATE KEY it may be a value that was only tried.
RULES = {
    "create": {WARNINGS},
    "insert": _ALL - {INSERT_ID},
    "insert ignore": _ALL - {INSERT_ID},
    "replace": _ALL - {INSERT_ID},
    "insert-auto": _ALL,
    "insert-on-duplicate": {AFFECTED, WARNINGS},
    "insert-select": {AFFECTED},
    "load": {AFFECTED},
    "update": {AFFECTED, MESSAGE},
    "update-order": {AFFECTED},
    "update-id": {AFFECTED, MESSAGE},
    "update-join": {AFFECTED},
    "update-subquery": {AFFECTED},
    "delete": {AFFECTED},
    "delete-order": {AFFECTED},
    "delete-join": {AFFECTED},
    "truncate": {AFFECTED},
    "alter-copy": {AFFECTED},
    "period-insert": {AFFECTED},
    "period-delete": {AFFECTED},
    "period-update": {AFFECTED},
}

# Errors that end a case without a verdict: InnoDB's limits, and statements that took too long.
GIVE_UP = {
    1118: "InnoDB's limit on a row",
    1071: "InnoDB's limit on a key",
    1969: "max_statement_time",
    1317: "interrupted",
}


@dataclass
class Outcome:
    """rows: tuples of bytes, or None. message: the server's summary of an UPDATE or INSERT ("Rows matched: ...")."""

    error: int = 0
    text: str = ""
    rows: list | None = None
    affected: int = 0
    insert_id: int = 0
    warnings: list = field(default_factory=list)
    message: bytes = b""


@dataclass
class Difference:
    """kind: the statement's kind and what differs. number: the statement's, in the case. fatal: the data may differ now."""

    kind: str
    number: int
    text: str
    expected: str
    came: str
    fatal: bool = False


def rows_of(kind, outcome, ordered):
    """The rows in comparable form, sorted unless the query gives an order."""
    rows = outcome.rows
    if rows is None:
        return None
    if kind in ("checksum", "check", "optimize"):  # The first column has the database's name; messages may have it too.
        rows = [tuple(value and re.sub(rb"'(ours|theirs)\.", b"'", value) for value in row[1:]) for row in rows]
    if kind in ("analyze", "alter-partition"):
        return []
    if kind == "optimize":  # Ours says how much was merged; InnoDB runs CHECK TABLE instead.
        rows = [row[1:] for row in rows if row[1].lower() != b"note"]
    if kind == "show-create":
        engines = rb" ?(ENGINE ?= ?\w+|`(ours|theirs)`\.|`[A-Z0-9_]+`='?\w+'?|AUTO_INCREMENT=\d+)"
        prefix = rb"|(?<=`)\(\d+\)"  # TidesDB's index may have a prefix where InnoDB's has none.
        rows = [(re.sub(engines + prefix, b"", value or b"") for value in row) for row in rows]
        rows = [tuple(row) for row in rows]
    return rows if ordered else sorted(rows, key=lambda row: [(value is not None, value or b"") for value in row])


def unlike(kind, ours, theirs, ordered):
    """The first difference as (what differs, InnoDB's, ours), or None."""
    if ours.error != theirs.error:
        return f"error {theirs.error}/{ours.error}", _said(theirs), _said(ours)
    if ours.error:
        return None
    mine, others = rows_of(kind, ours, ordered), rows_of(kind, theirs, ordered)
    # With RETURNING, a plan that knows there is no row gives no result instead of an empty one.
    if mine != others and (mine or others):
        if ordered and rows_of(kind, ours, False) == rows_of(kind, theirs, False):
            return "order", _listed(others), _listed(mine)
        return "rows", _listed(others), _listed(mine)
    for what, one, other in [
        (AFFECTED, ours.affected, theirs.affected),
        (INSERT_ID, ours.insert_id, theirs.insert_id),
        (MESSAGE, _counts(ours), _counts(theirs)),
        (WARNINGS, _warned(kind, ours), _warned(kind, theirs)),
    ]:
        if what in RULES.get(kind, ()) and one != other:
            return what, str(other), str(one)
    return None


def _counts(outcome):
    """The message, or b"" if no row matched: it then depends on the index whether the server sends one."""
    return b"" if outcome.message.startswith(b"(Rows matched: 0 ") else outcome.message


def _warned(kind, outcome):
    """Leaves out warning 1831 (duplicate index) of CREATE: where ours has a prefix, InnoDB's index has the whole column, so
    two of its indexes may be equal."""
    return [code for code in outcome.warnings if kind != "create" or code != 1831]


def _said(outcome):
    return f"error {outcome.error}: {outcome.text}" if outcome.error else f"no error, {outcome.affected} rows"


def _listed(rows, limit=12):
    if rows is None:
        return "no result"
    shown = ["(" + ", ".join("NULL" if value is None else _value(value) for value in row) + ")" for row in rows[:limit]]
    return f"{len(rows)} rows: " + " ".join(shown) + (" ..." if len(rows) > limit else "")


def _value(value):
    if not isinstance(value, bytes):
        return str(value)
    try:
        text = value.decode("utf-8")
        text = text if text.isprintable() else "0x" + value.hex()
    except UnicodeDecodeError:
        text = "0x" + value.hex()
    return text if len(text) < 60 else text[:57] + "..."
