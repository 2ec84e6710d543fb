"""The case of a seed: tables, their first rows, then queries, changes and transactions over them."""

import itertools
import random
import re

from test.differential import changes, queries, side, storage
from test.differential.sql import Case, Statement
from test.differential.tables import Table, random_table

_MODES = ["STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"] * 3 + [
    "NO_ENGINE_SUBSTITUTION",
    "NO_ENGINE_SUBSTITUTION,PAD_CHAR_TO_FULL_LENGTH",
    "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO",
]


def _settings(rng):
    isolation = rng.choice(["REPEATABLE READ", "REPEATABLE READ", "READ COMMITTED", "SERIALIZABLE"])
    # The query cache, which both connections of an engine share. Repeated "SELECT *" queries hit it.
    cached = ["SET query_cache_type = ON"] if rng.random() < 0.15 else []
    # Global, so for all connections. Since only one connection writes, row locks change no answer.
    locks = rng.choice(["ON", "ON", "ON", "OFF"])
    return [
        *cached,
        "SET NAMES utf8mb4",
        f"SET GLOBAL tidesdb_pessimistic_locking = {locks}",
        "SET time_zone = '+00:00'",
        "SET timestamp = 1600000000.123456",
        f"SET sql_mode = '{rng.choice(_MODES)}'",
        "SET max_sort_length = 8192",
        "SET max_statement_time = 20",
        "SET lock_wait_timeout = 10",
        f"SET SESSION TRANSACTION ISOLATION LEVEL {isolation}",
        *storage.settings(rng),
    ]


def looks(table, checksum=True):
    """Statements on a table whose answers must be equal at any time."""
    return [
        *([Statement("checksum", f"CHECKSUM TABLE {table}")] if checksum else []),
        Statement("contents", f"SELECT * FROM {table}"),
        Statement("check", f"CHECK TABLE {table} EXTENDED"),
    ]


def _has_checksum(table):
    """Whether InnoDB's CHECKSUM TABLE is right. It is wrong for generated columns of prefetched rows, and InnoDB prefetches
    from the sixth row on. The hash of a unique key is a generated column too."""
    hashes = any(key.may_be_hash() for key in table.keys_unique())
    return not hashes and not any(column.generated for column in table.columns)


def _transaction(rng, step, undone):
    """Some steps as one transaction. undone: whether all or part of it may be rolled back."""
    yield Statement("begin", rng.choice(["BEGIN", "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT"]))
    saved = False
    for _ in range(rng.choice([2, 4, 8])):
        yield from step()
        draw = rng.random()
        if draw < 0.15:
            saved = True
            yield Statement("savepoint", "SAVEPOINT s")
        elif draw < 0.3 and saved and undone:
            yield Statement("savepoint", rng.choice(["ROLLBACK TO SAVEPOINT s"] * 2 + ["RELEASE SAVEPOINT s"]))
    yield Statement("end", rng.choice(["COMMIT", "COMMIT", "ROLLBACK"]) if undone else "COMMIT")


def _free_of(without, make):
    """The first result of make() that does not match the pattern; after 50 draws the last one, even if it matches."""
    for _ in range(50):
        made = make()
        if hasattr(made, "create"):
            texts = [made.create()] if isinstance(made, Table) else made.create()
        else:
            texts = made[:1] if isinstance(made, tuple) else made
        if not without or not any(re.search(without, text) for statement in texts for text in statement.texts()):
            break
    return made


class _Maker:
    """Makes one case. without: see random_case()."""

    def __init__(self, seed, without):
        self.rng, self.without = random.Random(seed), without
        self.case = Case(seed, _settings(self.rng))
        self.counter, self.names, self.tables = changes.Counter(), itertools.count(20), []
        self.reader = side.Reader() if self.rng.random() < 0.25 else None
        kinds = [(side.Period, 0.06), (side.Versioned, 0.06), (side.Sequence, 0.04)]
        kinds = [kind for kind, share in kinds if self.rng.random() < share]
        self.others = [_free_of(without, lambda kind=kind: kind(self.rng)) for kind in kinds]

    def make(self, length):
        rng = self.rng
        for number in range(rng.choice([1, 2, 2, 3])):
            self._table(number)
        for other in self.others:
            self._add(other.create())
        if rng.random() < 0.08:
            self._add(_free_of(self.without, lambda: side.triggers(rng, rng.choice(self.tables))))
        enough = len(self.case.statements) + length
        while len(self.case.statements) < enough and self.counter.shifts < self.counter.SHIFTS_MAX - 10:
            self._next()
        if self.reader:
            self._add(self.reader.close())
        ends = [(table.name, _has_checksum(table)) for table in self.tables]
        ends += [(other.name, other.checksum) for other in self.others]
        for name, checksum in ends:
            self._add(looks(name, checksum) + [Statement("show-create", f"SHOW CREATE TABLE {name}")])
        return self.case

    def _add(self, statements):
        self.case.statements += statements

    def _table(self, number):
        """A table and its first rows."""
        rng, like = self.rng, self.tables[0] if self.tables else None
        table = _free_of(self.without, lambda: random_table(rng, f"t{number}", like))
        self.tables.append(table)
        self._add([table.create()])
        rows = rng.choice([5, 10, 20, 40, 80, 200])
        for done in range(0, rows, 40):
            self._add([changes.fill(rng, table, self.counter, min(rows - done, 40))])
        if rows == 5:
            self._add(looks(table.name)[:1])
        if rng.random() < 0.4:
            self._add([Statement("analyze", f"ANALYZE TABLE {table.name}")])

    def _next(self):
        rng, draw = self.rng, self.rng.random()
        if self.reader and draw > 0.85:
            self._add(self.reader.step(rng, self.tables))
        elif self.others and draw > 0.6:
            self._add(rng.choice(self.others).step(rng))
        elif draw < 0.07:
            if self.reader:  # DDL would wait for the reader's transaction.
                self._add(self.reader.close())
            if draw < 0.03:
                self._add(storage.upkeep(rng, rng.choice(self.tables)))
            else:
                statement, effect = _free_of(self.without, lambda: changes.random_ddl(rng, self.tables, self.names))
                self._add([statement])
                effect()
        elif draw < 0.13:
            # In a temporary table InnoDB wrongly rolls back a DELETE and an INSERT of the same key.
            self._add(_transaction(rng, self._step, not any(table.temporary for table in self.tables)))
        elif draw < 0.19:
            table = rng.choice(self.tables)
            self._add(looks(table.name, _has_checksum(table))[:-1])
        else:
            self._add(self._step())

    def _step(self):
        rng = self.rng
        if rng.random() < 0.6:
            return _free_of(self.without, lambda: queries.random_query(rng, self.tables))
        made = _free_of(self.without, lambda: changes.random_change(rng, self.tables, self.counter))
        if self.reader and any(statement.kind.startswith("alter") for statement in made):
            return self.reader.close() + made
        return made


def random_case(seed, length=60, without=None):
    """length: about how many statements follow the first rows. without: a pattern of SQL to avoid."""
    return _Maker(seed, without).make(length)
