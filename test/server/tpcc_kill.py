"""Kills the server with -9 in the middle of TPROC-C, again and again, and checks its recovery.

After each kill the server must recover by itself, the consistency conditions must hold, and every transaction
whose COMMIT a client saw acknowledged must be there; the client's log is outside of the server. The points
are random in the number of acknowledged transactions, from the seed. Environment: see lab/tests/lab_server.py.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter

from lab.tests import lab_server

_RECORD_BYTES = 25  # About the size of a log record: the log's size gives the number of acknowledged ones.


# TidesDB's background work just before a kill. Other engines lack these counters.
_WORK = {"Tidesdb_flush_count": "flushes", "Tidesdb_compaction_count": "compactions",
         "Tidesdb_immutable_memtables": "memtables being flushed", "Tidesdb_compaction_debt_bytes": "bytes to compact"}


def background_work(server):
    """{name: number} of the server since its start."""
    lines = server.sql("SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Tidesdb%'").splitlines()
    found = dict(line.split("\t") for line in lines)
    return {name: int(found[variable]) for variable, name in _WORK.items() if variable in found}


def table_files(server):
    return set(server.data.glob("#tidesdb/*.tdb"))


def wait_for_new_table_file(server, random_):
    """Waits until a flush or a compaction has begun a file, and a moment longer; has a limit."""
    known = table_files(server)
    deadline = time.monotonic() + 10
    while table_files(server) <= known and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(random_.uniform(0, 0.03))


def run_and_kill(server, options, log, isolation, acknowledged, seed, at_work):
    """Runs until that many transactions are acknowledged, then kills, with at_work during a flush or compaction.

    Returns an error's text or "", and the work.
    """
    command = server.tpcc("run", "--vu", str(options.users), "--rampup", "0", "--duration", "3600", "--isolation",
                          isolation, "--seed", str(seed), "--no-check", "-q", "--commit-log", log)
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    head = None
    work = {}
    while run.poll() is None:
        size = os.path.getsize(log) if os.path.exists(log) else 0
        head = size if head is None and size else head
        if head is not None and size - head >= acknowledged * _RECORD_BYTES:
            work = background_work(server)
            if at_work:
                wait_for_new_table_file(server, random.Random(seed))
            server.kill()
            break
        time.sleep(0.005)
    output = run.communicate(timeout=120)[0]
    if run.returncode != lab_server.SERVER_LOST:
        return f"the run ended with {run.returncode}\n{output}", work
    return "", work


def check(server, logs):
    """The problems after a recovery; "" if none. Checks the newest log alone, then all, then the conditions."""
    problems = ""
    for arguments in (["verify-log", logs[-1]], ["verify-log", *logs], ["check"]):
        done = subprocess.run(server.tpcc(*arguments), capture_output=True, text=True, check=False)
        if done.returncode != lab_server.OK:
            problems += f"tpcc {arguments[0]}: {done.returncode}\n{done.stdout}{done.stderr}"
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="TidesDB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--warehouses", type=int, default=1)
    parser.add_argument("--users", type=int, default=4)
    parser.add_argument("--sync", default="FULL,NONE", help="the rounds take turns")
    parser.add_argument("--acknowledged-max", type=int, default=5000, help="transactions before a kill")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--server-option", action="append", default=[], metavar="--OPTION=VALUE")
    options = parser.parse_args()
    random_ = random.Random(options.seed)
    syncs = options.sync.split(",")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tpcc-kill-") as logs_directory, \
            lab_server.LabServer(lab_server.environment()) as server:
        plain = [*server.options, *options.server_option]
        command = server.tpcc("build", "--engine", options.engine, "-w", str(options.warehouses), "--build-vu", "2", "-q")
        if subprocess.run(command, check=False).returncode != lab_server.OK:
            sys.exit("the build went wrong")
        logs = []
        rounds_with = Counter()
        for number in range(1, options.rounds + 1):
            sync = syncs[number % len(syncs)]
            isolation = ("rc", "rr")[number // len(syncs) % 2]
            acknowledged = random_.randint(1, options.acknowledged_max)
            server.stop()
            server.options = [*plain, *lab_server.sync_options(options.engine, sync)]
            server.start()
            logs.append(os.path.join(logs_directory, f"round-{number}.log"))
            # Every other time in the middle of background work, in any sync mode and level.
            at_work = options.engine == "TidesDB" and number // (2 * len(syncs)) % 2 == 0
            problems, work = run_and_kill(server, options, logs[-1], isolation, acknowledged, options.seed + number,
                                          at_work)
            begin = time.monotonic()
            files = table_files(server)
            server.start()
            recovery_s = time.monotonic() - begin
            if options.engine == "TidesDB":
                # A file that no manifest names: unfinished, or no longer needed.
                work["table files without a record"] = len(files - table_files(server))
            problems += check(server, logs)
            done = "".join(f", {count} {name}" for name, count in work.items())
            print(f"round {number}: {sync}, {isolation}, killed after about {acknowledged} acknowledged{done}; answers "
                  f"after {recovery_s:.1f} s: {'BROKEN' if problems else 'all there'}", flush=True)
            for name, count in work.items():
                rounds_with[name] += count > 0
            if problems:
                print(problems, flush=True)
                failed += 1
    print("".join(f"rounds with {name}: {count}\n" for name, count in rounds_with.items()), end="")
    print(f"{options.rounds} kills, {failed} failed; seed {options.seed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
