"""Random statements that change data or tables, each with one outcome that SQL prescribes.

Rows are changed in id order where the order can matter. An AUTO_INCREMENT value is drawn only right after a statement that
sets the counter, since engines may leave different gaps.
"""

import dataclasses

from test.differential import queries
from test.differential.bulk import bulk
from test.differential.predicates import condition
from test.differential.sql import Items, Statement, Tagged, maybe
from test.differential.tables import ENGINE, generated, pool, random_column, random_key


class Counter:
    """New values for id.

    Each shift() exceeds every id so far, so rows that are moved or copied by it do not collide with others.
    """

    SHIFTS_MAX = 20  # 1000 * 2**21 is still an INT.

    def __init__(self):
        self.next, self.shifts = 1, 0

    def fresh(self):
        self.next += 1
        return self.next - 1

    def shift(self):
        self.shifts += 1
        return 1000 << (self.shifts - 1)


def _row(rng, table, columns, identity):
    values = []
    for column in columns:
        if column.name == "id":
            value = identity
        elif column.default and rng.random() < 0.2:
            value = "DEFAULT"
        else:
            value = column.value(rng)
        values.append(Tagged(f"{table.name}.{column.name}", value))
    return Items(values, before="(", after=")")


def _identity(rng, table, counter):
    """Mostly a new id; an existing one only if a unique key over id alone refuses it."""
    key_of_id = any(len(key.parts) == 1 and key.parts[0].column.name == "id" for key in table.keys_unique())
    if key_of_id and rng.random() < 0.12:
        return str(rng.randrange(1, max(2, counter.next)))
    return str(counter.fresh())


def _names(table, columns):
    return Items([Tagged(f"{table.name}.{column.name}", column.name) for column in columns], before=" (", after=")")


def insert(rng, table, counter, rows=None, word="INSERT"):
    columns = table.plain
    listed = [_row(rng, table, columns, _identity(rng, table, counter)) for _ in range(rows or rng.choice([1, 1, 1, 2, 5]))]
    return Statement(word.lower(), [f"{word} INTO {table.name}", _names(table, columns), " VALUES ", Items(listed)])


def fill(rng, table, counter, rows):
    """The first rows. INSERT IGNORE keeps the others when one is refused."""
    return insert(rng, table, counter, rows, "INSERT IGNORE")


def _insert(rng, tables, counter):
    table = rng.choice(tables)
    made = insert(rng, table, counter, word=rng.choice(["INSERT", "INSERT", "INSERT IGNORE", "REPLACE"]))
    if rng.random() < 0.15:
        made.text = [made.text, maybe("RETURNING ", Items([column.name for column in table.columns]))]
        made.kind += "-returning"
    if made.kind.startswith("replace") and any(key.may_be_hash() for key in table.keys_unique()):
        made.kind = "replace-hash"  # At READ COMMITTED InnoDB checks the hash first, and counts differently.
    return made


def _expression(rng, column):
    """A new value for a column, from its own row alone."""
    kind, name = column.type, column.name
    choices = [column.value(rng)] * 4 + [name]
    if kind.text and not kind.blob:
        choices += [f"CONCAT({name}, 'a')", f"LEFT({name}, 2)", f"CONCAT({name}, ' ')", f"UPPER({name})"]
    if kind.family == "int":
        choices += [f"{name} + 1", f"{name} DIV 2"]
    if kind.family == "binary":
        choices += [f"CONCAT({name}, x'00')", f"LEFT({name}, 1)"]
    if column.default:
        choices.append("DEFAULT")
    return rng.choice(choices)


def _assignments(rng, table, columns, prefix=""):
    return Items([f"{prefix}{column.name} = {_expression(rng, column)}" for column in columns])


def _settable(rng, table, unique):
    columns = [column for column in table.plain if column.name != "id" and (unique or not table.in_unique(column))]
    return rng.sample(columns, min(len(columns), rng.choice([1, 1, 2])))


def _on_duplicate(rng, tables, counter):
    """ON DUPLICATE KEY UPDATE on a table with one unique key, so that at most one key can conflict."""
    candidates = [table for table in tables if len(table.keys_unique()) == 1]
    if not candidates:
        return _insert(rng, tables, counter)
    table = rng.choice(candidates)
    columns = _settable(rng, table, False)
    if not columns:
        return _insert(rng, tables, counter)
    made = insert(rng, table, counter)
    sets = Items(
        [f"{column.name} = " + rng.choice([f"VALUES({column.name})", _expression(rng, column)]) for column in columns]
    )
    return Statement("insert-on-duplicate", [made.text, " ON DUPLICATE KEY UPDATE ", sets])


