"""kill -9 in the middle of DDL: afterwards every table exists once and complete, for the server and for the engine.

A client runs CREATE, ALTER, RENAME, TRUNCATE, DROP and changes of partitions in a random order; the server is killed at a
random moment and started again. Then the tables that no statement drops have all their rows, CHECK TABLE
finds every table correct, and the engine has the same tables as the server and no other column families.
Environment: see lab/tests/lab_server.py.
"""

import argparse
import random
import re
import subprocess
import sys
import time

from lab.tests import lab_server

# Tables that are never dropped: name, number of rows; v is 1 to that number.
KEPT = {"kept": 2000, "parts": 300, "ranges": 600, "large": 20000, "texts": 300}
# Two that change places, and a table and a partition that do: which name has which rows, as (COUNT, SUM(v)).
PAIRS = {("one", "two"): [(150, 11325), (400, 80200)], ("swap PARTITION (p0)", "swapped"): [(120, 7260), (250, 31375)]}
CREATE = """
CREATE TABLE kept (id INT PRIMARY KEY, v INT, g INT AS (v * 2) VIRTUAL, KEY (v)) ENGINE=TidesDB;
INSERT INTO kept (id, v) SELECT seq, seq FROM seq_1_to_2000;
CREATE TABLE parts (id INT PRIMARY KEY, v INT) ENGINE=TidesDB PARTITION BY HASH (id) PARTITIONS 3;
INSERT INTO parts SELECT seq, seq FROM seq_1_to_300;
CREATE TABLE ranges (id INT PRIMARY KEY, v INT) ENGINE=TidesDB
  PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (200), PARTITION p1 VALUES LESS THAN (400),
                           PARTITION p2 VALUES LESS THAN MAXVALUE);
INSERT INTO ranges SELECT seq, seq FROM seq_1_to_600;
CREATE TABLE large (id INT PRIMARY KEY, v INT, b VARCHAR(100)) ENGINE=TidesDB;
INSERT INTO large SELECT seq, seq, REPEAT(MD5(seq), 3) FROM seq_1_to_20000;
CREATE TABLE bulk LIKE large;
CREATE TABLE texts (id INT PRIMARY KEY, v INT, k INT, h INT UNSIGNED, b LONGTEXT) ENGINE=TidesDB;
INSERT INTO texts SELECT seq, seq, 0, CRC32(REPEAT(MD5(seq), 200)), REPEAT(MD5(seq), 200) FROM seq_1_to_300;
CREATE TABLE one (id INT PRIMARY KEY, v INT, KEY (v)) ENGINE=TidesDB;
INSERT INTO one SELECT seq, seq FROM seq_1_to_150;
CREATE TABLE two (id INT PRIMARY KEY, v INT) ENGINE=TidesDB;
INSERT INTO two SELECT seq, seq FROM seq_1_to_400;
CREATE TABLE swap (id INT PRIMARY KEY, v INT, c INT) ENGINE=TidesDB
  PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (1000));
CREATE TABLE swapped (id INT PRIMARY KEY, v INT, c INT) ENGINE=TidesDB;
INSERT INTO swap SELECT seq, seq, 1 FROM seq_1_to_120;
INSERT INTO swapped SELECT seq, seq, 2 FROM seq_1_to_250;
"""
STATEMENTS = [
    "ALTER TABLE kept ADD COLUMN IF NOT EXISTS c{n} INT DEFAULT {n}", "ALTER TABLE kept DROP COLUMN IF EXISTS c{n}",
    "ALTER TABLE kept ADD INDEX IF NOT EXISTS i{n} (v, id)", "ALTER TABLE kept DROP INDEX IF EXISTS i{n}",
    "ALTER TABLE kept ADD COLUMN IF NOT EXISTS e{n} INT DEFAULT {n}, ADD INDEX IF NOT EXISTS e{n} (e{n}, v)",
    "ALTER TABLE kept DROP INDEX IF EXISTS e{n}, DROP COLUMN IF EXISTS e{n}, ADD INDEX IF NOT EXISTS i{n} (v)",
    "ALTER TABLE kept ADD INDEX IF NOT EXISTS g{n} (g, v), LOCK=NONE", "ALTER TABLE kept DROP INDEX IF EXISTS g{n}",
    "ALTER TABLE kept FORCE", "ALTER TABLE kept AUTO_INCREMENT = 7{n}", "RENAME TABLE kept TO other, other TO kept",
    "RENAME TABLE one TO between, two TO one, between TO two",
    "ALTER TABLE swap EXCHANGE PARTITION p0 WITH TABLE swapped",
    "ALTER TABLE swap DROP COLUMN c, ADD COLUMN c INT DEFAULT {n}",
    "ALTER TABLE swapped DROP COLUMN c, ADD COLUMN c INT DEFAULT 7",
    "ALTER TABLE swap ADD PARTITION IF NOT EXISTS (PARTITION p1 VALUES LESS THAN MAXVALUE)",
    "INSERT IGNORE INTO swap SELECT id + 1000, v, 0 FROM large", "ALTER TABLE swap TRUNCATE PARTITION p1",
    "ALTER TABLE swap DROP PARTITION IF EXISTS p1",
    "ALTER TABLE parts ADD PARTITION PARTITIONS 1", "ALTER TABLE parts COALESCE PARTITION 1",
    "ALTER TABLE parts REBUILD PARTITION ALL", "ALTER TABLE parts ADD INDEX IF NOT EXISTS p{n} (v)",
    "ALTER TABLE parts DROP INDEX IF EXISTS p{n}, ADD COLUMN IF NOT EXISTS c{n} INT",
    "ALTER TABLE parts DROP COLUMN IF EXISTS c{n}",
    "ALTER TABLE ranges REORGANIZE PARTITION p0, p1 INTO (PARTITION q VALUES LESS THAN (400))",
    "ALTER TABLE ranges REORGANIZE PARTITION q INTO "
    "(PARTITION p0 VALUES LESS THAN (200), PARTITION p1 VALUES LESS THAN (400))",
    "ALTER TABLE ranges ADD UNIQUE IF NOT EXISTS u{n} (v, id)", "ALTER TABLE ranges DROP INDEX IF EXISTS u{n}",
    "ALTER TABLE large ADD INDEX IF NOT EXISTS l{n} (b, v)", "ALTER TABLE large DROP INDEX IF EXISTS l{n}",
    "ALTER TABLE large ADD UNIQUE IF NOT EXISTS u{n} (v), ADD INDEX IF NOT EXISTS m{n} (v, b)",
    "ALTER TABLE large DROP INDEX IF EXISTS u{n}, DROP INDEX IF EXISTS m{n}", "ALTER TABLE large FORCE, ALGORITHM=COPY",
    "REPLACE INTO bulk (id, v, b) SELECT id, v, b FROM large", "TRUNCATE TABLE bulk", "DELETE FROM bulk",
    "TRUNCATE TABLE bulk; INSERT INTO bulk SELECT id, v, b FROM large ORDER BY b", "OPTIMIZE TABLE large",
    "TRUNCATE TABLE bulk; LOAD DATA INFILE 'large.txt' INTO TABLE bulk",
    "UPDATE texts SET b = REPEAT(MD5(v + {n}), 200), h = CRC32(b) WHERE id % 4 = {n}", "UPDATE texts SET k = k + 1",
    "REPLACE INTO texts (id, v, k, h, b) SELECT id, v, k, h, b FROM texts WHERE id % 4 = {n}",
    "ALTER TABLE texts ADD COLUMN IF NOT EXISTS d{n} TEXT DEFAULT 'd' FIRST", "UPDATE texts SET d{n} = REPEAT('d', 5000)",
    "ALTER TABLE texts ADD COLUMN IF NOT EXISTS w{n} TEXT AS (LEFT(b, 20)) VIRTUAL, ADD INDEX IF NOT EXISTS w{n} (w{n}(9))",
    "ALTER TABLE texts DROP INDEX IF EXISTS w{n}, DROP COLUMN IF EXISTS w{n}",
    "ALTER TABLE texts DROP COLUMN IF EXISTS d{n}", "ALTER TABLE texts ADD INDEX IF NOT EXISTS b{n} (b(40))",
    "ALTER TABLE texts DROP INDEX IF EXISTS b{n}", "ALTER TABLE texts FORCE, ALGORITHM=COPY",
    "CREATE TABLE IF NOT EXISTS t{n} (a INT PRIMARY KEY, b TEXT) ENGINE=TidesDB",
    "INSERT IGNORE INTO t{n} (a) VALUES (1), (2)",
    "CREATE OR REPLACE TABLE t{n} ENGINE=TidesDB SELECT id AS a FROM kept LIMIT 100", "TRUNCATE TABLE t{n}",
    "ALTER TABLE t{n} RENAME TO r{n}", "DROP TABLE IF EXISTS t{n}", "DROP TABLE IF EXISTS r{n}",
]
STATEMENTS_A_ROUND = 5000  # More than fit into a round.


