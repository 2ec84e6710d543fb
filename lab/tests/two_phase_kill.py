#!/usr/bin/env python3
"""kill -9 in the middle of commits over the binary log, InnoDB and TidesDB: afterwards all three agree.

Some connections insert one number after the other into a table of either engine, in one transaction; another prepares
branches by XA, each from a connection of its own, and ends some of them. The server is killed at a random moment. Then:
both tables have the same numbers; the binary log has exactly these; every number that a client was told of is there;
every branch that was prepared and not ended is prepared, its row locked, and rolls back. Half of the rounds sync each
commit. All have the binary log: without it the server, 10.11.18 and 11.8.6, rolls back after a crash whatever is
prepared, also where another engine has committed (handler.cc, xarecover_handlerton: the list from tc.log is not used).
Environment: see lab_server.py.
"""

import argparse
import contextlib
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab_server  # noqa: E402
from installer.shell import Failed, output  # noqa: E402

CONNECTIONS = 6
STATEMENTS = 20000
TABLES = ("CREATE DATABASE test2; CREATE TABLE test2.t (id INT PRIMARY KEY) ENGINE=TidesDB;"
          "CREATE TABLE test2.i (id INT PRIMARY KEY) ENGINE=InnoDB;"
          "CREATE TABLE test2.x (id INT PRIMARY KEY) ENGINE=TidesDB")


def options_of(synced):
    options = lab_server.sync_options("TidesDB", "FULL" if synced else "NONE")
    if synced:
        options = options + ["--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1"]
    # Files so small that the server asks for what is durable, too.
    return options + ["--log-bin=log", "--binlog-format=ROW", "--max-binlog-size=64K"]


def inserts(first):
    for n in range(first, first + STATEMENTS):
        yield f"BEGIN; INSERT INTO test2.t VALUES ({n}); INSERT INTO test2.i VALUES ({n}); COMMIT; SELECT {n};\n"


class Branches(threading.Thread):
    """Prepares branches and ends two of three, until the server is gone."""

    def __init__(self, server):
        super().__init__()
        self.server = server
        self.open = set()     # Acknowledged as prepared, and not asked to end.
        self.unsure = set()

    def run(self):
        with contextlib.suppress(Failed):
            for n in range(STATEMENTS):
                self.unsure.add(n)
                self.server.sql(f"XA START 'x{n}'; INSERT INTO test2.x VALUES ({n}); XA END 'x{n}'; XA PREPARE 'x{n}'")
                if n % 3 == 0:
                    self.open.add(n)
                    self.unsure.remove(n)
                    continue
                # The branch can be ended by another connection once its own is gone from the server.
                end = "COMMIT" if n % 3 == 1 else "ROLLBACK"
                errors = [1397]
                while errors == [1397]:
                    errors = self.server.errors_of(f"XA {end} 'x{n}';")
                if errors:
                    return
                self.unsure.remove(n)


def told(files):
    numbers = set()
    for file in files:
        file.seek(0)
        numbers.update(int(line) for line in file.read().splitlines(keepends=True) if line.endswith("\n"))
    return numbers


def logged(server):
    """The numbers of test2.t in the binary log."""
    files = sorted(path for path in server.data.glob("log.*") if path.suffix[1:].isdigit())
    text = output(server.inside([server.tool("mariadb-binlog"), "--no-defaults", "--base64-output=DECODE-ROWS",
                                 "--verbose", *files]))
    return [int(n) for n in re.findall(r"### INSERT INTO `test2`\.`t`\n### SET\n###   @1=(\d+)", text)]


def numbers(server, table):
    return {int(line) for line in server.sql(f"SELECT id FROM test2.{table}").split()}


def prepared(server):
    return {int(n) for n in re.findall(r"x(\d+)$", server.sql("XA RECOVER"), re.M)}


def check(server, acknowledged, branches):
    """What is wrong; "" when nothing is."""
    problems = ""
    ours, theirs = numbers(server, "t"), numbers(server, "i")
    if ours != theirs:
        problems += f"TidesDB alone has {sorted(ours - theirs)[:9]}, InnoDB alone has {sorted(theirs - ours)[:9]}\n"
    if acknowledged - ours:
        problems += f"lost though acknowledged: {sorted(acknowledged - ours)[:9]}\n"
    events = logged(server)
    if len(events) != len(set(events)) or set(events) != ours:
        problems += (f"the binary log alone has {sorted(set(events) - ours)[:9]}, the tables alone have "
                     f"{sorted(ours - set(events))[:9]}\n")
    found = prepared(server)
    if branches.open - found or found - branches.open - branches.unsure:
        problems += (f"branches lost: {sorted(branches.open - found)[:9]}, "
                     f"found though ended: {sorted(found - branches.open - branches.unsure)[:9]}\n")
    for n in sorted(found):
        if server.errors_of(f"SET tidesdb_lock_wait_timeout_ms = 1; INSERT INTO test2.x VALUES ({n});") != [1205]:
            problems += f"the row of branch {n} is not locked\n"
        server.sql(f"XA ROLLBACK 'x{n}'")
    return problems


def life(server, seconds):
    """One kill: returns what is wrong, and how many numbers were acknowledged."""
    with contextlib.ExitStack() as files:
        said, clients = [], []
        first = int(server.value("SELECT COALESCE(MAX(id), 0) + 1 FROM test2.t"))
        for i in range(CONNECTIONS):
            given, out = (files.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2))
            given.writelines(inserts(first + i * STATEMENTS))
            given.seek(0)
            said.append(out)
            clients.append(subprocess.Popen(server.client("--unbuffered"), stdin=given, stdout=out,
                                            stderr=subprocess.DEVNULL))
        branches = Branches(server)
        branches.start()
        time.sleep(seconds)
        server.kill()
        for client in clients:
            client.wait()
        branches.join()
        acknowledged = told(said)
    server.start()
    return check(server, acknowledged, branches), len(acknowledged)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    problems = ""
    total = 0
    for i, synced in enumerate((True, False)):
        with lab_server.LabServer(lab_server.environment(), options_of(synced)) as server:
            server.sql(TABLES)
            for n in range(i, options.rounds, 2):
                wrong, acknowledged = life(server, chance.uniform(0.3, 3))
                total += acknowledged
                print(f"round {n}, {'synced' if synced else 'not synced'}: {acknowledged} acknowledged; "
                      f"{wrong or 'all agree'}", flush=True)
                problems += wrong
            damaged = [line for line in server.sql("CHECK TABLE test2.t, test2.i, test2.x").splitlines()
                       if not line.endswith("OK")]
            problems += "".join(line + "\n" for line in damaged)
    if total == 0:
        problems += "nothing was ever acknowledged\n"
    print(problems or f"{options.rounds} kills, {total} acknowledged transactions: engines and logs agree")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
