"""A primary and two replicas on TidesDB under TPROC-C; the primary is killed with -9, a replica leads, again and again.

The replicas are made by mariadb-dump while the load runs. In each round the primary ends at a random moment; the replica
that has most takes over (lab/scale_out/replicas.py), the load goes on there, and the lost server comes back as a
replica. Then all three have the same checksums, and every transaction that a client saw committed, in whatever round.
Printed: seconds without a primary. Environment: see lab/tests/lab_server.py.
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


def checksums(server):
    return server.sql("CHECKSUM TABLE " + ", ".join(f"tpcc.{table}" for table in TABLES))


class Group:
    """Three servers. A context that removes them at its end."""

    def __init__(self):
        self.servers = []
        for number in (1, 2, 3):
            server = lab_server.LabServer(lab_server.environment(), [
                *replicas.OPTIONS, f"--server-id={number}", "--tidesdb-unified-memtable-write-buffer-size=4M"])
            server.port = free_port()
            self.servers.append(server)
        self.plain = [list(server.options) for server in self.servers]
        self.primary = self.servers[0]

    def __enter__(self):
        try:
            for server in self.servers:
                server.__enter__()
                replicas.admit(server)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.__exit__()

    def others(self):
        return [server for server in self.servers if server is not self.primary]

    def start(self, server, more):
        server.options = self.plain[self.servers.index(server)] + more
        server.start()

    def fail_over(self):
        """The primary is dead: another one leads, and the old one comes back. Returns the seconds without a primary."""
        lost, begin = self.primary, time.monotonic()
        self.primary = replicas.fail_over(self.others())
        seconds = time.monotonic() - begin
        self.start(lost, replicas.COMES_BACK)
        replicas.come_back(lost, self.primary)
        return seconds

    def check(self, logs):
        """The problems once all have caught up; "" if none."""
        problems, theirs = "", checksums(self.primary)
        for server in self.servers:
            if server is not self.primary:
                replicas.catch_up(server, self.primary)
            ours = checksums(server)
            if ours != theirs:
                problems += f"server {server.options}\n{ours}\nprimary\n{theirs}\n"
            done = subprocess.run(server.tpcc("verify-log", *logs), capture_output=True, text=True, check=False)
            if logs and done.returncode != lab_server.OK:
                problems += f"tpcc verify-log: {done.returncode}\n{done.stdout}{done.stderr}"
        return problems


class Load:
    """TPROC-C on a server until the context ends; log has the acknowledged transactions."""

    def __init__(self, server, log, users, chance):
        self.log = log
        self.command = server.tpcc("run", "--vu", str(users), "--rampup", "0", "--duration", "3600", "--no-check", "-q",
                                   "--seed", str(chance.randrange(1 << 30)), "--isolation", chance.choice(["rc", "rr"]),
                                   "--commit-log", log)

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.process.poll() is None and not (os.path.exists(self.log) and os.path.getsize(self.log)):
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warehouses", type=int, default=1)
    parser.add_argument("--users", type=int, default=4)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    problems, logs = "", []
    with tempfile.TemporaryDirectory(prefix="failover-") as directory, Group() as group:
        output(group.primary.tpcc("build", "--engine", "TidesDB", "-w", str(options.warehouses), "-q"))

        def load():
            logs.append(os.path.join(directory, f"{len(logs)}.log"))
            return Load(group.primary, logs[-1], options.users, chance)

        with load():
            for server in group.others():
                replicas.clone(group.primary, server, ["tpcc"])
            replicas.lead(group.primary)
        problems += group.check(logs)
        print(f"two replicas, copied under load; {problems or 'equal'}", flush=True)
        for number in range(options.rounds):
            with load():
                time.sleep(chance.uniform(0.5, 3))
                group.primary.kill()
            seconds = group.fail_over()
            with load():
                time.sleep(chance.uniform(0, 2))
            wrong = group.check(logs)
            print(f"primary {number + 1} lost, the next one leads after {seconds:.2f} s, the lost one is back; at "
                  f"{group.primary.value('SELECT @@gtid_binlog_pos')}; {wrong or 'all three equal'}", flush=True)
            problems += wrong
        done = subprocess.run(group.primary.tpcc("check"), capture_output=True, text=True, check=False)
        if done.returncode != lab_server.OK:
            problems += f"tpcc check: {done.returncode}\n{done.stdout}{done.stderr}"
    print(problems or f"{options.rounds} primaries lost: every acknowledged transaction is on all three servers, equal")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
