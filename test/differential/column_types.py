"""Column types: their SQL, literals of their edges, and what keys and queries may do with them."""

from dataclasses import dataclass
from typing import Callable

from test.differential import collations


@dataclass(frozen=True)
class Type:
    """family: types of one family can be compared. literal: takes a Random, returns an SQL literal.

    exact: equal values are the same bytes, so that DISTINCT, MIN and GROUP BY have one answer.
    chars: the length of a text or binary type, 0 for others. bytes: size in a key, whole. blob: a key needs a prefix.
    """

    sql: str
    family: str
    literal: Callable
    exact: bool = True
    chars: int = 0
    bytes: int = 8
    bytes_max: int = 1
    blob: bool = False
    default: bool = True  # It may have a DEFAULT literal.
    zero_dates: bool = False

    @property
    def text(self):
        return self.family == "text"


def quote(text):
    """A literal that reads the same in every client: hex if a character is not printable."""
    if all(char.isprintable() for char in text):
        return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
    return "_utf8mb4 0x" + text.encode("utf-8").hex()


def hexadecimal(data):
    return f"x'{data.hex()}'"


def _integer(rng):
    name, bits = rng.choice([("TINYINT", 8), ("SMALLINT", 16), ("MEDIUMINT", 24), ("INT", 32), ("INT", 32), ("BIGINT", 64)])
    unsigned = rng.random() < 0.4
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    edges = [low, low + 1, high, high - 1, 0, 1, 2, 3, 4, 5, 10] + ([] if unsigned else [-1, -2, -128])
    return Type(
        name + (" UNSIGNED" if unsigned else ""),
        "int",
        lambda r: str(r.choice(edges) if r.random() < 0.5 else r.randrange(0, 12)),
        bytes=bits // 8,
    )


def _decimal(rng):
    digits, scale = rng.choice([(1, 0), (5, 2), (9, 9), (10, 0), (18, 9), (30, 10), (65, 30)])
    unsigned = rng.random() < 0.2
    whole = digits - scale
    most = ("9" * whole or "0") + ("." + "9" * scale if scale else "")
    edges = [most, "0", "1", "2", "0.1", "0.5", "1.5", "0.000000001", "3.14"]
    edges += [] if unsigned else ["-" + most, "-1", "-0.1", "-1.5", "-2"]
    # Only literals that fit: for a constant that is rounded, the server's ref and range find different rows.
    edges = [edge for edge in edges if len(edge.partition(".")[2]) <= scale and (whole or edge.lstrip("-").startswith("0"))]
    return Type(
        f"DECIMAL({digits},{scale})" + (" UNSIGNED" if unsigned else ""), "decimal", lambda r: r.choice(edges), bytes=30
    )


def _floating(rng):
    single = rng.random() < 0.5
    edges = [
        "0",
        "1",
        "-1",
        "0.5",
        "-0.5",
        "1.5",
        "0.1",
        "1e-30",
        "-1e-30",
        "1e30",
        "-1e30",
        "2",
        "3",
        "16777216",
        "16777217",
    ]
    edges += (
        ["3.4e38", "-3.4e38", "1.2e-38"]
        if single
        else ["1.7976931348623157e308", "-1.7e308", "2.3e-308", "0.30000000000000004"]
    )
    return Type("FLOAT" if single else "DOUBLE", "float", lambda r: r.choice(edges), exact=False)


def _bit(rng):
    bits = rng.choice([1, 2, 7, 8, 9, 17, 64])
    most = min(bits, 63)  # NOT BETWEEN takes the upper half as negative, but not by an index, with any engine.
    return Type(
        f"BIT({bits})",
        "bit",
        lambda r: "b'" + format(r.choice([0, 1, 2**most - 1, 2 ** (most - 1), r.randrange(2**most)]), "b") + "'",
    )


def _year(_):
    return Type("YEAR", "year", lambda r: r.choice(["0000", "1901", "2155", "2000", "2001", "1999"]), bytes=1)


