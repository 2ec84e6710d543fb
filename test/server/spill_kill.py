"""kill -9 in the middle of a statement whose write set has spilled to disk: afterwards all of it exists, or nothing.

Half of the rounds kill when a chosen number of spill files is there, half at a chosen share of the statement's time, its
commit among them, and one more when the client has just seen it succeed. Then: the table and each of its indexes as
before or with every row; with every row when the client saw the statement succeed; no spill file is left.
Environment: see lab/tests/lab_server.py.
"""

import argparse
import random
import subprocess
import sys
import time

from lab.tests import lab_server
from test.server import rollback


def spill_files(server):
    return list((server.data / "#tidesdb").glob("*.spill"))


class Kills:
    def __init__(self, server, rows):
        self.server = server
        self.insert = "USE test;" + rollback.INSERT.format(rows=rows)
        self.outcomes = {"before": 0, "whole": 0}
        server.sql("CREATE DATABASE IF NOT EXISTS test; USE test;" + rollback.TABLE)
        self.before = rollback.state(server)
        begin = time.monotonic()
        server.sql(self.insert)
        self.seconds = time.monotonic() - begin
        self.whole = rollback.state(server)
        self.make_new()

    def make_new(self):
        self.server.sql("DROP TABLE test.t; USE test;" + rollback.TABLE)

    def round(self, name, is_time):
        """is_time(seconds since the statement's start) says when to kill. Returns the problems, or ""."""
        begin = time.monotonic()
        client = subprocess.Popen(self.server.client_command(self.insert), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        while client.poll() is None and not is_time(time.monotonic() - begin):
            time.sleep(0.002)
        seconds = time.monotonic() - begin
        ended = client.poll()
        spilled = len(spill_files(self.server))
        self.server.kill()
        acknowledged = client.wait() == 0
        self.server.start()
        left = spill_files(self.server)
        found = rollback.state(self.server)
        outcome = {self.before: "before", self.whole: "whole"}.get(found)
        print(f"{name}: killed after {seconds:.2f} s with {spilled} spill files, statement "
              f"{'acknowledged' if acknowledged else 'not acknowledged'}; the table is as {outcome}", flush=True)
        if ended not in (None, 0):
            return f"{name}: the statement failed before the kill, with exit code {ended} of the client\n"
        if outcome is None:
            return f"{name}: a part of the statement is there:\n{found}"
        if acknowledged and outcome != "whole":
            return f"{name}: the client saw the statement succeed, and it is not there\n"
        if left:
            return f"{name}: spill files are left after recovery: {', '.join(p.name for p in left)}\n"
        self.outcomes[outcome] += 1
        if outcome == "whole":
            self.make_new()
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300000)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    more = [*rollback.OPTIONS, *lab_server.sync_options("TidesDB", "FULL")]
    problems = ""
    with lab_server.LabServer(lab_server.environment(), more) as server:
        kills = Kills(server, options.rows)
        spilled = int(server.sql("SHOW GLOBAL STATUS LIKE 'tidesdb_spills'").split()[1])
        if spilled == 0:
            problems = "no statement spilled: more --rows are needed\n"
        for number in range(1, options.rounds + 1):
            if number % 2 == 1:
                files = chance.randint(1, spilled)
                problems += kills.round(f"round {number}, at {files} spill files",
                                        lambda _, wanted=files: len(spill_files(server)) >= wanted)
            else:
                # The commit merges the runs, in the last part of the time.
                wanted = kills.seconds * chance.uniform(0.7, 1.15)
                problems += kills.round(f"round {number}, at {wanted:.2f} of {kills.seconds:.2f} s",
                                        lambda now, wanted=wanted: now >= wanted)
        problems += kills.round("at its end", lambda _: False)
        if kills.outcomes["whole"] == 0:
            problems += "no round ended with the whole statement\n"
        print(problems or f"{options.rounds + 1} kills: {kills.outcomes['before']} times nothing, "
                          f"{kills.outcomes['whole']} times all of the statement")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