def _insert_select(rng, tables, counter):
    table = rng.choice([table for table in tables if not table.auto] or tables)
    source = rng.choice([other for other in tables if len(other.columns) > 1])
    columns, values, shift = table.plain, [], counter.shift()
    for column in columns:
        twins = [
            other
            for other in source.columns
            if other.type.sql == column.type.sql and (column.nullable or not other.nullable)
        ]
        value = (
            f"id + {shift}"
            if column.name == "id"
            else rng.choice(twins).name if twins and rng.random() < 0.8 else column.value(rng)
        )
        values.append(Tagged(f"{table.name}.{column.name}", value))
    word = rng.choice(["INSERT", "INSERT IGNORE", "REPLACE"])
    where = Items([condition(rng, source)], least=0, before=" WHERE ")
    # The LIMIT keeps tables small.
    return Statement(
        "insert-select",
        [
            f"{word} INTO {table.name}",
            _names(table, columns),
            " SELECT ",
            Items(values),
            f" FROM {source.name}",
            where,
            " ORDER BY id LIMIT 15",
        ],
    )


def _where(rng, table, alias=""):
    return Items([condition(rng, table, alias)], least=0, before=" WHERE ")


def _hint(rng, table):
    return rng.choice(queries.hints_of(rng, table)) if rng.random() < 0.3 else ""


def _limit(table, count):
    """None for a partitioned table: after an UPDATE or DELETE that read no partition, the next one with ORDER BY and LIMIT
    finds no rows, with any engine."""
    return "" if table.partition else f" LIMIT {count}"


def _update(rng, tables, _):
    table = rng.choice(tables)
    draw = rng.random()
    if draw < 0.45:  # Columns of no unique key: the order of rows does not matter.
        columns = _settable(rng, table, False)
        if columns:
            return Statement(
                "update",
                [f"UPDATE {table.name}{_hint(rng, table)} SET ", _assignments(rng, table, columns), _where(rng, table)],
            )
    columns = _settable(rng, table, True)
    if not columns:
        return _delete(rng, tables, None)
    ignore = " IGNORE" if rng.random() < 0.2 and not any(key.may_be_hash() for key in table.keys_unique()) else ""
    limit = maybe(_limit(table, rng.choice([1, 2, 5]))) if rng.random() < 0.5 and not table.partition else ""
    by = " ORDER BY " + rng.choice(["id", "id", "id DESC"])
    return Statement(
        "update-order",
        [f"UPDATE{ignore} {table.name} SET ", _assignments(rng, table, columns), _where(rng, table), by, limit],
    )


def _update_id(rng, tables, counter):
    table = rng.choice(tables)
    if rng.random() < 0.5:
        return Statement(
            "update-id",
            [f"UPDATE {table.name} SET id = id + {counter.shift()}", _where(rng, table), " ORDER BY id" + _limit(table, 5)],
        )
    return Statement(
        "update-id", f"UPDATE {table.name} SET id = {counter.fresh()} WHERE id = {rng.randrange(1, counter.next)}"
    )


def _apart(rng, table, joins):
    """Columns to set that the join does not read, directly or through a generated column; else the plan would decide which
    rows are joined.

    None if the join's own column is ON UPDATE, because every update changes it.
    """
    if "ON UPDATE" in joins.default:
        return []
    generated_from = [other.generated for other in table.columns if other.generated]
    return [
        column
        for column in _settable(rng, table, False)
        if column is not joins and not any(column.name in text for text in generated_from)
    ]


def _update_join(rng, tables, _):
    """Sets only constants, so that a row that joins several others has one result."""
    one, other = rng.choice(tables), rng.choice(tables)
    a, b = queries.pair(rng, one, other)
    columns = _apart(rng, one, a)
    if not columns or one is other:
        return _update(rng, tables, None)
    sets = Items([f"x.{column.name} = {column.value(rng)}" for column in columns])
    return Statement(
        "update-join",
        [f"UPDATE {one.name} x JOIN {other.name} y ON x.{a.name} = y.{b.name} SET ", sets, _where(rng, other, "y")],
    )


