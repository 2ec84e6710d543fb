"""A statement on a million rows is rolled back, alone or with its transaction, within the memory budget.

The table has three secondary indexes; the server's resident memory is at most MEMORY_OVER_MIB above what it is with
the engine idle, at every moment (VmHWM). Environment: see lab/tests/lab_server.py.
"""

import argparse
import re
import sys
import time
from pathlib import Path

from lab.tests import lab_server

MEMORY_OVER_MIB = 280
OPTIONS = ["--tidesdb-block-cache-size=64M", "--tidesdb-unified-memtable-write-buffer-size=64M",
            "--tidesdb-max-memory-usage=256M"]

TABLE = """
CREATE TABLE test.t (id INT PRIMARY KEY, a INT NOT NULL, b VARCHAR(40) NOT NULL, c BIGINT NOT NULL, d CHAR(20) NOT NULL,
                     KEY (a), KEY (b), KEY (c, d)) ENGINE=TidesDB;
INSERT INTO t SELECT -seq, seq, CONCAT('kept ', seq), seq, 'kept' FROM seq_1_to_1000
"""
INSERT = """
INSERT INTO t SELECT seq, (seq * 7919) % {rows}, CONCAT('row ', MD5(seq)), seq * 31 % 1000003, CONCAT('d', seq % 100)
FROM seq_1_to_{rows}
"""


def memory_mib(server, name):
    """VmRSS or VmHWM of the server."""
    status = Path(f"/proc/{server.pid()}/status").read_text(encoding="ascii")
    return int(re.search(rf"^{name}:\s+(\d+) kB", status, re.M).group(1)) / 1024


def state(server):
    """The contents of the table and each of its indexes."""
    sums = "COUNT(*), COALESCE(SUM(id), 0), COALESCE(SUM(CRC32(CONCAT(a, b, c, d))), 0)"
    by_index = [f"SELECT COUNT(*), {what} FROM test.t FORCE INDEX ({index})"
                for index, what in (("a", "SUM(a)"), ("b", "SUM(CRC32(b))"), ("c", "SUM(CRC32(CONCAT(c, d)))"))]
    return server.sql(";".join([f"SELECT {sums} FROM test.t", *by_index])) + server.sql("CHECK TABLE test.t EXTENDED")


class Rounds:
    def __init__(self, server):
        self.server = server
        self.idle = memory_mib(server, "VmRSS")
        self.problems = ""

    def round(self, name, statements, expected_errors):
        """Runs statements in one session that goes on after errors; afterwards the table must be as before."""
        before = state(self.server)
        begin = time.monotonic()
        errors = self.server.errors_of(statements)
        seconds = time.monotonic() - begin
        after = state(self.server)
        over = memory_mib(self.server, "VmHWM") - self.idle
        print(f"{name}: {seconds:.1f} s, resident memory at most {over:.0f} MiB over {self.idle:.0f} MiB", flush=True)
        if errors != expected_errors:
            self.problems += f"{name}: errors {expected_errors} expected, found {errors}\n"
        if after != before:
            self.problems += f"{name}: the table was\n{before}and is\n{after}"
        if over > MEMORY_OVER_MIB:
            self.problems += f"{name}: {over:.0f} MiB over the idle server, {MEMORY_OVER_MIB} allowed\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000000)
    options = parser.parse_args()
    more = [*OPTIONS, *lab_server.sync_options("TidesDB", "FULL")]
    with lab_server.LabServer(lab_server.environment(), more) as server:
        server.sql("CREATE DATABASE IF NOT EXISTS test; USE test;" + TABLE)
        rounds = Rounds(server)
        insert = INSERT.format(rows=options.rows)
        rounds.round("rollback", f"USE test; BEGIN; {insert}; ROLLBACK;", [])
        # The last row exists already: only the statement is rolled back, and the transaction goes on.
        server.sql(f"INSERT INTO test.t VALUES ({options.rows}, 1, 'in the way', 1, 'x');"
                   "CREATE TABLE test.kept (id INT PRIMARY KEY) ENGINE=TidesDB")
        rounds.round("duplicate key at the last row", "USE test; BEGIN; INSERT INTO kept VALUES (1);" + insert +
                     "; INSERT INTO kept VALUES (2); COMMIT;", [1062])
        kept = server.sql("SELECT id FROM test.kept ORDER BY id").split()
        if kept != ["1", "2"]:
            rounds.problems += f"the transaction kept {kept}, not what it did before and after its failed statement\n"
        print(rounds.problems or "the table is as before, and the memory was kept")
        return 1 if rounds.problems else 0


if __name__ == "__main__":
    sys.exit(main())
