"""The tables to read back, with every type, kind of key and compression; and literals for their columns."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """columns: the SQL between the parentheses. Each table has a number `n`, which selects rows to change."""

    name: str
    columns: str
    options: str = ""
    written: bool = True  # False: another statement fills it.
    hidden_null_bits: int = 0


_NINE = "ENUM('x','y','z') NOT NULL, k SET('p','q','r','s','t','u','v','w','x')"

TABLES = [
    Table("numbers", "n INT PRIMARY KEY, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d BIGINT, e DECIMAL(20,7), f FLOAT,"
                     f" g DOUBLE, h BIT(11), i YEAR, j {_NINE}, l DECIMAL(9,0), KEY (d), KEY (e)"),
    Table("times", "n INT, a DATE, b DATETIME, c DATETIME(3), d TIMESTAMP(6) NULL, e TIME, f TIME(2), g TIMESTAMP NULL,"
                   " h DATETIME(6), PRIMARY KEY (b, n)"),
    Table("texts", "n INT NOT NULL, a CHAR(2) CHARACTER SET latin1, b CHAR(20), c VARCHAR(300), d TEXT, e BLOB, f"
                   " BINARY(3), g BINARY(20), h VARBINARY(50) NOT NULL, i VARCHAR(40) COLLATE utf8mb4_bin NOT NULL,"
                   " j MEDIUMTEXT, k INET6, PRIMARY KEY (h, n DESC), KEY (c)", "COMPRESSION=ZSTD"),
    Table("text_key", "n INT NOT NULL, a VARCHAR(30) NOT NULL, b VARCHAR(20) CHARACTER SET latin1 NOT NULL,"
                      " c CHAR(8) COLLATE utf8mb4_bin NOT NULL, d INT, PRIMARY KEY (a, b, c, n)", "COMPRESSION=SNAPPY"),
    Table("no_key", "n INT, a VARCHAR(20), b INT AS (n + 1) VIRTUAL, c INT AS (n * 2) STORED, d INT, UNIQUE (n)"),
    Table("prefix_key", "n INT NOT NULL, a VARBINARY(60) NOT NULL, b BLOB NOT NULL, c INT, "
                        "PRIMARY KEY (a(3) DESC, b(2), n)"),
    Table("hashed", "n INT AUTO_INCREMENT PRIMARY KEY, a TEXT, b INT, c INT, d INT, e INT, f INT, g INT, h INT, UNIQUE (a)",
          hidden_null_bits=1),
    Table("packed", "n INT PRIMARY KEY, a INT, b INT, c INT, d INT, e INT, f INT, g INT, h INT",
          "ROW_FORMAT=DYNAMIC COMPRESSION=NONE"),
    Table("apart", "n INT NOT NULL, a TEXT, b VARCHAR(300), c BLOB NOT NULL, d INT, e VARCHAR(40), PRIMARY KEY (n),"
                   " KEY (a(9))",
          "KLOG_VALUE_THRESHOLD=64"),
    Table("starts", "n INT PRIMARY KEY, a VARCHAR(40) COLLATE utf8mb4_unicode_ci, b CHAR(9) COLLATE utf8mb4_danish_ci,"
                    " KEY (a(2), n), KEY (b(3) DESC)"),
    Table("addresses", "a INET4, b INET6, c INET6 NOT NULL, n INT NOT NULL, PRIMARY KEY (a, n DESC, c), KEY (b, n)"),
    Table("spilled", "n INT PRIMARY KEY, a INT, b VARCHAR(1000)", written=False),
]


def literal(column, rng):
    """An SQL literal for the column, often an edge of its type. sql_mode is empty, so the server accepts all of them."""
    if column.nullable and rng.random() < 0.2:
        return "NULL"
    if column.type in ("date", "datetime", "timestamp"):
        year = rng.choice([1971, 2000, 2024, 2037] if column.type == "timestamp" else [1, 1000, 1999, 2024, 9999])
        return f"'{year:04}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02} {_clock(rng, 12)}'"
    if column.type == "time":
        return f"'{rng.choice(['-', ''])}{_clock(rng, rng.choice([0, 7, 99, 838]))}'"
    if column.type == "year":
        return rng.choice(["0", "1901", "1999", "2155"])
    if column.type in ("enum", "set", "bit"):
        return str(rng.randint(1, {"enum": 3, "set": 511, "bit": 2047}[column.type]))
    if column.type == "inet4":
        return rng.choice(["'0.0.0.0'", "'97.0.32.32'", f"'65.0.{rng.randint(0, 255)}.32'"])
    if column.type == "inet6":
        return rng.choice(["'::'", "'2001:db8::'", f"'2001:db8::{rng.randint(0, 65535):x}'"])
    if column.text or column.kind == "bytes" or column.type == "binary":
        return _bytes(column, rng)
    scale = column.digits[-1] if column.type == "decimal" else 3 if column.type in ("float", "double") else 0
    whole = rng.choice([0, 1, -1, rng.randint(-200, 200), rng.randint(-10**12, 10**12)])
    return f"{whole}.{rng.randint(0, 10**scale)}"


def _clock(rng, hour):
    return f"{hour}:{rng.randint(0, 59)}:{rng.randint(0, 59)}.{rng.randint(0, 999999):06}"


def _bytes(column, rng):
    size = rng.choice([0, 1, 2, 9, 20]) if column.octets < 300 or rng.random() < 0.98 else 70000
    if column.octets > 300 and rng.random() < 0.2:
        size = 80
    if column.text:
        return f"'{''.join(rng.choice('ab zÄß') for _ in range(size))}'"
    if rng.random() < 0.3:
        return "x'0000'"
    return f"x'{rng.randbytes(size).hex() if size < 100 else '00ff' * (size // 2)}'"