def _update_both(rng, tables, _):
    """Sets constants in two tables at once, or deletes from both."""
    one, other = rng.choice(tables), rng.choice(tables)
    if one is other:
        return _update_join(rng, tables, None)
    a, b = queries.pair(rng, one, other)
    joined = f"{one.name} x JOIN {other.name} y ON x.{a.name} = y.{b.name}"
    if rng.random() < 0.3:
        return Statement("delete-join", [f"DELETE x, y FROM {joined} WHERE ", condition(rng, other, "y")])
    sets = [
        f"{alias}.{column.name} = {column.value(rng)}"
        for alias, table, joins in (("x", one, a), ("y", other, b))
        for column in _apart(rng, table, joins)
    ]
    if not sets:
        return _delete(rng, tables, None)
    return Statement("update-join", [f"UPDATE {joined} SET ", Items(sets), _where(rng, one, "x")])


def _delete(rng, tables, _):
    table = rng.choice(tables)
    draw = rng.random()
    if draw < 0.5:
        shown = Items([column.name for column in rng.sample(table.columns, rng.randrange(1, len(table.columns) + 1))])
        returning = maybe("RETURNING ", shown) if rng.random() < 0.2 else ""
        return Statement("delete", [f"DELETE FROM {table.name} WHERE ", condition(rng, table), returning])
    if draw < 0.75:
        by = rng.choice([f"{column.name}, " for column in table.columns if not column.type.blob] + [""])
        order = f" ORDER BY {by}id{_limit(table, 3)}"
        return Statement("delete-order", [f"DELETE FROM {table.name}", _where(rng, table), order])
    other = rng.choice(tables)
    if other is table:
        return Statement("delete", f"DELETE FROM {table.name} WHERE id = {rng.randrange(1, 40)}")
    a, b = queries.pair(rng, table, other)
    return Statement(
        "delete-join",
        [f"DELETE x FROM {table.name} x JOIN {other.name} y ON x.{a.name} = y.{b.name}", _where(rng, table, "x")],
    )


def _by_subquery(rng, tables, _):
    """DELETE or UPDATE of the rows that a subquery finds, sometimes in the same table."""
    table, other = rng.choice(tables), rng.choice(tables)
    inner = [f" WHERE id {rng.choice(['IN', 'IN', 'NOT IN'])} (SELECT id FROM {other.name}", _where(rng, other), ")"]
    columns = _settable(rng, table, False)
    if rng.random() < 0.5 or not columns:
        return Statement(
            "delete", [f"DELETE FROM {table.name}", *inner, Items([condition(rng, table)], least=0, before=" AND ")]
        )
    return Statement("update-subquery", [f"UPDATE {table.name} SET ", _assignments(rng, table, columns), *inner])


def _copy(rng, tables, counter):
    """Copies a whole table into a new one, which may have a few of its rows already. A duplicate makes it fail midway."""
    table = rng.choice(tables)
    columns = [column.name for column in table.plain]
    listed = ", ".join(columns)
    drop = Statement("create", "DROP TABLE IF EXISTS copy")
    looks = [Statement("contents", "SELECT * FROM copy"), Statement("check", "CHECK TABLE copy EXTENDED")]
    hashed = any(key.may_be_hash() for key in table.keys_unique())
    if rng.random() < 0.25:
        shown = ", ".join(column for column in columns if rng.random() < 0.7 or column == "id")
        return [drop, Statement("load", f"CREATE TABLE copy {ENGINE} SELECT {shown} FROM {table.name} ORDER BY id"), *looks]
    word = rng.choice(["INSERT", "INSERT", "INSERT IGNORE", "REPLACE"])
    kind = "load-hash" if hashed and word == "REPLACE" else "load"  # See replace-hash.
    filled = f"{word} INTO copy ({listed}) SELECT {listed} FROM {table.name}"
    made = [drop, Statement("create", f"CREATE TABLE copy LIKE {table.name}")]
    if rng.random() < 0.3:
        made.append(Statement(kind, f"{filled} ORDER BY id LIMIT {rng.choice([1, 3, 30])}"))
    if rng.random() < 0.3:
        moved = listed.replace("id", f"id + {rng.choice([0, counter.shift()])}", 1)
        filled = f"{word} INTO copy ({listed}) SELECT {listed} FROM {table.name} UNION ALL SELECT {moved} FROM {table.name}"
    return [*made, Statement(kind, [filled, " ORDER BY id", maybe("LIMIT 100000")]), *looks]


