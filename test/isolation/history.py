"""A history and its file of JSON lines: the first line describes the run, then one line for each transaction."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

COMMITTED, ABORTED, UNKNOWN = "committed", "aborted", "unknown"
READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE = "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"
LEVELS = (READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE)
# How a statement reads: a plain SELECT, LOCK IN SHARE MODE, FOR UPDATE, or an UPDATE, DELETE or INSERT.
PLAIN, SHARE, FOR_UPDATE, WRITE = "plain", "share", "for update", "write"


@dataclass(frozen=True)
class Row:
    """A row as it was read. tokens: of all its writes, oldest first; the first one is the row's name."""
    id: int
    k: int
    tokens: tuple

    @property
    def n(self):
        return len(self.tokens)


@dataclass
class Op:
    """A statement that ended without an error, over the rows whose column `by` is in lo..hi; by "either": id lo or k hi.

    kind: read, append, set_k, add_k, set_id, insert or delete. value: what is set or added. rows: the result of a read or
    a DELETE ... RETURNING. covered: an index alone gave id, k and the last token, so a row has only this token.
    inserted: [id, k, token] of each row of an INSERT. n_max: only rows with at most so many tokens; 0: any number.
    limit: LIMIT of an ordered read by id; once reached, lo or hi is set to the last row's id; 0: none. affected: -1 if
    there was no answer.
    """
    kind: str
    mode: str
    by: str = "id"
    lo: int = 0
    hi: int = 0
    index: str = ""
    descending: bool = False
    n_max: int = 0
    limit: int = 0
    covered: bool = False
    token: int = 0
    value: int = 0
    inserted: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    affected: int = 0
    start: float = 0.0
    end: float = 0.0
    sql: str = ""

    def matches(self, version):
        """version: a Version or a Row that is not covered."""
        if self.by == "either":
            return version.id == self.lo or version.k == self.hi
        return (self.lo <= (version.id if self.by == "id" else version.k) <= self.hi
                and (self.n_max == 0 or version.n <= self.n_max))


@dataclass
class Transaction:
    """commit_start, commit_end: when COMMIT was sent, and when its answer was read (None: no answer).

    level: its own, if not the history's. snapshot: when its first plain read was sent, even if ROLLBACK TO removed that
    read from ops.
    """
    number: int
    session: int
    level: str = ""
    outcome: str = ABORTED
    ops: list = field(default_factory=list)
    start: float = 0.0
    commit_start: float | None = None
    commit_end: float | None = None
    autocommit: bool = False
    why: str = ""
    snapshot: float | None = None


@dataclass
class History:
    """snapshot_isolation: whether writing a row that changed since the snapshot is an error. initial: [id, k, token] of the
    first rows; final: the last rows. problems: [name, text] of problems that the driver itself saw. kills: [when, session,
    QUERY or CONNECTION]."""
    engine: str
    level: str
    locks: bool = True
    snapshot_isolation: bool = True
    seed: int = 0
    workload: str = ""
    table: str = ""  # One of workload.TABLES.
    disturbed: str = "none"
    initial: list = field(default_factory=list)
    transactions: list = field(default_factory=list)
    final: list = field(default_factory=list)
    problems: list = field(default_factory=list)
    kills: list = field(default_factory=list)
    statements: list = field(default_factory=list)

    def level_of(self, number):
        return next((t.level for t in self.transactions if t.number == number and t.level), self.level)


def save(history, path):
    header = {name: value for name, value in asdict(history).items() if name != "transactions"}
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [header, *(asdict(transaction) for transaction in history.transactions)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def load(path):
    header, *lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
    history = History(**header)
    history.final = [_row(row) for row in header["final"]]
    for line in lines:
        ops = [Op(**op) for op in line.pop("ops")]
        for op in ops:
            op.rows = [_row(row) for row in op.rows]
        history.transactions.append(Transaction(**line, ops=ops))
    return history


def _row(fields):
    return Row(fields["id"], fields["k"], tuple(fields["tokens"]))
