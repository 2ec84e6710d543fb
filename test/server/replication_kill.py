"""A replica on TidesDB of a primary on TidesDB, under TPROC-C, with parallel appliers; both killed with -9 in turn.

The replica's position, mysql.gtid_slave_pos, is a TidesDB table. After each kill the server is started again and the
replica goes on by itself; then the load ends, the replica catches up, and all tables must have the same checksums, the
replica the primary's position, and both every transaction that a client saw committed. At the end the consistency
conditions are checked on the replica. The points are random, from the seed. Environment: see lab/tests/lab_server.py.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

from installer.server_run import free_port
from installer.shell import output
from lab.scale_out import replicas
from lab.tests import lab_server

TABLES = ["warehouse", "district", "customer", "history", "new_order", "orders", "order_line", "stock", "item"]
_COMMON = ["--log-bin=binlog", "--gtid-strict-mode=ON", "--log-slave-updates=ON",
           "--tidesdb-unified-memtable-write-buffer-size=4M"]


def checksums(server):
    return server.sql("CHECKSUM TABLE " + ", ".join(f"tpcc.{table}" for table in TABLES))


class Pair:
    """The two servers. A context that removes them at its end."""

    def __init__(self, options):
        self.primary = lab_server.LabServer(lab_server.environment(), [*_COMMON, "--server-id=1", "--binlog-format=ROW"])
        self.primary.port = free_port()
        self.replica = lab_server.LabServer(
            lab_server.environment(), [*_COMMON, "--server-id=2", f"--slave-parallel-threads={options.appliers}",
                                       f"--slave-parallel-mode={options.mode}"])
        self.retried = 0

    def __enter__(self):
        self.primary.__enter__()
        try:
            self.replica.__enter__()
            self.connect()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        self.replica.__exit__()
        self.primary.__exit__()

    def connect(self):
        for host in ("localhost", "127.0.0.1"):
            self.primary.sql(f"CREATE USER repl@{host} IDENTIFIED BY 'replica'; "
                             f"GRANT REPLICATION SLAVE ON *.* TO repl@{host}")
        self.primary.sql("RESET MASTER")
        self.replica.sql("RESET MASTER; ALTER TABLE mysql.gtid_slave_pos ENGINE=TidesDB; RESET MASTER;"
                         f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={self.primary.port}, MASTER_USER='repl',"
                         "MASTER_PASSWORD='replica', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1; START SLAVE")

    def count_retries(self):
        self.retried += int(self.replica.value("SHOW GLOBAL STATUS LIKE 'Slave_retried_transactions'").split()[1])

    def check(self, logs):
        """The problems; "" if none."""
        problems = ""
        ours, theirs = checksums(self.replica), checksums(self.primary)
        if ours != theirs:
            problems += f"replica\n{ours}\nprimary\n{theirs}\n"
        for server in (self.primary, self.replica):
            done = subprocess.run(server.tpcc("verify-log", *logs), capture_output=True, text=True, check=False)
            if done.returncode != lab_server.OK:
                problems += f"tpcc verify-log: {done.returncode}\n{done.stdout}{done.stderr}"
        return problems


def kill_under_load(pair, victim, log, options, chance):
    """Runs TPROC-C, kills the victim after some time and starts it again; the load goes on, unless the server is lost."""
    command = pair.primary.tpcc("run", "--vu", str(options.users), "--rampup", "0", "--duration", "3600", "--no-check",
                                "-q", "--seed", str(chance.randrange(1 << 30)), "--isolation", chance.choice(["rc", "rr"]),
                                "--commit-log", log)
    load = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while load.poll() is None and not (os.path.exists(log) and os.path.getsize(log)):
            time.sleep(0.01)
        time.sleep(chance.uniform(0.5, 3))
        if victim is pair.replica:
            pair.count_retries()
        victim.kill()
        victim.start()
        time.sleep(chance.uniform(0, 2))
    finally:
        load.terminate()
        load.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=2, help="of each server")
    parser.add_argument("--appliers", type=int, default=4)
    parser.add_argument("--mode", default="optimistic", help="slave_parallel_mode")
    parser.add_argument("--warehouses", type=int, default=1)
    parser.add_argument("--users", type=int, default=4)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    problems, logs = "", []
    with tempfile.TemporaryDirectory(prefix="replication-") as directory, Pair(options) as pair:
        output(pair.primary.tpcc("build", "--engine", "TidesDB", "-w", str(options.warehouses), "-q"))
        replicas.catch_up(pair.replica, pair.primary)
        for number in range(2 * options.kills):
            name, victim = ("replica", pair.replica) if number % 2 else ("primary", pair.primary)
            logs.append(os.path.join(directory, f"{number}.log"))
            kill_under_load(pair, victim, logs[-1], options, chance)
            begin = time.monotonic()
            replicas.catch_up(pair.replica, pair.primary)
            wrong = pair.check(logs)
            print(f"kill {number + 1}, of the {name}: at {pair.replica.value('SELECT @@gtid_slave_pos')} after "
                  f"{time.monotonic() - begin:.1f} s; {wrong or 'equal'}", flush=True)
            problems += wrong
        pair.count_retries()
        done = subprocess.run(pair.replica.tpcc("check"), capture_output=True, text=True, check=False)
        if done.returncode != lab_server.OK:
            problems += f"tpcc check of the replica: {done.returncode}\n{done.stdout}{done.stderr}"
    print(f"{pair.retried} transactions were tried again by appliers")
    print(problems or f"{2 * options.kills} kills: replica and primary are equal")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
