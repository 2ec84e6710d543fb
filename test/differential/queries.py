"""Random SELECTs with exactly one answer, each written in several forms that may get different plans.

The column id is different in each row, so an ORDER BY that ends with id gives one order. Equal texts may have different
bytes, so DISTINCT, GROUP BY and MIN show only columns whose equal values are the same bytes.
"""

import re

from test.differential.predicates import condition
from test.differential.sql import Items, Statement, maybe

_SWITCHES = [
    "optimizer_switch='index_condition_pushdown=off'",
    "optimizer_switch='index_merge=off'",
    "optimizer_switch='index_merge_sort_intersection=on'",
    "optimizer_switch='mrr=on,mrr_sort_keys=on'",
    "optimizer_switch='mrr=on,mrr_sort_keys=on', join_cache_level=8",
    "join_cache_level=0",
    "join_cache_level=4",
    "optimizer_switch='materialization=off'",
    "optimizer_switch='semijoin=off'",
    # Without join buffers: duplicate weedout removes one row too many of what comes from one, with any engine.
    "optimizer_switch='materialization=off,firstmatch=off,loosescan=off', join_cache_level=0",
    "optimizer_switch='materialization=off,firstmatch=off', join_cache_level=0",
    "optimizer_switch='rowid_filter=off'",
    "optimizer_switch='extended_keys=off'",
    "optimizer_switch='not_null_range_scan=on'",
    "optimizer_switch='exists_to_in=off'",
    "optimizer_switch='derived_merge=off'",
    "optimizer_switch='subquery_cache=off'",
    "max_seeks_for_key=1",
    "optimizer_use_condition_selectivity=1",
    "eq_range_index_dive_limit=1",
    "optimizer_switch='outer_join_with_cache=off,join_cache_hashed=off'",
    "tmp_memory_table_size=0",
]


def hints_of(rng, table):
    """Index hints for a table; the first one is empty."""
    hints = [""]
    for key in rng.sample(table.keys, min(len(table.keys), 2)):
        hints.append(f" FORCE INDEX ({key.name})")
    if len(table.keys) > 1 and rng.random() < 0.3:
        hints.append(f" FORCE INDEX ({', '.join(key.name for key in rng.sample(table.keys, 2))})")
    if table.keys:
        hints.append(f" IGNORE INDEX ({', '.join(key.name for key in table.keys)})")
    return hints


def _select(kind, rng, table, build, ordered=False):
    """build: makes the query from an index hint."""
    hints = hints_of(rng, table)
    variants = [build(hint) for hint in hints]
    variants += [
        [f"SET STATEMENT {rng.choice(_SWITCHES)} FOR ", build(rng.choice(hints))] for _ in range(rng.choice([0, 1, 1]))
    ]
    return Statement(kind, "", ordered, Items(variants))


def _shown(rng, table):
    """A select list: the columns of a key, so that the index may be enough, or any columns."""
    if table.keys and rng.random() < 0.45:
        key = rng.choice(table.keys)
        names = [part.column.name for part in key.parts]
        return Items(list(dict.fromkeys(names + (["id"] if rng.random() < 0.5 else []))))
    draw = rng.random()
    if draw < 0.3:
        return Items(["id"])
    if draw < 0.6:
        return Items([column.name for column in rng.sample(table.columns, rng.randrange(1, len(table.columns) + 1))])
    return Items([column.name for column in table.columns])


def _lock(rng):
    return rng.choice([""] * 12 + [" FOR UPDATE", " LOCK IN SHARE MODE", " FOR UPDATE SKIP LOCKED"])


def plain(rng, tables):
    table = rng.choice(tables)
    shown, where, lock = _shown(rng, table), condition(rng, table), _lock(rng)
    return _select("select", rng, table, lambda hint: ["SELECT ", shown, f" FROM {table.name}{hint} WHERE ", where, lock])


def _has_order(column):
    """Whether sorting and comparing agree. Of a CHAR with a NO PAD collation, the server sorts padded values, but compares
    values without padding."""
    sql = column.type.sql
    return not column.type.blob and not (sql.startswith("CHAR") and ("nopad" in sql or "_0900_" in sql))


def _first_level_only(part):
    """Whether our index does not order letters that differ at a later level of the collation, such as accents."""
    return bool(part.prefix or part.column.type.blob) and re.search("_a[is]_cs|_as_ci|_czech_cs", part.column.type.sql)


