"""Random tables: the generator's model of them, and their CREATE TABLE."""

import re
from dataclasses import dataclass, field

from test.differential import column_types
from test.differential.sql import Items, Statement, Tagged, maybe

ENGINE = "ENGINE=TidesDB"  # InnoDB's session replaces it.
OURS_ALONE = "/*ours*/"  # Before a prefix length that InnoDB's session removes: its index has the whole column.
_KEY_BYTES_MAX = 3000  # InnoDB's limit is 3072, with what it adds to each part.


@dataclass
class Column:
    """pool: literals for its values and for constants, so that these match. generated: "" or its whole clause."""

    name: str
    type: column_types.Type
    nullable: bool = True
    pool: list = field(default_factory=list)
    default: str = ""
    generated: str = ""
    auto: bool = False

    def value(self, rng):
        if self.nullable and rng.random() < 0.12:
            return "NULL"
        return rng.choice(self.pool) if rng.random() < 0.85 else self.type.literal(rng)

    def constant(self, rng):
        return rng.choice(self.pool) if rng.random() < 0.9 else self.type.literal(rng)

    def sql(self):
        if self.generated:
            return f"{self.name} {self.type.sql} {self.generated}"
        more = [maybe(self.default)] if self.default else []
        auto = [" AUTO_INCREMENT"] if self.auto else []
        return [f"{self.name} {self.type.sql}", " NULL" if self.nullable else " NOT NULL", *auto, *more]


@dataclass
class KeyPart:
    column: Column
    prefix: int = 0
    descending: bool = False
    ours_alone: bool = False

    def bytes(self):
        whole = not self.prefix or self.ours_alone
        return (self.column.type.bytes if whole else self.prefix * self.column.type.bytes_max) + 3

    def sql(self):
        prefix = f"{OURS_ALONE if self.ours_alone else ''}({self.prefix})" if self.prefix else ""
        return self.column.name + prefix + (" DESC" if self.descending else "")


@dataclass
class Key:
    name: str
    kind: str  # "PRIMARY KEY", "UNIQUE KEY" or "KEY".
    parts: list
    hash: bool = False

    @property
    def unique(self):
        return self.kind != "KEY"

    def may_be_hash(self):
        """Whether the server may make it a hash: on request, or for columns that an index cannot hold."""
        return self.hash or any(part.column.type.blob and not part.prefix or part.bytes() > 1000 for part in self.parts)

    def sql(self, table):
        parts = Items([Tagged(f"{table}.{part.column.name}", part.sql()) for part in self.parts])
        name = "" if self.kind == "PRIMARY KEY" else f" {self.name}"
        return [f"{self.kind}{name} (", parts, ")" + (" USING HASH" if self.hash else "")]


@dataclass
class Table:
    name: str
    columns: list
    keys: list = field(default_factory=list)
    partition: str = ""
    partitioned_by: Column | None = None  # Part of each unique key; no DDL touches it.
    temporary: bool = False

    def column(self, name):
        return next(column for column in self.columns if column.name == name)

    @property
    def plain(self):
        """The columns that statements can write."""
        return [column for column in self.columns if not column.generated]

    @property
    def auto(self):
        return any(column.auto for column in self.columns)

    def keys_unique(self):
        return [key for key in self.keys if key.unique]

    def in_unique(self, column):
        """Whether a unique key has the column, or one that is generated from it."""
        return any(
            part.column is column or re.search(rf"\b{column.name}\b", part.column.generated)
            for key in self.keys_unique()
            for part in key.parts
        )

    def create(self):
        columns = [Tagged(f"{self.name}.{column.name}", column.sql()) for column in self.columns]
        # Separate lists: the shrinker may remove every key, but not the last column.
        keys = Items([key.sql(self.name) for key in self.keys], least=0, before=", ")
        tail = maybe(self.partition) if self.partition else ""
        word = "TEMPORARY TABLE" if self.temporary else "TABLE"
        return Statement("create", [f"CREATE {word} {self.name} (", Items(columns), keys, f") {ENGINE}", tail])


def pool(rng, kind):
    """A few values, so that rows share them; for text also values that differ only after a common start."""
    values = [kind.literal(rng) for _ in range(rng.choice([3, 5, 8, 12]))]
    if kind.text and kind.chars > 3:
        plain = [value for value in values if value.startswith("'")]
        for value in plain[:3]:
            longer = value[:-1] + rng.choice(["a", "b", " ", "aa", "z", "\t"])
            values.append(column_types.quote(longer[1:].replace("''", "'").replace("\\\\", "\\")[: kind.chars]))
    return values