def _auto(rng, tables, counter):
    """Sets the AUTO_INCREMENT counter, then draws from it."""
    table = rng.choice([table for table in tables if table.auto] or [None])
    if table is None:
        return _insert(rng, tables, counter)
    columns = table.plain
    listed = [_row(rng, table, columns, rng.choice(["NULL", "NULL", "0", "DEFAULT"])) for _ in range(rng.choice([1, 1, 3]))]
    return [
        Statement("alter-counter", f"ALTER TABLE {table.name} AUTO_INCREMENT = {counter.shift()}"),
        Statement("insert-auto", [f"INSERT INTO {table.name}", _names(table, columns), " VALUES ", Items(listed)]),
    ]


def _bulk(rng, tables, _):
    return bulk(rng, rng.choice(tables))


_MAKERS = [
    (_insert, 26),
    (_update, 26),
    (_delete, 14),
    (_on_duplicate, 7),
    (_insert_select, 7),
    (_update_id, 5),
    (_update_join, 5),
    (_update_both, 4),
    (_by_subquery, 5),
    (_auto, 4),
    (_copy, 3),
    (_bulk, 1.2),
]


def random_change(rng, tables, counter):
    """A list of statements, mostly one."""
    makers, weights = zip(*_MAKERS)
    made = rng.choices(makers, weights)[0](rng, tables, counter)
    return made if isinstance(made, list) else [made]


def random_ddl(rng, tables, names):
    """A statement that changes a table, and a function that makes the same change in the generator's model of it."""
    table = rng.choice(tables)
    copy = rng.choice(["", "", ", ALGORITHM=COPY"])
    kind = "alter-copy" if copy else "alter"
    draw = rng.random()
    if table.partition and draw < 0.4:
        return Statement("alter-partition", f"ALTER TABLE {table.name} {rng.choice(_of_partition(table))}"), lambda: None
    if draw < 0.1:
        return Statement("truncate", f"TRUNCATE TABLE {table.name}"), lambda: None
    if draw < 0.4:
        return _add_key(rng, table, names, copy)
    if draw < 0.55 and len(table.keys) > 1:
        key = table.keys[-1]
        return Statement(kind, f"ALTER TABLE {table.name} DROP INDEX `{key.name}`{copy}"), lambda: table.keys.remove(key)
    if draw < 0.7:
        column = random_column(rng, f"d{next(names)}", temporary=table.temporary)
        # A copying ALTER checks that old rows get valid JSON; an in-place one does not. NULL passes both.
        column.nullable = column.nullable or column.type.family == "json"
        where = rng.choice(["", " FIRST", " AFTER id"])
        if rng.random() < 0.3:
            return _add_column_and_key(rng, table, column, where, names, copy)
        return (
            Statement(kind, [f"ALTER TABLE {table.name} ADD COLUMN ", column.sql(), where, copy]),
            lambda: table.columns.append(column),
        )
    if draw < 0.8:
        used = {part.column.name for key in table.keys for part in key.parts}
        used |= {table.partitioned_by.name} if table.partitioned_by else set()
        free = [
            column
            for column in table.plain[1:]
            if column.name not in used and not any(column.name in other.generated for other in table.columns)
        ]
        if free and len(table.columns) > 2:
            column = rng.choice(free)
            return (
                Statement(kind, f"ALTER TABLE {table.name} DROP COLUMN {column.name}{copy}"),
                lambda: table.columns.remove(column),
            )
    if draw < 0.84:
        return _modify(rng, table, kind, copy)
    if draw < 0.94:
        return _of_column(rng, table, names, kind, copy)
    if draw < 0.97:
        return Statement(kind, f"ALTER TABLE {table.name} FORCE{copy}"), lambda: None
    return Statement("analyze", f"ANALYZE TABLE {table.name}"), lambda: None


def _add_column_and_key(rng, table, column, where, names, copy):
    """A column and a key that is not unique, usually over it, in one statement."""
    with_column = dataclasses.replace(table, columns=[*table.columns, column])
    name = f"k{next(names)}"
    keys = [key for key in (random_key(rng, with_column, name) for _ in range(30)) if not key.unique]
    key = next((key for key in keys if any(part.column is column for part in key.parts)), keys[0])

    def effect():
        table.columns.append(column)
        table.keys.append(key)

    added = [f"ALTER TABLE {table.name} ADD COLUMN ", column.sql(), where, ", ADD ", key.sql(table.name), copy]
    return Statement("alter-copy" if copy else "alter", added), effect