def _fraction(rng, edges):
    """For a temporal type: the suffix for its fraction's digits, and a function that makes a literal from the edges."""
    digits = rng.choice([0, 0, 1, 3, 6])
    fractions = ["", "." + "0" * 6, "." + "9" * digits, ".1", ".000001"[: digits + 1]] if digits else [""]
    return (f"({digits})" if digits else ""), lambda r: f"'{r.choice(edges)}{r.choice(fractions)}'"


def _date(rng):
    edges = ["1000-01-01", "9999-12-31", "2024-02-29", "2000-01-01", "2000-01-02", "1999-12-31", "2023-03-01", "0001-01-01"]
    return Type("DATE", "date", lambda r: f"'{r.choice(edges)}'", bytes=3, zero_dates=True)


def _time(rng):
    digits, literal = _fraction(
        rng,
        ["-838:59:58", "838:59:58", "00:00:00", "-00:00:01", "00:00:01", "12:00:00", "23:59:59", "-12:30:00", "100:00:00"],
    )
    return Type("TIME" + digits, "time", literal, bytes=6)


def _datetime(rng):
    digits, literal = _fraction(
        rng,
        [
            "1000-01-01 00:00:00",
            "9999-12-31 23:59:58",
            "2024-02-29 12:00:00",
            "2000-01-01 00:00:00",
            "2000-01-01 00:00:01",
            "1999-12-31 23:59:59",
        ],
    )
    return Type("DATETIME" + digits, "datetime", literal, zero_dates=True)


def _timestamp(rng):
    digits, literal = _fraction(
        rng,
        [
            "1970-01-01 00:00:01",
            "2038-01-19 03:14:06",
            "2001-09-09 01:46:40",
            "2000-01-01 00:00:00",
            "2000-01-01 00:00:01",
            "1999-12-31 23:59:59",
        ],
    )
    return Type("TIMESTAMP" + digits, "timestamp", literal, bytes=7, zero_dates=True)


_SMALL = ["a", "b", "A", "ab", "aa", "ba", "c", "z", "aab", "abc", "x1", "0", "9", "_", "%", "-"]
_PADS = [" ", "  ", "\t", "\x01", "\x1f", "\0", "!"]


def _word(rng, special, chars):
    """Text of at most chars characters: short pieces, so that values are close to each other, and padding at the end."""
    if rng.random() < 0.08:
        return ""
    pieces = special.split()
    word = "".join(
        rng.choice(pieces) if pieces and rng.random() < 0.35 else rng.choice(_SMALL)
        for _ in range(rng.choice([1, 1, 2, 2, 3, 4]))
    )
    if chars > 40 and rng.random() < 0.15:
        word = (rng.choice(_SMALL + pieces) * rng.choice([30, 60, 150, 300]))[: chars - 2] + rng.choice(["", "a", "b"])
    if rng.random() < 0.3:
        word += rng.choice(_PADS)
    return word[:chars]


def _collate(collation):
    return f" CHARACTER SET {collation.charset} COLLATE {collation.name}"


def _char(rng):
    collation = rng.choice(collations.WEIGHTED)
    fixed = rng.random() < 0.25
    chars = rng.choice([1, 2, 3, 5, 10, 10, 20, 60, 255]) if fixed else rng.choice([1, 2, 5, 10, 20, 20, 60, 255, 300, 700])
    return Type(
        f"{'CHAR' if fixed else 'VARCHAR'}({chars})" + _collate(collation),
        "text",
        lambda r: quote(_word(r, collation.special, chars)),
        exact=False,
        chars=chars,
        bytes=chars * collation.bytes_max,
        bytes_max=collation.bytes_max,
    )


def _text(rng):
    collation = rng.choice(collations.WEIGHTED)
    name, chars = rng.choice([("TINYTEXT", 60), ("TEXT", 1000), ("MEDIUMTEXT", 1000), ("LONGTEXT", 3000)])
    return Type(
        name + _collate(collation),
        "text",
        lambda r: quote(_word(r, collation.special, chars)),
        exact=False,
        chars=chars,
        bytes=100000,
        bytes_max=collation.bytes_max,
        blob=True,
    )


def _bytes(rng, chars):
    data = bytes(rng.choice([0, 1, 0x20, 0x41, 0x61, 0x7F, 0x80, 0xFF]) for _ in range(rng.choice([0, 1, 1, 2, 3, 4])))
    if chars > 40 and rng.random() < 0.15:
        data = data * rng.choice([20, 100, 300]) + b"\x01"
    return hexadecimal(data[:chars])