def ordered(rng, tables):
    table = rng.choice(tables)
    shown, where = _shown(rng, table), condition(rng, table)
    if table.keys and rng.random() < 0.7:
        parts = rng.choice(table.keys).parts
        flip = rng.random() < 0.5
        by = [
            part.column.name + (" DESC" if part.descending != flip else "") for part in parts if _has_order(part.column)
        ]
    else:
        by = [rng.choice([c.name for c in table.columns if _has_order(c)]) + rng.choice(["", " DESC"])]
    by.append("id" + rng.choice(["", " DESC"]))
    limit = maybe(f"LIMIT {rng.choice([1, 1, 2, 3, 5, 20])}" + rng.choice(["", "", " OFFSET 1", " OFFSET 3"]))
    filtered = Items([where], least=0, before=" WHERE ") if rng.random() < 0.8 else ""
    order = [Items(by[:-1], least=0, after=", "), by[-1]]
    return _select(
        "select-order",
        rng,
        table,
        lambda hint: ["SELECT ", shown, f" FROM {table.name}{hint}", filtered, " ORDER BY ", order, limit],
        True,
    )


def _aggregates(rng, table):
    found = ["COUNT(*)", "MIN(id)", "MAX(id)", "SUM(id)"]
    for column in table.columns:
        if column.type.exact and column.type.family not in ("enum", "set"):
            found += [f"MIN({column.name})", f"MAX({column.name})"]
        if column.type.chars < 100:
            found.append(f"COUNT(DISTINCT {column.name})")
        found.append(f"COUNT({column.name})")
    return Items(rng.sample(found, min(len(found), rng.choice([1, 1, 2, 3]))))


def partitioned(rng, tables):
    """The rows of a condition; the same rows in three parts, where another condition is true, false and unknown; and the
    same rows without the help of an index."""
    table = rng.choice(tables)
    where, by, hints = condition(rng, table), condition(rng, table), hints_of(rng, table)

    def part(test):
        return [f"SELECT id FROM {table.name}{rng.choice(hints)} WHERE ", where, " AND (", by, f"){test}"]

    parts = [part(""), " UNION ALL ", part(" IS FALSE"), " UNION ALL ", part(" IS NULL")]
    whole = [f"SELECT id FROM {table.name}{rng.choice(hints)} WHERE "]
    return Statement("select-parts", "", False, Items([[*whole, where], parts, [*whole, "(", where, ") IS TRUE"]]))


def aggregate(rng, tables):
    table = rng.choice(tables)
    shown = _aggregates(rng, table)
    filtered = Items([condition(rng, table)], least=0, before=" WHERE ") if rng.random() < 0.7 else ""
    return _select("select-aggregate", rng, table, lambda hint: ["SELECT ", shown, f" FROM {table.name}{hint}", filtered])


def extreme(rng, tables):
    """MIN or MAX of a column of any type, as the rows that have this value."""
    table = rng.choice(tables)
    key = rng.choice(table.keys) if table.keys and rng.random() < 0.8 else None
    column = key.parts[0].column if key else rng.choice(table.columns)
    if column.type.family in ("enum", "set"):  # The server compares text, but by an index numbers.
        column = table.columns[0]
    function = rng.choice(["MIN", "MAX"])
    filtered = Items([condition(rng, table)], least=0, before=" WHERE ") if rng.random() < 0.5 else ""
    return _select(
        "select-extreme",
        rng,
        table,
        lambda hint: [
            f"SELECT id FROM {table.name}{hint} WHERE {column.name} = (SELECT {function}({column.name}) "
            f"FROM {table.name}{hint}",
            filtered,
            ")",
        ],
    )