def tables_of_server(server):
    return set(server.sql("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'test'").split())


def partitions_of_server(server):
    """Tables and partitions, by the engine's names."""
    return set(server.sql("SELECT CONCAT_WS('#P#', TABLE_NAME, PARTITION_NAME) FROM information_schema.PARTITIONS"
                          " WHERE TABLE_SCHEMA = 'test'").split())


def problems_of_engine(server, tables):
    """Tables or column families that only the engine or only the server has."""
    status = server.sql("SHOW ENGINE TIDESDB STATUS").replace("\\n", "\n")
    known = re.findall(r"^test/(\S+): family \d+, .* (\d+) indexes", status, re.M)
    names = {name for name, _ in known}
    wanted = 1 + sum(1 + int(indexes) for _, indexes in known)  # One belongs to the plugin.
    wanted += int(server.sql("SELECT COUNT(*) FROM information_schema.TIDESDB_FAMILIES WHERE INDEX_NAME = '#values'"))
    families = int(re.search(r" in (\d+) families", status).group(1))
    problems = ""
    if names != tables:
        problems += f"only the server has {sorted(tables - names)}, only the engine {sorted(names - tables)}\n"
    if families != wanted:
        problems += f"the engine has {families} column families, its tables {wanted}\n"
    return problems


def problems_of(server):
    tables = tables_of_server(server)
    problems = problems_of_engine(server, partitions_of_server(server))
    for table in sorted(tables):
        said = server.sql(f"CHECK TABLE test.{table}")
        if not said.strip().endswith("OK"):
            problems += f"CHECK TABLE {table}: {said}"
    for table, rows in KEPT.items():
        found = server.sql(f"SELECT COUNT(*), SUM(v) FROM test.{table}").split()
        if found != [str(rows), str(rows * (rows + 1) // 2)]:
            problems += f"{table} has not its {rows} rows: {found}\n"
    for pair, wanted in PAIRS.items():
        found = [tuple(map(int, server.sql(f"USE test; SELECT COUNT(*), SUM(v) FROM {name}").split())) for name in pair]
        if sorted(found) != wanted:
            problems += f"{' and '.join(pair)} have not their rows: {found}\n"
    torn = server.sql("SELECT COUNT(*) FROM test.texts WHERE h <> CRC32(b)").strip()
    if torn != "0":
        problems += f"{torn} rows of texts have another row's value, or another version's\n"
    rows = server.sql("SELECT COUNT(*) FROM test.bulk").strip()
    if rows not in ("0", str(KEPT["large"])):
        problems += f"bulk has a statement in part: {rows} rows\n"
    return problems


def kill_round(server, chance):
    """Returns how many statements came to their end before the kill, and what is wrong afterwards."""
    statements = [chance.choice(STATEMENTS).format(n=chance.randrange(4)) for _ in range(STATEMENTS_A_ROUND)]
    before = int(server.sql("SHOW GLOBAL STATUS LIKE 'Questions'").split()[1])
    script = server.directory / "statements.sql"
    script.write_text(";\n".join(statements) + ";\n")
    with open(script) as statements_in:
        client = subprocess.Popen(server.reading_client("--force", "test"), stdin=statements_in,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(chance.uniform(0.05, 1.5))
    done = int(server.sql("SHOW GLOBAL STATUS LIKE 'Questions'").split()[1]) - before
    server.kill()
    client.wait()
    server.start()
    return done, problems_of(server)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    chance = random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    where = lab_server.environment()
    if where is None:
        sys.exit("no server: set TIDESDB_SERVER (see python3 -m installer servers --help)")
    with lab_server.LabServer(where, lab_server.sync_options("TidesDB", "NONE")) as server:
        server.sql("CREATE DATABASE IF NOT EXISTS test; USE test;" + CREATE +
                   "SELECT id, v, b FROM large INTO OUTFILE 'large.txt';")
        for number in range(options.rounds):
            done, problems = kill_round(server, chance)
            print(f"round {number}: killed after {done} statements; {problems or 'all is there, once'}", flush=True)
            if problems:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
