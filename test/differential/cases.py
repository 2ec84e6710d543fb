"""The case of a seed: tables, their first rows, then queries, changes and transactions over them."""

import itertools
import random
import re

from differential import changes, queries
from differential.sql import Case, Statement
from differential.tables import Table, random_table

_MODES = ["STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"] * 3 + [
    "NO_ENGINE_SUBSTITUTION", "NO_ENGINE_SUBSTITUTION,PAD_CHAR_TO_FULL_LENGTH",
    "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO"]


def _settings(rng):
    isolation = rng.choice(["REPEATABLE READ", "REPEATABLE READ", "READ COMMITTED", "SERIALIZABLE"])
    return ["SET NAMES utf8mb4", "SET time_zone = '+00:00'", "SET timestamp = 1600000000.123456",
            f"SET sql_mode = '{rng.choice(_MODES)}'", "SET max_sort_length = 8192", "SET max_statement_time = 20",
            f"SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"]


def looks(table):
    """What must be the same of a table at any time."""
    return [Statement("checksum", f"CHECKSUM TABLE {table}"), Statement("contents", f"SELECT * FROM {table}"),
            Statement("check", f"CHECK TABLE {table} EXTENDED")]


def _transaction(rng, step):
    """Some steps as one transaction."""
    yield Statement("begin", rng.choice(["BEGIN", "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT"]))
    saved = False
    for _ in range(rng.choice([2, 4, 8])):
        yield from step()
        draw = rng.random()
        if draw < 0.15:
            saved = True
            yield Statement("savepoint", "SAVEPOINT s")
        elif draw < 0.3 and saved:
            yield Statement("savepoint", rng.choice(["ROLLBACK TO SAVEPOINT s", "ROLLBACK TO SAVEPOINT s", "RELEASE SAVEPOINT s"]))
    yield Statement("end", rng.choice(["COMMIT", "COMMIT", "ROLLBACK"]))


def _free_of(without, make):
    """What make() gives, drawn again while its text matches; the last draw, however it is, after many."""
    for _ in range(50):
        made = make()
        texts = [made.create()] if isinstance(made, Table) else made[:1] if isinstance(made, tuple) else made
        if not without or not any(re.search(without, text) for statement in texts for text in statement.texts()):
            break
    return made


def random_case(seed, length=60, without=None):
    """length: about how many statements follow the first rows. without: a pattern of SQL that is to be left out."""
    rng = random.Random(seed)
    case = Case(seed, _settings(rng))
    counter, names, tables = changes.Counter(), itertools.count(20), []
    for number in range(rng.choice([1, 2, 2, 3])):
        like = tables[0] if tables else None
        table = _free_of(without, lambda: random_table(rng, f"t{number}", like))
        tables.append(table)
        case.statements.append(table.create())
        rows = rng.choice([5, 10, 20, 40, 80, 200])
        while rows > 0:
            case.statements.append(changes.fill(rng, table, counter, min(rows, 40)))
            rows -= 40
        if rng.random() < 0.4:
            case.statements.append(Statement("analyze", f"ANALYZE TABLE {table.name}"))

    def step():
        if rng.random() < 0.6:
            return _free_of(without, lambda: queries.random_query(rng, tables))
        return _free_of(without, lambda: changes.random_change(rng, tables, counter))

    begun = len(case.statements)
    while len(case.statements) - begun < length and counter.shifts < counter.SHIFTS_MAX - 10:
        draw = rng.random()
        if draw < 0.04:
            statement, effect = _free_of(without, lambda: changes.random_ddl(rng, tables, names))
            case.statements.append(statement)
            effect()
        elif draw < 0.1:
            case.statements += _transaction(rng, step)
        elif draw < 0.16:
            case.statements += looks(rng.choice(tables).name)[:2]
        else:
            case.statements += step()
    for table in tables:
        case.statements += looks(table.name) + [Statement("show-create", f"SHOW CREATE TABLE {table.name}")]
    return case