def _binary(rng):
    fixed = rng.random() < 0.3
    chars = rng.choice([1, 2, 5, 16, 60]) if fixed else rng.choice([1, 2, 5, 20, 60, 255, 700])
    return Type(
        f"{'BINARY' if fixed else 'VARBINARY'}({chars})", "binary", lambda r: _bytes(r, chars), chars=chars, bytes=chars
    )


def _blob(rng):
    name, chars = rng.choice([("TINYBLOB", 200), ("BLOB", 1000), ("MEDIUMBLOB", 1000), ("LONGBLOB", 3000)])
    return Type(name, "binary", lambda r: _bytes(r, chars), chars=chars, bytes=100000, blob=True)


def _enum(rng):
    collation = rng.choice([c for c in collations.WEIGHTED if c.bytes_max != 2])
    values = rng.choice([["a", "b", "c"], ["", "a", "b b"], ["x", "aa", "aaa", "z"]])
    listed = ",".join(quote(value) for value in values)
    if rng.random() < 0.6:
        return Type(f"ENUM({listed})" + _collate(collation), "enum", lambda r: quote(r.choice(values)), bytes=1)
    usable = [value for value in values if value]
    return Type(
        f"SET({','.join(quote(value) for value in usable)})" + _collate(collation),
        "set",
        lambda r: quote(",".join(value for value in usable if r.random() < 0.5)),
        bytes=1,
    )


def _json(_):
    values = ['{"a": 1}', '{"a":1}', "[]", "null", '"x"', "1", "[1, 2]", '{"a": {"b": "ß"}}', "[" + "1," * 150 + "1]"]
    return Type(
        "JSON",
        "json",
        lambda r: quote(r.choice(values)),
        exact=False,
        chars=1000,
        bytes=100000,
        bytes_max=4,
        blob=True,
        default=False,
    )


def _uuid(_):
    values = [
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "123e4567-e89b-12d3-a456-426655440000",
        "123e4567-e89b-42d3-a456-426655440000",
        "123e4567-e89b-12d3-a456-426655440001",
        "00000001-0000-0000-0000-000000000000",
        # Bytes that are letters and spaces in text.
        "61616161-6161-6161-6161-616161616161",
        "41414141-4141-4141-4141-414141414141",
        "20202020-2020-2020-2020-202020202020",
        "61616161-6161-6161-6161-616161612020",
    ]
    return Type("UUID", "uuid", lambda r: f"'{r.choice(values)}'", bytes=16)


def _address(rng):
    if rng.random() < 0.5:
        return Type(
            "INET4",
            "inet4",
            lambda r: r.choice(
                ["'0.0.0.0'", "'255.255.255.255'", "'1.2.3.4'", "'1.2.3.5'", "'128.0.0.1'"]
                + ["'97.0.0.32'", "'65.0.0.32'", "'97.0.0.0'", "'32.32.32.32'", "'97.65.0.0'"]
            ),
            bytes=4,
        )
    return Type(
        "INET6",
        "inet6",
        lambda r: r.choice(
            ["'::'", "'::1'", "'ffff::ffff'", "'::ffff:1.2.3.4'", "'fe80::1'", "'fe80::2'"]
            + ["'6141::2020'", "'4161::2020'", "'6141::'", "'2020::20'"]
        ),
        bytes=16,
    )


_MAKERS = [
    (_integer, 22),
    (_char, 26),
    (_text, 8),
    (_decimal, 6),
    (_floating, 5),
    (_bit, 4),
    (_year, 2),
    (_date, 4),
    (_time, 4),
    (_datetime, 5),
    (_timestamp, 5),
    (_binary, 8),
    (_blob, 5),
    (_enum, 5),
    (_json, 2),
    (_uuid, 3),
    (_address, 3),
]

INT = Type("INT", "int", lambda r: str(r.randrange(0, 50)), bytes=4)


def random_type(rng):
    makers, weights = zip(*_MAKERS)
    return rng.choices(makers, weights)[0](rng)
