"""Each row's versions in order, from what a history's transactions read; and which transactions count as committed.

Every write appends its own token to the row's list, so the longest list names all versions. The statement that wrote a
token tells how it changed id and k.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from test.isolation.history import ABORTED, COMMITTED, UNKNOWN

INITIAL = 0  # The transaction that wrote the rows a history begins with.


@dataclass(frozen=True)
class Anomaly:
    """name: see levels.py. transactions: their numbers. edges: those of a cycle, in order."""
    name: str
    text: str
    transactions: tuple = ()
    edges: tuple = ()
    mode: str = ""   # Of the statement that saw it.
    upward: bool = True  # The row moved only in the direction of the scan.


@dataclass(frozen=True)
class Version:
    token: int
    transaction: int
    op: int
    id: int
    k: int
    n: int


@dataclass
class RowHistory:
    """dead: (transaction, op) of the DELETE, or None."""
    name: int
    versions: list = field(default_factory=list)
    place: dict = field(default_factory=dict)  # By token, its index in versions.
    dead: tuple | None = None


class Rows:
    """The rows of one history by name, and all anomalies in the lists themselves."""

    def __init__(self, history):
        self.history = history
        self.by_number = {transaction.number: transaction for transaction in history.transactions}
        self.anomalies = []
        self.unseen = False  # A DELETE without an answer removed a row, so nobody saw its last versions.
        self.writer = {token: (INITIAL, i) for i, (_, _, token) in enumerate(history.initial)}  # token: (number, op)
        self.insert_of = {token: (id_, k) for id_, k, token in history.initial}
        for transaction in history.transactions:
            for place, op in enumerate(transaction.ops):
                if op.token:
                    self.writer[op.token] = (transaction.number, place)
                for id_, k, token in op.inserted:
                    self.writer[token] = (transaction.number, place)
                    self.insert_of[token] = (id_, k)
        self._settle_unknown()
        self.rows = {}
        self._order()
        self._deaths()
        self._counts()
        self.by_last = defaultdict(list)  # For covered reads: (token, row, place).
        for row in self.rows.values():
            for place, version in enumerate(row.versions):
                self.by_last[version.token].append((row, place))

    def committed(self, number):
        return number == INITIAL or (number in self.by_number and self.by_number[number].outcome == COMMITTED)

    def report(self, name, text, *numbers, mode="", upward=True):
        self.anomalies.append(Anomaly(name, text, numbers, mode=mode, upward=upward))

    def _settle_unknown(self):
        """A COMMIT without an answer counts as done if somebody saw its writes, or a row that it deleted is gone."""
        seen = {token for row in self.history.final for token in row.tokens}
        for transaction in self.history.transactions:
            if transaction.outcome == COMMITTED:
                seen.update(token for op in transaction.ops for row in op.rows for token in row.tokens)
        alive = {row.tokens[0] for row in self.history.final}
        deleted = {row.tokens[0] for transaction in self.history.transactions if transaction.outcome == COMMITTED
                   for op in transaction.ops if op.kind == "delete" for row in op.rows}
        unknown = [transaction for transaction in self.history.transactions if transaction.outcome == UNKNOWN]
        # The last one first: a transaction that deleted a row saw it, so no earlier one had deleted it.
        for transaction in sorted(unknown, key=lambda it: it.commit_start or it.start, reverse=True):
            wrote = {op.token for op in transaction.ops} | {i[2] for op in transaction.ops for i in op.inserted}
            names = {row.tokens[0] for op in transaction.ops if op.kind == "delete" for row in op.rows}
            names = {name for name in names if self.writer.get(name, (None,))[0] != transaction.number}
            gone = names - alive and not names & deleted
            transaction.outcome = COMMITTED if wrote & seen - {0} or gone else ABORTED
            if transaction.outcome == COMMITTED:
                deleted |= names

    def _lists(self):
        """Every whole list that a committed transaction read, and the final ones, with the transaction and statement."""
        for row in self.history.final:
            yield row, None, None
        for transaction in self.history.transactions:
            if transaction.outcome == COMMITTED:
                for op in transaction.ops:
                    if not op.covered:
                        for row in op.rows:
                            yield row, transaction, op

    def _order(self):
        longest, found = {token: (token,) for _, _, token in self.history.initial}, list(self._lists())
        for row, transaction, op in found:
            where = f"{said(transaction, op)} read {shown(row)}"
            if unknown := [token for token in row.tokens if token not in self.writer]:
                self.report("garbage", f"{where}: no statement wrote {unknown}", *numbers_of(transaction), mode=mode_of(op))
                continue
            if len(set(row.tokens)) != len(row.tokens):
                self.report("double write", f"{where}: one statement changed it twice", *numbers_of(transaction))
                continue
            aborted = {self.writer[token][0] for token in row.tokens} - {INITIAL}
            aborted = [number for number in aborted if not self.committed(number)]
            if aborted:
                name = "G1a" if op else "half a transaction"
                self.report(name, f"{where}: " + ", ".join(f"T{number} wrote to it and did not commit"
                                                           for number in aborted),
                            *numbers_of(transaction), *aborted, mode=mode_of(op))
                continue
            name = row.tokens[0]
            if name not in self.insert_of:
                self.report("garbage", f"{where}: its first token is not from an INSERT", *numbers_of(transaction))
            elif len(row.tokens) > len(longest.get(name, ())):
                longest[name] = row.tokens
        for row, transaction, op in found:
            whole = longest.get(row.tokens[0], ())
            committed = all(self.committed(self.writer.get(token, (None,))[0]) for token in row.tokens)
            if row.tokens != whole[:len(row.tokens)] and committed:
                writers = {self.writer[token][0] for token in set(row.tokens) - set(whole)}
                self.report("overwritten", f"{said(transaction, op)} read {shown(row)}, but another read of the same row "
                            f"gave {list(whole)}: one UPDATE overwrote another", *numbers_of(transaction), *writers)
        for name, tokens in longest.items():
            self.rows[name] = self._versions(name, tokens)
        for transaction in self.history.transactions:
            for op in transaction.ops if transaction.outcome == COMMITTED else ():
                for _, _, token in op.inserted:
                    if token not in self.rows:
                        self.report("lost write", f"{said(transaction, op)} was committed, but its row is missing",
                                    transaction.number)

    def _versions(self, name, tokens):
        row, (id_, k) = RowHistory(name), self.insert_of[name]
        for place, token in enumerate(tokens):
            number, op_place = self.writer[token]
            if number != INITIAL and place:
                op = self.by_number[number].ops[op_place]
                if not op.matches(row.versions[-1]):
                    self.report("wrong row", f"{said(self.by_number[number], op)} changed row {name}, which was id {id_}, "
                                f"k {k}", number)
                k = op.value if op.kind == "set_k" else k + op.value if op.kind == "add_k" else k
                id_ = op.value if op.kind == "set_id" else id_
            row.versions.append(Version(token, number, op_place, id_, k, place + 1))
            row.place[token] = place
        return row

    def _deaths(self):
        alive = {row.tokens[0] for row in self.history.final}
        for transaction in self.history.transactions:
            for place, op in enumerate(transaction.ops):
                if transaction.outcome != COMMITTED or op.kind != "delete":
                    continue
                for gone in op.rows:
                    row = self.rows.get(gone.tokens[0])
                    if row is None:
                        continue
                    what = f"{said(transaction, op)} deleted {shown(gone)}"
                    if row.dead:
                        self.report("overwritten", f"{what}, which T{row.dead[0]} had already deleted", transaction.number,
                                    row.dead[0])
                    elif len(gone.tokens) < len(row.versions):
                        self.report("overwritten", f"{what}, but it had later versions: "
                                    f"{[version.token for version in row.versions]}", transaction.number)
                    elif row.name in alive:
                        self.report("lost write", f"{what}, but it is in the final state", transaction.number)
                    row.dead = (transaction.number, place)
        for row in self.rows.values():
            if row.name not in alive and not row.dead:
                self._died_without_answer(row)
            if row.name not in alive and not row.dead:
                self.report("lost row", f"row {row.name} {[v.token for v in row.versions]} is not in the final state, and "
                            "no committed transaction deleted it")

    def _died_without_answer(self, row):
        """An autocommit DELETE without an answer may have deleted the row."""
        last = row.versions[-1]
        for transaction in self.history.transactions:
            for place, op in enumerate(transaction.ops):
                if op.kind == "delete" and op.affected < 0 and op.matches(last):
                    row.dead, transaction.outcome = (transaction.number, place), COMMITTED
                    self.unseen = True

    def _counts(self):
        """Each committed UPDATE must be in the lists of as many rows as it reported."""
        found = defaultdict(int)
        for row in self.rows.values():
            for version in row.versions[1:]:
                found[version.token] += 1
        for transaction in self.history.transactions:
            for op in transaction.ops if transaction.outcome == COMMITTED else ():
                if op.token and op.affected >= 0 and found[op.token] != op.affected:
                    self.report("lost write", f"{said(transaction, op)} changed {op.affected} rows and was committed, "
                                f"but {op.token} is in {found[op.token]} rows", transaction.number)


def said(transaction, op):
    return "the final state" if transaction is None else f"T{transaction.number} `{op.sql}`"


def shown(row):
    return f"(id {row.id}, k {row.k}, {list(row.tokens)})"


def numbers_of(transaction):
    return () if transaction is None else (transaction.number,)


def mode_of(op):
    return op.mode if op else ""
