#!/usr/bin/env python3
"""Kills the server with -9 in the middle of TPROC-C, again and again, and checks what it comes back with.

After each kill the server must recover by itself, the consistency conditions must hold, and every transaction
whose COMMIT a client saw acknowledged must be there; the client's log is outside of the server. The points
are random in the number of acknowledged transactions, from the seed. Environment: see lab_server.py.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab_server  # noqa: E402

_RECORD_BYTES = 25  # About the size of a log record: the log's size says how many were acknowledged.


def run_and_kill(server, options, log, isolation, acknowledged, seed):
    """Runs until so many transactions were acknowledged, then kills. Returns an error's text or ""."""
    command = server.tpcc("run", "--vu", str(options.users), "--rampup", "0", "--duration", "3600", "--isolation",
                          isolation, "--seed", str(seed), "--no-check", "-q", "--commit-log", log)
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    head = None
    while run.poll() is None:
        size = os.path.getsize(log) if os.path.exists(log) else 0
        head = size if head is None and size else head
        if head is not None and size - head >= acknowledged * _RECORD_BYTES:
            server.kill()
            break
        time.sleep(0.005)
    output = run.communicate(timeout=120)[0]
    return "" if run.returncode == lab_server.SERVER_LOST else f"the run ended with {run.returncode}\n{output}"


def check(server, logs):
    """What is wrong after a recovery; "" when nothing is. The newest log alone, then all, then the conditions."""
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
    with tempfile.TemporaryDirectory(prefix="tpcc-kill-") as files, \
            lab_server.LabServer(lab_server.environment()) as server:
        plain = [*server.options, *options.server_option]
        command = server.tpcc("build", "--engine", options.engine, "-w", str(options.warehouses), "--build-vu", "2", "-q")
        if subprocess.run(command, check=False).returncode != lab_server.OK:
            sys.exit("the build went wrong")
        logs = []
        for number in range(1, options.rounds + 1):
            sync = syncs[number % len(syncs)]
            isolation = ("rc", "rr")[number // len(syncs) % 2]
            acknowledged = random_.randint(1, options.acknowledged_max)
            server.stop()
            server.options = [*plain, *lab_server.sync_options(options.engine, sync)]
            server.start()
            logs.append(os.path.join(files, f"round-{number}.log"))
            problems = run_and_kill(server, options, logs[-1], isolation, acknowledged, options.seed + number)
            begin = time.monotonic()
            server.start()
            recovery_s = time.monotonic() - begin
            problems += check(server, logs)
            print(f"round {number}: {sync}, {isolation}, killed after about {acknowledged} acknowledged, answers "
                  f"after {recovery_s:.1f} s: {'BROKEN' if problems else 'all there'}", flush=True)
            if problems:
                print(problems, flush=True)
                failed += 1
    print(f"{options.rounds} kills, {failed} failed; seed {options.seed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