def generated(rng, source):
    """A generated column over another one, or None where no expression suits its type."""
    name, kind = source.name, source.type
    text = "VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
    choices = {
        "int": [
            ("BIGINT", f"{name} DIV 2"),
            ("INT", f"{name} % 7"),
            ("INT", f"{name} IS NULL"),
            ("BIGINT", f"COALESCE({name}, 3)"),
        ],
        "decimal": [("DECIMAL(65,0)", f"FLOOR({name})"), ("INT", f"{name} > 1")],
        "text": [
            (text, f"CONCAT(LEFT({name}, 2), 'x')"),
            ("INT", f"CHAR_LENGTH({name})"),
            (text, f"LEFT({name}, 3)"),
            (kind.sql, f"{name}"),
        ],
        "binary": [("INT", f"LENGTH({name})"), ("VARCHAR(60) CHARACTER SET latin1", f"HEX(LEFT({name}, 3))")],
        "date": [("INT", f"YEAR({name})")],
        "datetime": [("INT", f"YEAR({name})"), ("DATE", f"DATE({name})")],
        "enum": [("INT", f"{name} + 0")],
        "set": [("INT", f"{name} + 0")],
        "bit": [("BIGINT UNSIGNED", f"{name} + 0")],
    }.get(kind.family)
    if not choices:
        return None
    sql, expression = rng.choice(choices)
    if "UNSIGNED" in kind.sql and sql == "BIGINT":  # Else some values would not fit, and a copying ALTER refuses them.
        sql = "BIGINT UNSIGNED"
    stored = rng.choice(["VIRTUAL", "STORED"])
    if sql == kind.sql:
        result = kind
    elif sql.startswith("VARCHAR"):
        result = column_types.Type(
            sql,
            "text",
            kind.literal if kind.text else lambda r: r.choice(["''", "'61'", "'00'", "'FF'"]),
            exact=False,
            chars=60,
            bytes=240,
            bytes_max=4,
        )
    elif sql == "DATE":
        result = column_types.Type(sql, "date", lambda r: r.choice(["'2000-01-01'", "'2024-02-29'"]), bytes=3)
    else:
        result = column_types.Type(sql, "int", lambda r: str(r.randrange(-1, 10)), bytes=30 if "DEC" in sql else 8)
    return Column("", result, True, [], generated=f"AS ({expression}) {stored}")


def random_column(rng, name, kind=None, temporary=False):
    """temporary: whether its table is. The server loses ON UPDATE when a copy alters such a table, with any engine."""
    kind = kind or column_types.random_type(rng)
    column = Column(name, kind, rng.random() < 0.6, pool(rng, kind))
    draw = rng.random()
    if kind.family in ("datetime", "timestamp") and draw < 0.35 and not temporary:
        digits = kind.sql[kind.sql.index("(") :] if "(" in kind.sql else ""
        column.default = rng.choice(["DEFAULT '2001-01-01 00:00:00' ", ""]) + f"ON UPDATE CURRENT_TIMESTAMP{digits}"
    elif draw < 0.25 and kind.default:
        column.default = f"DEFAULT {rng.choice(column.pool)}"
    return column


