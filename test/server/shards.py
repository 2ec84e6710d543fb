"""TPROC-C on two shards behind a router with Spider, XA between them; a shard is killed with -9, again and again.

The router has the tables alone first, then they are spread by warehouse (lab/scale_out/shards.py). In each round one shard
ends at a random moment of the load and is started again, what it left prepared is settled by what the router wrote down,
and the load goes on. Beside TPROC-C some connections insert a number into both shards in one transaction. Then: no branch
is prepared any more, TPROC-C's conditions hold over the router, every number is on both shards or on neither, and what was
acknowledged is there. Printed: seconds from the kill until all is settled. Environment: see lab/tests/lab_server.py.
"""

import argparse
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time

from installer.server_run import free_port
from installer.shell import Failed, output
from lab.scale_out import shards
from lab.tests import lab_server

# The items stay on the router, because nothing writes them and each new order reads ten.
SPREAD = {"warehouse": "w_id", "district": "d_w_id", "customer": "c_w_id", "history": "h_w_id", "new_order": "no_w_id",
          "orders": "o_w_id", "order_line": "ol_w_id", "stock": "s_w_id", "pairs": "side"}
WRITERS = 4  # Of pairs.
STATEMENTS = 20000
GOES_ON = 20  # Transactions that must be acknowledged again after a kill.
PATIENCE_S = 120


class Cluster:
    """A router and two shards. A context that removes them at its end."""

    def __init__(self, engine):
        self.router = lab_server.LabServer(lab_server.environment(), [*shards.OPTIONS, "--server-id=1"])
        self.shards = []
        for number in (2, 3):
            host = f"127.0.0.{number}"
            shard = lab_server.LabServer(lab_server.environment(), [
                *shards.SHARD_OPTIONS, f"--{engine.lower()}-snapshot-isolation=ON", f"--bind-address={host}",
                f"--server-id={number}", "--tidesdb-unified-memtable-write-buffer-size=4M"])
            shard.host = host
            self.shards.append(shard)
        for server in self.servers():
            server.port = free_port()

    def servers(self):
        return [self.router, *self.shards]

    def __enter__(self):
        try:
            for server in self.servers():
                server.__enter__()
            shards.link(self.router, self.shards, "tpcc")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.servers():
            server.__exit__()

    def recover(self, lost):
        """A killed shard comes back, and its branches are settled. Returns these, and the seconds of both steps."""
        begin = time.monotonic()
        lost.start()
        answers = time.monotonic()
        settled = shards.settle(self.router, self.shards)
        return settled, answers - begin, time.monotonic() - answers

    def state(self):
        """Facts for finding a fault."""
        said = f"the router's transactions: {shards.transactions(self.router)}\n"
        for server in self.servers():
            work = server.sql("XA RECOVER; SHOW FULL PROCESSLIST") if server.answers() else "it is down\n"
            said += f"{'router' if server is self.router else server.host}\n{work}{server.log_tail()}\n"
        return said


class Load:
    """TPROC-C and the writers of pairs on the router, until the context ends."""

    def __init__(self, router, log, users, chance):
        self.router, self.log = router, log
        self.command = router.tpcc("run", "--vu", str(users), "--rampup", "0", "--duration", "3600", "--no-check", "-q",
                                   "--seed", str(chance.randrange(1 << 30)), "--isolation", "rr", "--commit-log", log)
        self.first = int(router.value("SELECT COALESCE(MAX(id), 0) + 1 FROM tpcc.pairs"))

    def __enter__(self):
        with contextlib.ExitStack() as files:
            said = files.enter_context(tempfile.TemporaryFile("w+"))
            self.run = subprocess.Popen(self.command, stdout=said, stderr=said)
            self.said, self.told, self.writers = said, [], []
            for first in range(self.first, self.first + WRITERS * STATEMENTS, STATEMENTS):
                given, told = (files.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2))
                given.writelines(f"BEGIN; INSERT INTO tpcc.pairs VALUES ({n}, 0), ({n}, 1); COMMIT; SELECT {n};\n"
                                 for n in range(first, first + STATEMENTS))
                given.seek(0)
                self.told.append(told)
                self.writers.append(subprocess.Popen(self.router.client("--unbuffered"), stdin=given, stdout=told,
                                                     stderr=subprocess.DEVNULL))
            self.files = files.pop_all()
        try:
            self.wait_for_more()
        except BaseException:
            self.__exit__()
            raise
        return self

    def transactions(self):
        """The number of TPROC-C's acknowledged transactions."""
        if not os.path.exists(self.log):
            return 0
        with open(self.log, "rb") as log:
            return sum(line[:1] in (b"N", b"P", b"D") for line in log)

    def wait_for_more(self):
        """Waits until transactions are acknowledged again. Raises Failed if none are."""
        wanted, deadline = self.transactions() + GOES_ON, time.monotonic() + PATIENCE_S
        while self.transactions() < wanted:
            if self.run.poll() is not None or time.monotonic() > deadline:
                self.said.seek(0)
                raise Failed(f"no transactions are acknowledged any more: tpcc run {self.run.poll()}\n{self.said.read()}")
            time.sleep(0.05)

    def __exit__(self, *_):
        for process in [self.run, *self.writers]:
            process.terminate()
            process.wait()
        self.acknowledged = set()
        for told in self.told:
            told.seek(0)
            self.acknowledged |= {int(line) for line in told.read().splitlines(keepends=True) if line.endswith("\n")}
        self.files.close()


