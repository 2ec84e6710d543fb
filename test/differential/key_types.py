"""python3 -m test.differential.key_types: indexes over random values of every type that is not text.

Each type is ascending and descending, NULL and NOT NULL. An index must give the same order, equal values and ranges as a
scan; a unique key must keep the same rows as InnoDB's; CHECK TABLE must pass. Where InnoDB's index gives the same rows as
ours, the server is at fault.
"""

import argparse
import collections
import random
from pathlib import Path

import pymysql

from installer import build_plugin, host, servers
from test.differential.server import FuzzedServer

_BYTES = [0, 1, 0x20, 0x41, 0x61, 0x80, 0xFE, 0xFF]  # Edges, letters and spaces.


def _byte(rng):
    return rng.choice([*_BYTES, rng.randrange(256)])


def _number(rng):
    edges = [0, 1, -1, 2**31, -(2**31), 2**63, -(2**63), 2**64 - 1]
    return str(rng.choice([*edges, rng.randint(-300, 300), rng.randint(-(10**6), 10**6), rng.randint(-(2**63), 2**64)]))


def _decimal(rng):
    whole = rng.choice([0, rng.randint(0, 9), rng.randint(0, 10**9), rng.randint(0, 10**30)])
    return f"{rng.choice(['-', ''])}{whole}.{rng.randint(0, 10 ** rng.randint(1, 25))}"


def _floating(rng):
    edges = ["0", "-0.0", "1e-320", "-1e-320", "1.7e308", "3.4e38", "-3.4e38", "1e-40"]
    return rng.choice([*edges, f"{rng.uniform(-1, 1):.17g}", f"{rng.uniform(-1, 1) * 10 ** rng.randint(-300, 300):.17g}"])


def _clock(rng, hours):
    return f"{rng.randint(0, hours)}:{rng.randint(0, 59)}:{rng.randint(0, 59)}.{rng.randint(0, 999999):06}"


def _day(rng):
    day = f"{rng.randint(0, 9999):04}-{rng.randint(0, 12):02}-{rng.randint(0, 28):02}"
    return rng.choice(["0000-00-00", "1000-01-01", "9999-12-31", day])


def _date(rng):
    return f"'{_day(rng)}'"


def _time(rng):
    return f"'{rng.choice(['-', ''])}{_clock(rng, 838)}'"


def _datetime(rng):
    return f"'{_day(rng)} {_clock(rng, 23)}'"


def _timestamp(rng):
    moment = f"{rng.randint(1971, 2037)}-{rng.randint(1, 12)}-{rng.randint(1, 28)} {_clock(rng, 23)}"
    return f"'{rng.choice(['0000-00-00 00:00:00', moment])}'"


def _binary(rng):
    return f"x'{bytes(_byte(rng) for _ in range(rng.randint(0, 30))).hex()}'"


def _inet4(rng):
    return f"'{'.'.join(str(_byte(rng)) for _ in range(4))}'"


def _inet6(rng):
    return f"'{':'.join(f'{_byte(rng):02x}{_byte(rng):02x}' for _ in range(8))}'"


def _uuid(rng):
    digits = "".join(f"{_byte(rng):02x}" for _ in range(16))
    return f"'{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}'"


def _below(end):
    return lambda rng: str(rng.randrange(end))


def _named(letter, count):
    return ",".join(f"'{letter}{number}'" for number in range(count))


def _types():
    """Triples: the type in SQL, a function that draws a literal, and the length of a key's prefix (0: none)."""
    for name in ("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"):
        yield from ((name + more, _number, 0) for more in ("", " UNSIGNED"))
    for digits in ("65,30", "3,3", "10,0", "20,1"):
        yield f"DECIMAL({digits})", _decimal, 0
    yield from (("FLOAT(7,3)", _decimal, 0), ("DOUBLE(12,2)", _decimal, 0))
    yield from (("FLOAT", _floating, 0), ("DOUBLE", _floating, 0))
    yield from ((f"BIT({bits})", _number, 0) for bits in (1, 8, 9, 33, 64))
    yield from (("YEAR", lambda rng: str(rng.choice([0, rng.randint(1901, 2155)])), 0), ("DATE", _date, 0))
    for digits in (0, 1, 3, 6):
        yield from ((f"{name}({digits})", make, 0)
                    for name, make in (("TIME", _time), ("DATETIME", _datetime), ("TIMESTAMP", _timestamp)))
    yield from (("BINARY(3)", _binary, 0), ("BINARY(20)", _binary, 0), ("VARBINARY(30)", _binary, 0), ("BLOB", _binary, 5),
                ("VARBINARY(30)", _binary, 4), ("BINARY(20)", _binary, 3))
    yield from (("INET4", _inet4, 0), ("INET6", _inet6, 0), ("UUID", _uuid, 0))
    yield from ((f"ENUM({_named('v', 300)})", _below(301), 0), (f"SET({_named('s', 64)})", _below(2**64), 0))


