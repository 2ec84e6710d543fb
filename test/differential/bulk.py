"""Transactions of several megabytes, which spill to sorted runs on disk before their COMMIT."""

from test.differential.sql import Statement, maybe

_TABLE = "bulk"


def bulk(rng, table):
    """Statements that copy a table, enlarge and change the copy, undo some of that, and read the result."""
    columns = [column.name for column in table.plain]
    listed = ", ".join([*columns, "pad"])
    made = [
        Statement("create", f"DROP TABLE IF EXISTS {_TABLE}"),
        Statement("create", f"CREATE TABLE {_TABLE} LIKE {table.name}"),
        Statement("alter", f"ALTER TABLE {_TABLE} ADD COLUMN pad LONGTEXT"),
    ]
    if rng.random() < 0.7:
        made.append(Statement("begin", "BEGIN"))
    first = _with_id(columns, "ROW_NUMBER() OVER (ORDER BY id)")
    pad = f"REPEAT('{rng.choice('xyz')}', {rng.choice([300, 500, 900])} + id % 400)"
    made.append(_load(listed, f"{first}, {pad} FROM {table.name} ORDER BY id LIMIT 100"))
    saved = False
    for number in range(rng.choice([4, 5, 5])):
        made.append(Statement("set", f"SET @most = (SELECT COALESCE(MAX(id), 0) FROM {_TABLE})"))
        made.append(_load(listed, f"{_with_id(columns, 'id + @most')}, pad FROM {_TABLE} ORDER BY id"))
        if number > 1 and rng.random() < 0.4:
            saved = True
            made.append(Statement("savepoint", "SAVEPOINT b"))
    for _ in range(rng.choice([1, 2, 4])):
        made += _change(rng, saved)
    made.append(Statement("end", rng.choice(["COMMIT", "COMMIT", "ROLLBACK"])))
    return [*made, *_looks(rng, table, listed)]


def _with_id(columns, value):
    return ", ".join(value if column == "id" else column for column in columns)


def _load(listed, rest):
    return Statement("load", f"INSERT IGNORE INTO {_TABLE} ({listed}) SELECT {rest}")


def _change(rng, saved):
    draw, some = rng.random(), f"id % {rng.choice([2, 3, 7])} = 1"
    if draw < 0.35:
        sets = rng.choice(["pad = CONCAT(pad, 'y')", "pad = LEFT(pad, 40)", "pad = REVERSE(pad)"])
        return [Statement("update", [f"UPDATE {_TABLE} SET {sets}", maybe(f"WHERE {some}")])]
    if draw < 0.6:
        return [Statement("delete", [f"DELETE FROM {_TABLE}", maybe(f"WHERE {some}")])]
    if draw < 0.8 and saved:
        return [Statement("savepoint", "ROLLBACK TO SAVEPOINT b"), _sum("")]
    return [_sum(rng.choice(["", f" WHERE {some}", f" WHERE id > {rng.randrange(2000)}"]))]


def _sum(where):
    return Statement("select", f"SELECT COUNT(*), SUM(id), SUM(LENGTH(pad)), MAX(pad) FROM {_TABLE}{where}")


def _looks(rng, table, listed):
    """Reads the copy without a hint and by up to two of its indexes, and checks it."""
    keys = [key.name for key in table.keys if not key.may_be_hash()]
    forced = [f" FORCE INDEX ({name})" for name in rng.sample(keys, min(len(keys), 2))]
    listed = listed.removesuffix("pad") + "MD5(pad)"
    looks = [Statement("select", f"SELECT {listed} FROM {_TABLE}{hint}") for hint in ["", *forced]]
    return [*looks, _sum(""), Statement("check", f"CHECK TABLE {_TABLE} EXTENDED")]