def group(rng, tables):
    table = rng.choice(tables)
    if table.keys and rng.random() < 0.7:
        columns = [part.column for part in rng.choice(table.keys).parts]
    else:
        columns = [rng.choice(table.columns)]
    columns = [column for column in columns if column.type.chars < 100 and not column.type.blob] or [table.columns[0]]
    shown = [column.name for column in columns if column.type.exact] + ["COUNT(*)", "MIN(id)"]
    if rng.random() < 0.3:
        shown = [name for name in shown if "(" not in name] + ["MAX(id)"]
    filtered = Items([condition(rng, table)], least=0, before=" WHERE ") if rng.random() < 0.6 else ""
    having = maybe("HAVING COUNT(*) > 1") if rng.random() < 0.2 else ""
    by = ", ".join(column.name for column in columns)
    if all(column.type.exact for column in columns) and rng.random() < 0.35:
        return _select(
            "select-distinct", rng, table, lambda hint: ["SELECT DISTINCT ", by, f" FROM {table.name}{hint}", filtered]
        )
    listed = Items(shown)
    return _select(
        "select-group",
        rng,
        table,
        lambda hint: ["SELECT ", listed, f" FROM {table.name}{hint}", filtered, " GROUP BY ", by, having],
    )


def pair(rng, one, other):
    """A column of each table, mostly of the same type."""
    pairs = [(a, b) for a in one.columns for b in other.columns if a.type is b.type or a.type.sql == b.type.sql]
    if rng.random() < 0.1:
        pairs += [(a, b) for a in one.columns for b in other.columns if a.type.family == b.type.family]
    first = {part.column.name for key in one.keys + other.keys for part in key.parts[:1]}
    keyed = [pair for pair in pairs if pair[0].name in first or pair[1].name in first]
    return rng.choice(keyed if keyed and rng.random() < 0.7 else pairs)


def join(rng, tables):
    one, other = rng.choice(tables), rng.choice(tables)
    a, b = pair(rng, one, other)
    kind = rng.choice(["JOIN", "JOIN", "LEFT JOIN", "STRAIGHT_JOIN"])
    operator = rng.choice(["=", "=", "=", "=", "<=>", "<", ">="])
    on = Items(
        [f"x.{a.name} {operator} y.{b.name}"] + ([condition(rng, other, "y")] if rng.random() < 0.3 else []), " AND "
    )
    filtered = Items([condition(rng, one, "x")], least=0, before=" WHERE ") if rng.random() < 0.7 else ""
    shown = Items(["x.id", "y.id"] + [f"y.{column.name}" for column in rng.sample(other.columns, rng.choice([0, 0, 1]))])
    return _select(
        "select-join",
        rng,
        other,
        lambda hint: ["SELECT ", shown, f" FROM {one.name} x {kind} {other.name} y{hint} ON ", on, filtered],
    )


def semi_join(rng, tables):
    one, other = rng.choice(tables), rng.choice(tables)
    a, b = pair(rng, one, other)
    inner = Items([condition(rng, other, "y")], least=0, before=" WHERE ")
    also = Items([condition(rng, other, "y")], least=0, before=" AND ")
    outer = Items([condition(rng, one, "x")], least=0, before=" AND ") if rng.random() < 0.4 else ""
    shape = rng.choice(["in", "in", "in", "not in", "exists", "not exists", "count", "count"])
    # Faults of the server with any engine: a materialized IN takes equal words of these collations as different, and a
    # lookup by a prefix ignores the rest of the value.
    prefixed = any(part.prefix and part.column is b for key in other.keys for part in key.parts)
    if "czech_cs" in a.type.sql + b.type.sql or "thai" in a.type.sql + b.type.sql or prefixed:
        shape = "count"
    if shape in ("in", "not in"):

        def build(hint):
            return [
                f"SELECT x.id FROM {one.name} x WHERE x.{a.name} {shape.upper()} ",
                f"(SELECT y.{b.name} FROM {other.name} y{hint}",
                inner,
                ")",
                outer,
            ]

    elif shape == "count":
        outer = Items([condition(rng, one, "x")], least=0, before=" WHERE ") if rng.random() < 0.4 else ""

        def build(hint):
            return [
                f"SELECT x.id, (SELECT COUNT(*) FROM {other.name} y{hint} WHERE y.{b.name} = x.{a.name}",
                also,
                f") FROM {one.name} x",
                outer,
            ]

    else:

        def build(hint):
            return [
                f"SELECT x.id FROM {one.name} x WHERE {shape.upper()} (SELECT 1 FROM {other.name} y{hint} WHERE "
                f"y.{b.name} = x.{a.name}",
                also,
                ")",
                outer,
            ]

    return _select("select-semijoin", rng, other, build)