class _Check:
    def __init__(self, connection, rng):
        self.cursor, self.rng = connection.cursor(), rng
        self.asked, self.wrong, self.servers = 0, 0, collections.Counter()

    def run(self, sql):
        self.cursor.execute(sql)
        return self.cursor.fetchall()

    def say(self, *what):
        self.wrong += 1
        print("wrong:", *what, flush=True)

    def one(self, kind, make, prefix, order, null):
        part = f"a{f'({prefix})' if prefix else ''} {order}"
        self.run("DROP TABLE IF EXISTS rows_ours, rows_theirs, unique_ours, unique_theirs")
        for side, engine in (("ours", "TidesDB"), ("theirs", "InnoDB")):
            column = f"a {kind} {null or 'NULL DEFAULT NULL'}"
            self.run(f"CREATE TABLE rows_{side} (id INT PRIMARY KEY, {column}, KEY k ({part})) ENGINE={engine}")
            self.run(f"CREATE TABLE unique_{side} (a {kind} NOT NULL, PRIMARY KEY ({part})) ENGINE={engine}")
        values = [make(self.rng) for _ in range(70)] + ([] if null else ["NULL", "NULL"])
        for number, value in enumerate(values):
            self.run(f"INSERT IGNORE INTO rows_ours VALUES ({number}, {value})")
        self.run("INSERT INTO rows_theirs SELECT * FROM rows_ours")
        for side in ("ours", "theirs"):
            self.run(f"INSERT IGNORE INTO unique_{side} SELECT a FROM rows_ours WHERE a IS NOT NULL ORDER BY id")
        held = [self.run(f"SELECT COUNT(*), BIT_XOR(CRC32(HEX(a))) FROM unique_{side}") for side in ("ours", "theirs")]
        if held[0] != held[1]:
            self.say(kind, part, "PRIMARY KEY", *held)
        sorted_by = [self.run(f"SELECT HEX(a) FROM rows_ours {hint} ORDER BY a {order}")
                     for hint in ("FORCE INDEX (k)", "USE INDEX ()")]
        if not prefix and sorted_by[0] != sorted_by[1]:
            self.say(kind, part, "ORDER BY")
        for value in self.rng.sample(values, 12):
            other = self.rng.choice(values)
            for condition in (f"a = {value}", f"a < {value}", f"a >= {value}", f"a BETWEEN {value} AND {other}",
                              f"a IN ({value}, {other})", f"a <=> {value}"):
                self.compare(f"{kind}, {part} {null}", condition)
        for table, _, _, said in self.run("CHECK TABLE rows_ours, unique_ours"):
            if said != "OK":
                self.say(kind, part, "CHECK TABLE", table, said)

    def compare(self, what, condition):
        self.asked += 1
        found = [self.run(f"SELECT id FROM rows_{side} {hint} WHERE {condition} ORDER BY id")
                 for side, hint in (("ours", "FORCE INDEX (k)"), ("ours", "USE INDEX ()"))]
        if found[0] == found[1]:
            return
        if self.run(f"SELECT id FROM rows_theirs FORCE INDEX (k) WHERE {condition} ORDER BY id") == found[0]:
            self.servers[what.split(",")[0]] += 1
        else:
            self.say(what, condition, len(found[0]), "rows of", len(found[1]))


def main():
    parser = argparse.ArgumentParser(prog="python3 -m test.differential.key_types", description=__doc__)
    parser.add_argument("--server", choices=list(host.CODENAMES), default=host.host_server(), help="which MariaDB")
    parser.add_argument("--plugin", type=Path, help="the plugin to load (default: build this tree's)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the values (1)")
    options = parser.parse_args()
    environment = servers.existing(options.server)
    with FuzzedServer(environment, options.plugin or build_plugin.build(environment)) as server:
        connection = pymysql.connect(unix_socket=str(server.socket), user="root", autocommit=True, charset="utf8mb4")
        check = _Check(connection, random.Random(options.seed))
        for sql in ("CREATE DATABASE d", "USE d", "SET sql_mode = 'ALLOW_INVALID_DATES'", "SET sql_notes = 0"):
            check.run(sql)
        kinds = list(_types())
        for kind, make, prefix in kinds:
            for order in ("", "DESC"):
                for null in ("", "NOT NULL"):
                    check.one(kind, make, prefix, order, null)
    print(f"wrong with InnoDB's index too: {sum(check.servers.values())} answers, {dict(check.servers)}")
    print(f"{len(kinds)} types, {check.asked} conditions, {check.wrong} wrong (--seed {options.seed})")
    return check.wrong != 0


if __name__ == "__main__":
    raise SystemExit(main())