def wait_until_idle(router):
    """The router continues a statement whose client has gone."""
    deadline = time.monotonic() + PATIENCE_S
    while router.value("SELECT COUNT(*) FROM information_schema.processlist "
                       "WHERE command <> 'Daemon' AND id <> CONNECTION_ID()") != "0":
        if time.monotonic() > deadline:
            raise Failed("the router still has connections, though no client is left")
        time.sleep(0.05)


def check(cluster, logs, acknowledged):
    """The problems once all work has ended; "" if none. acknowledged: of pairs."""
    wait_until_idle(cluster.router)
    problems = ""
    left = shards.settle(cluster.router, cluster.shards)
    if left:
        problems += f"branches were left after all was settled: {left}\n"
    shards.forget(cluster.router, cluster.shards)
    here, there = ({int(n) for n in shard.sql("SELECT id FROM tpcc.pairs").split()} for shard in cluster.shards)
    if here != there:
        problems += f"on one shard alone: {sorted(here - there)[:9]}, on the other: {sorted(there - here)[:9]}\n"
    if acknowledged - here:
        problems += f"lost though acknowledged: {sorted(acknowledged - here)[:9]}\n"
    for arguments in (["check", "--balance"], ["verify-log", *logs]):
        done = subprocess.run(cluster.router.tpcc(*arguments), capture_output=True, text=True, check=False)
        if done.returncode != lab_server.OK:
            problems += f"tpcc {arguments[0]}: {done.returncode}\n{done.stdout}{done.stderr}"
    return problems


def measure(router, users, seconds, what):
    said = output(router.tpcc("run", "--vu", str(users), "--rampup", "3", "--duration", str(seconds), "--no-check", "-q",
                              "--isolation", "rr"))
    print(f"{what}: {next(line for line in said.splitlines() if line.startswith('NOPM'))}", flush=True)


def make(cluster, options):
    """Loads the router and spreads its tables."""
    router = cluster.router
    output(router.tpcc("build", "--engine", options.engine, "-w", str(options.warehouses), "--build-vu", "2", "-q"))
    router.sql("CREATE TABLE tpcc.pairs (id INT NOT NULL, side INT NOT NULL, PRIMARY KEY (side, id)) "
               f"ENGINE={options.engine}")
    if options.measure:
        measure(router, options.users, options.measure, "one server")
    begin = time.monotonic()
    for table, column in SPREAD.items():
        shards.spread(router, cluster.shards, "tpcc", table, column)
    print(f"{options.warehouses} warehouses spread in {time.monotonic() - begin:.1f} s", flush=True)
    if options.measure:
        measure(router, options.users, options.measure, "two shards behind a router")


def kill_one(cluster, load, chance):
    """Kills a shard under the load and recovers it. Returns the load, ended, and how many branches were settled."""
    lost = chance.choice(cluster.shards)
    with load:
        time.sleep(chance.uniform(0.2, 2))
        lost.kill()
        settled, start_s, settle_s = cluster.recover(lost)
        load.wait_for_more()
    ends = [branch.end for branch in settled]
    print(f"{lost.host} killed, answers after {start_s:.1f} s, settled in {settle_s:.2f} s: {ends.count('COMMIT')} "
          f"committed, {ends.count('ROLLBACK')} rolled back", flush=True)
    return load, len(settled)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="TidesDB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warehouses", type=int, default=2)
    parser.add_argument("--users", type=int, default=4)
    parser.add_argument("--measure", type=int, default=0, metavar="SECONDS", help="TPROC-C before and after the spreading")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    problems, logs, acknowledged, in_doubt = "", [], set(), 0
    with tempfile.TemporaryDirectory(prefix="shards-") as directory, Cluster(options.engine) as cluster:
        make(cluster, options)
        for number in range(1, options.rounds + 1):
            logs.append(os.path.join(directory, f"{number}.log"))
            try:
                one, settled = kill_one(cluster, Load(cluster.router, logs[-1], options.users, chance), chance)
                acknowledged |= one.acknowledged
                in_doubt += settled
                wrong = check(cluster, logs, acknowledged)
            except Failed:
                print(cluster.state(), flush=True)
                raise
            print(f"round {number}: {len(one.acknowledged)} pairs acknowledged; {wrong or 'all whole'}", flush=True)
            if wrong:
                print(cluster.state(), flush=True)
            problems += wrong
    print(problems or f"{options.rounds} kills, {in_doubt} branches settled: all whole, the conditions hold")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