def union(rng, tables):
    one, other = rng.choice(tables), rng.choice(tables)
    first, second = condition(rng, one), condition(rng, other)
    word = rng.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
    return _select(
        "select-union",
        rng,
        one,
        lambda hint: [
            f"SELECT id FROM {one.name}{hint} WHERE ",
            first,
            f" {word} SELECT id FROM {other.name} WHERE ",
            second,
        ],
    )


def window(rng, tables):
    table = rng.choice(tables)
    column = rng.choice([c for c in table.columns if _has_order(c)])
    where = condition(rng, table)
    function = rng.choice(["ROW_NUMBER()", "LAG(id)", "SUM(id)", "FIRST_VALUE(id)"])
    return _select(
        "select-window",
        rng,
        table,
        lambda hint: [f"SELECT id, {function} OVER (ORDER BY {column.name}, id) FROM {table.name}{hint} WHERE ", where],
    )


def handler(rng, tables):
    """HANDLER over a whole range: the LIMIT is larger than any table here."""
    table = rng.choice([table for table in tables if not table.partition] or tables)
    if table.partition:  # Reading one partition backwards crashes the server, also with InnoDB.
        return plain(rng, tables)
    # If InnoDB's index has whole columns where ours has prefixes, other rows lie between two keys.
    keys = [key for key in table.keys if not any(part.ours_alone for part in key.parts)]
    key = rng.choice(keys) if keys and rng.random() < 0.8 else None
    where = Items([condition(rng, table)], least=0, before=" WHERE ") if rng.random() < 0.4 else ""
    if key is None:
        read = f"HANDLER {table.name} READ FIRST"
    elif rng.random() < 0.4 or not all(_has_order(part.column) or part.column.type.blob for part in key.parts):
        read = f"HANDLER {table.name} READ `{key.name}` {rng.choice(['FIRST', 'LAST'])}"
    else:
        parts = key.parts[: rng.choice([1, 1, 2, 3])]
        values = ", ".join(part.column.constant(rng) for part in parts)
        signs = ["="] if any(_first_level_only(part) for part in parts) else ["=", ">=", "<=", ">", "<"]
        read = f"HANDLER {table.name} READ `{key.name}` {rng.choice(signs)} ({values})"
    return [
        Statement("handler", f"HANDLER {table.name} OPEN"),
        Statement("handler", [read, where, " LIMIT 10000"]),
        Statement("handler", f"HANDLER {table.name} CLOSE"),
    ]


def handler_walk(rng, tables):
    """HANDLER from row to row by a unique index, past its ends, and over rows that were deleted meanwhile."""
    table = rng.choice([table for table in tables if not table.partition] or tables)
    keys = [key for key in table.keys_unique() if not key.may_be_hash()]
    keys = [key for key in keys if all(_has_order(part.column) and not part.column.nullable for part in key.parts)]
    if not keys or table.partition:
        return handler(rng, tables)
    key = rng.choice(keys)
    made = [Statement("handler", f"HANDLER {table.name} OPEN")]
    for _ in range(rng.choice([3, 5, 8])):
        draw = rng.random()
        if draw < 0.1:
            made.append(Statement("delete", f"DELETE FROM {table.name} WHERE id = {rng.randrange(1, 40)}"))
            continue
        words = [rng.choice(["FIRST", "LAST", "NEXT", "NEXT", "NEXT", "PREV", "PREV"])]
        if draw < 0.3:
            values = ", ".join(part.column.constant(rng) for part in key.parts)
            words = [rng.choice(["=", ">=", "<=", ">", "<"]), f" ({values})"]
        limit = rng.choice(["", "", " LIMIT 3", " LIMIT 10000"])
        made.append(Statement("handler", f"HANDLER {table.name} READ `{key.name}` {''.join(words)}{limit}", True))
    return [*made, Statement("handler", f"HANDLER {table.name} CLOSE")]


_MAKERS = [
    (plain, 30),
    (ordered, 22),
    (aggregate, 8),
    (extreme, 6),
    (group, 8),
    (join, 8),
    (semi_join, 12),
    (union, 3),
    (window, 2),
    (partitioned, 8),
    (handler, 4),
    (handler_walk, 3),
]


def random_query(rng, tables):
    """A list of statements: one query, or those of a HANDLER."""
    makers, weights = zip(*_MAKERS)
    made = rng.choices(makers, weights)[0](rng, tables)
    return made if isinstance(made, list) else [made]