def _of_column(rng, table, names, kind, copy):
    """Renames a column, changes its default, or adds a generated column."""
    free = [column for column in table.plain[1:] if not any(column.name in other.generated for other in table.columns)]
    free = [column for column in free if column is not table.partitioned_by]
    column = rng.choice(free or table.plain[1:] or table.plain)
    free = [] if column.type.family == "json" else free  # The server's JSON check keeps the old name.
    draw, name = rng.random(), f"d{next(names)}"
    if draw < 0.4 and free:
        return (
            Statement(kind, f"ALTER TABLE {table.name} RENAME COLUMN {column.name} TO {name}{copy}"),
            lambda: setattr(column, "name", name),
        )
    made = generated(rng, column) if draw < 0.7 else None
    if made:
        made.name, made.pool = name, pool(rng, made.type)
        return (
            Statement(kind, [f"ALTER TABLE {table.name} ADD COLUMN ", made.sql(), copy]),
            lambda: table.columns.append(made),
        )
    if not column.type.default or column.name == "id":
        return Statement(kind, f"ALTER TABLE {table.name} FORCE{copy}"), lambda: None
    default = f"DEFAULT {rng.choice(column.pool)}"
    return (
        Statement(kind, f"ALTER TABLE {table.name} ALTER COLUMN {column.name} SET {default}{copy}"),
        lambda: setattr(column, "default", default),
    )


_WIDER = {
    "TINYINT": "SMALLINT",
    "SMALLINT": "INT",
    "INT": "BIGINT",
    "TINYTEXT": "TEXT",
    "TEXT": "LONGTEXT",
    "TINYBLOB": "BLOB",
    "DATE": "DATETIME",
    "FLOAT": "DOUBLE",
    "TIME": "TIME(6)",
    "DATETIME": "DATETIME(6)",
    "MEDIUMINT": "BIGINT",
    "CHAR": "VARCHAR",
    "BINARY": "VARBINARY",
}


def _modify(rng, table, kind, copy):
    """Changes a column to a wider type that holds all its values, if there is one."""
    columns = [
        column
        for column in table.plain[1:]
        if column.type.sql.split(" ")[0].split("(")[0] in _WIDER
        and column is not table.partitioned_by
        and not any(column.name in other.generated for other in table.columns)
    ]
    if not columns:
        return Statement(kind, f"ALTER TABLE {table.name} FORCE{copy}"), lambda: None
    column = rng.choice(columns)
    old = column.type.sql.split(" ")[0].split("(")[0]
    if old in ("TIME", "DATETIME") and "(" in column.type.sql:
        return Statement(kind, f"ALTER TABLE {table.name} FORCE{copy}"), lambda: None
    new = dataclasses.replace(
        column,
        default="",
        nullable=column.nullable or rng.random() < 0.3,
        type=dataclasses.replace(column.type, sql=column.type.sql.replace(old, _WIDER[old], 1)),
    )

    def effect():
        column.type, column.default, column.nullable = new.type, new.default, new.nullable

    return Statement(kind, [f"ALTER TABLE {table.name} MODIFY COLUMN ", new.sql(), copy]), effect


def _of_partition(table):
    if "(PARTITION" in table.partition:
        return ["TRUNCATE PARTITION p0", "REBUILD PARTITION p1", "ANALYZE PARTITION ALL", "OPTIMIZE PARTITION p0"]
    return ["ADD PARTITION PARTITIONS 1", "COALESCE PARTITION 1", "TRUNCATE PARTITION p0", "REBUILD PARTITION ALL"]


def _add_key(rng, table, names, copy):
    """Adds a key; a unique one with IGNORE, which keeps the first of equal rows, by primary key or by insertion.

    Avoids a unique key that would become the primary key (InnoDB loses rows) or a hash (InnoDB keeps equal rows at READ
    COMMITTED).
    """
    name, must_have = f"k{next(names)}", table.partitioned_by
    has_primary = any(other.kind == "PRIMARY KEY" for other in table.keys)
    while True:
        key = random_key(rng, table, name, must_have)
        becomes_primary = not has_primary and not any(part.column.nullable for part in key.parts)
        if not key.unique or not (becomes_primary or key.may_be_hash()):
            break
    ignore = "IGNORE " if key.unique else ""
    kind = "alter-copy" if copy else "alter-ignore" if ignore else "alter"
    return (
        Statement(kind, [f"ALTER {ignore}TABLE {table.name} ADD ", key.sql(table.name), copy]),
        lambda: table.keys.append(key),
    )
