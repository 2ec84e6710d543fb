"""Two connections increment one row, each statement by itself: no update may be lost.

For both isolation levels, with row locks on and off: the row ends at the number of statements less the errors that
the clients saw. With row locks on there are no errors; with row locks off they are 1213.
Environment: see lab/tests/lab_server.py.
"""

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from collections import Counter

from lab.tests import lab_server

CONNECTIONS = 2


def count_up(server, level, statements):
    """The errors that all clients saw, by code."""
    script = (f"SET SESSION TRANSACTION ISOLATION LEVEL {level};\n" +
              "UPDATE test.counter SET v = v + 1;\n" * statements)
    # Files, not pipes: pipes would feed the clients one after the other, and block one whose errors nobody reads.
    with contextlib.ExitStack() as files:
        clients = []
        for _ in range(CONNECTIONS):
            given, said = (files.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2))
            given.write(script)
            given.seek(0)
            client = subprocess.Popen(server.reading_client("--force"), stdin=given, stdout=subprocess.DEVNULL,
                                      stderr=said)
            clients.append((client, said))
        errors = Counter()
        for client, said in clients:
            client.wait()
            said.seek(0)
            errors.update(lab_server.error_codes(client.returncode, said.read()))
    return errors


def check(server, level, locks, statements):
    """The problems; "" if none."""
    server.sql(f"SET GLOBAL tidesdb_pessimistic_locking = {locks}; UPDATE test.counter SET v = 0")
    begin = time.monotonic()
    errors = count_up(server, level, statements)
    seconds = time.monotonic() - begin
    counted = int(server.value("SELECT v FROM test.counter"))
    expected = CONNECTIONS * statements - sum(errors.values())
    print(f"{level}, row locks {locks}: {counted} counted, errors {dict(errors)}, {seconds:.1f} s", flush=True)
    if counted != expected:
        return f"{level}, row locks {locks}: {counted} counted, {expected} expected\n"
    if locks == "ON" and errors or set(errors) - {1213}:
        return f"{level}, row locks {locks}: errors that may not be: {dict(errors)}\n"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statements", type=int, default=10000, help="of each connection")
    parser.add_argument("--sync", default="NONE")
    options = parser.parse_args()
    problems = ""
    more = lab_server.sync_options("TidesDB", options.sync)
    with lab_server.LabServer(lab_server.environment(), more) as server:
        server.sql("CREATE DATABASE IF NOT EXISTS test; CREATE TABLE test.counter (v INT NOT NULL) ENGINE=TidesDB;"
                   "INSERT INTO test.counter VALUES (0)")
        for level in ("READ COMMITTED", "REPEATABLE READ"):
            for locks in ("ON", "OFF"):
                problems += check(server, level, locks, options.statements)
    print(problems or f"4 rounds of {CONNECTIONS * options.statements} statements: nothing is lost")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