def _part(rng, column, unique):
    kind, prefix = column.type, 0
    ours_alone = _has_letters(kind)
    may = kind.chars > 1 and not (ours_alone and (unique or kind.blob or "COLLATE tis620" in kind.sql))
    if may and (kind.blob or kind.bytes > 1000 and not ours_alone or rng.random() < 0.35):
        prefix = rng.choice([1, 1, 2, 2, 3, 5, 10, 20, 100])
        prefix = min(prefix, kind.chars - (0 if kind.blob else 1), 700 // kind.bytes_max)
    return KeyPart(column, prefix, rng.random() < 0.3, bool(prefix) and ours_alone)


def _has_letters(kind):
    """Whether two characters may be one letter, or one be two: InnoDB misses values whose prefix ends within a letter."""
    letters = r"COLLATE (utf8mb3|utf8mb4|ucs2|utf16|utf16le|utf32)_(?!general|bin|nopad_bin)|thai|german2"
    return re.search(letters, kind.sql) is not None


def _may_be_in_key(column):
    """Not czech_cs, nor a CHAR with a NO PAD collation, whose fill spaces InnoDB compares: its index misses such rows."""
    sql = column.type.sql
    return "czech_cs" not in sql and not (sql.startswith("CHAR") and ("nopad" in sql or "_0900_" in sql))


def random_key(rng, table, name, must_have=None):
    """A secondary key. must_have: the column that a unique key needs because the table is partitioned by it."""
    unique, hashed = rng.random() < 0.25, False
    usable = [column for column in table.columns if not column.auto or rng.random() < 0.2]
    usable = [column for column in usable if _may_be_in_key(column)] or [table.columns[0]]
    columns = rng.sample(usable, min(len(usable), rng.choice([1, 1, 1, 2, 2, 3])))
    if unique and must_have is None and rng.random() < 0.3:
        # The server's hash of a one-byte word by that collation reads past its end, so equal values sometimes differ.
        odd = any(column.type.family in ("enum", "set") and "czech_cs" in column.type.sql for column in columns)
        hashed = rng.random() < 0.5 and not odd
        parts = [KeyPart(column) for column in columns]
    else:
        parts = [_part(rng, column, unique) for column in columns]
        if unique and must_have:  # The whole column, not a prefix.
            parts = [part for part in parts if part.column is not must_have] + [KeyPart(must_have)]
        while len(parts) > 1 and sum(part.bytes() for part in parts) > _KEY_BYTES_MAX and parts[0].column is not must_have:
            parts.pop(0)
    return Key(name, "UNIQUE KEY" if unique else "KEY", parts, hashed)


def _primary(rng, table):
    identity, by = table.columns[0], table.partitioned_by
    draw = rng.random()
    # In a temporary table InnoDB wrongly rolls back a DELETE and an INSERT of one key: a refused UPDATE loses a row.
    if identity.auto or table.temporary or draw < 0.45:
        parts = [KeyPart(identity, 0, rng.random() < 0.1)]
        return Key("PRIMARY", "PRIMARY KEY", parts + [KeyPart(column) for column in [by] if column not in (None, identity)])
    if draw < 0.6:
        return None
    columns = [column for column in table.plain if not column.nullable and column is not identity]
    columns = [column for column in columns if _may_be_in_key(column)]
    parts = [_part(rng, column, True) for column in rng.sample(columns, min(len(columns), rng.choice([1, 1, 2])))]
    if rng.random() < 0.75 or not parts or table.partition:
        parts.insert(rng.randrange(len(parts) + 1), KeyPart(identity))
    if by not in (None, identity):  # The whole column, not a prefix.
        parts = [part for part in parts if part.column is not by] + [KeyPart(by)]
    while sum(part.bytes() for part in parts) > _KEY_BYTES_MAX:
        parts.remove(max(parts, key=KeyPart.bytes))
    return Key("PRIMARY", "PRIMARY KEY", parts) if parts else None


def _partition(rng, column):
    """column: id, by its number or a hash; another column, only by KEY, which takes any type."""
    count = rng.choice([2, 3, 5])
    if column.name != "id":
        return f"PARTITION BY {rng.choice(['', 'LINEAR '])}KEY ({column.name}) PARTITIONS {count}"
    return rng.choice(
        [
            f"PARTITION BY HASH (id) PARTITIONS {count}",
            f"PARTITION BY KEY (id) PARTITIONS {count}",
            f"PARTITION BY LINEAR HASH (id) PARTITIONS {count}",
            "PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (30), "
            "PARTITION p2 VALUES LESS THAN MAXVALUE)",
            "PARTITION BY RANGE COLUMNS (id) (PARTITION p0 VALUES LESS THAN (5), PARTITION p1 VALUES LESS THAN (100000))",
            "PARTITION BY LIST (id % 3) (PARTITION p0 VALUES IN (0), PARTITION p1 VALUES IN (1), "
            "PARTITION p2 VALUES IN (2, -1, -2))",
        ]
    )


def random_table(rng, name, like=None):
    """like: a table whose types some columns take, so that the two can be joined."""
    identity = Column("id", column_types.INT, False, [str(number) for number in range(1, 40)])
    table = Table(name, [identity])
    partitioned = rng.random() < 0.12
    if not partitioned:
        identity.auto, table.temporary = rng.random() < 0.2, rng.random() < 0.06
    for number in range(rng.choice([1, 2, 3, 3, 4, 5, 7])):
        if like and len(like.plain) > 1 and rng.random() < 0.6:
            twin = rng.choice(like.plain[1:])
            column = random_column(rng, f"c{number}", twin.type, table.temporary)
            column.pool = twin.pool
        else:
            column = random_column(rng, f"c{number}", temporary=table.temporary)
        table.columns.append(column)
    if partitioned:
        others = [column for column in table.columns[1:] if not column.nullable and not column.type.blob]
        others = [column for column in others if _may_be_in_key(column)]
        table.partitioned_by = rng.choice(others) if others and rng.random() < 0.4 else identity
        table.partition = _partition(rng, table.partitioned_by)
    if rng.random() < 0.4:
        made = generated(rng, rng.choice(table.columns[1:]))
        if made:
            made.name = "g0"
            made.pool = pool(rng, made.type)
            table.columns.append(made)
    primary = _primary(rng, table)
    table.keys = [primary] if primary else []
    for number in range(rng.choice([0, 1, 1, 2, 2, 3, 4])):
        table.keys.append(random_key(rng, table, f"k{number}", table.partitioned_by))
    return table
