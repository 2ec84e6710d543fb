"""Runs TPROC-C with every combination of sync mode, isolation and users; each must be consistent.

A run may have only the errors 1213, 1205 and 1020. Environment: see lab/tests/lab_server.py.
"""

import argparse
import itertools
import subprocess
import sys
import time

from lab.tests import lab_server


def build(server, options):
    command = server.tpcc("build", "--engine", options.engine, "-w", str(options.warehouses), "--build-vu", "2", "-q")
    if subprocess.run(command, check=False).returncode != lab_server.OK:
        sys.exit("the build went wrong")
    if subprocess.run(server.tpcc("check", "--after-load"), check=False).returncode != lab_server.OK:
        sys.exit("the load is inconsistent")


def run_one(server, options, isolation, users, seed):
    """One run; prints its whole output if it fails. Returns whether it passed."""
    command = server.tpcc("run", "--vu", str(users), "--rampup", "1", "--duration", str(options.duration),
                          "--isolation", isolation, "--seed", str(seed), "-q")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wanted = [line for line in done.stdout.splitlines() if line.startswith(("NOPM", "errors:"))]
    print("    " + "\n    ".join(wanted) + f"\n    exit code {done.returncode}", flush=True)
    if done.returncode != lab_server.OK:
        print(done.stdout + done.stderr, flush=True)
    return done.returncode == lab_server.OK


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="TidesDB")
    parser.add_argument("--warehouses", type=int, default=2)
    parser.add_argument("--users", default="1,4,8")
    parser.add_argument("--isolation", default="rc,rr")
    parser.add_argument("--sync", default="FULL,NONE")
    parser.add_argument("--duration", type=int, default=10, help="seconds of each run")
    parser.add_argument("--server-option", action="append", default=[], metavar="--OPTION=VALUE")
    options = parser.parse_args()
    failed = []
    begin = time.monotonic()
    for sync in options.sync.split(","):
        more = [*lab_server.sync_options(options.engine, sync), *options.server_option]
        with lab_server.LabServer(lab_server.environment(), more) as server:
            print(f"{options.engine}, {sync}: loading {options.warehouses} warehouses", flush=True)
            build(server, options)
            runs = itertools.product(options.isolation.split(","), options.users.split(","))
            for seed, (isolation, users) in enumerate(runs, 1):
                name = f"{options.engine}, {sync}, {isolation}, {users} users"
                print(f"  {name}", flush=True)
                if not run_one(server, options, isolation, users, seed):
                    failed.append(name)
    count = len(options.sync.split(",")) * len(options.isolation.split(",")) * len(options.users.split(","))
    print(f"{count} runs in {time.monotonic() - begin:.0f} s, {len(failed)} failed")
    for name in failed:
        print(f"failed: {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
