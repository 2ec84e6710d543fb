"""python3 -m test.differential: random SQL on TidesDB and InnoDB, side by side. See README.md."""

import argparse
import collections
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

from installer import build_plugin, host, servers
from installer.shell import TREE
from test.differential import hunt, plant, server
from test.differential.cases import random_case
from test.differential.replay import SERVER
from test.differential.sql import Case
from test.reached import reached, said

_ENOUGH = 50000  # This many statements cause flushes, compactions and spills; fewer may read rows from memory only.


def _options():
    parser = argparse.ArgumentParser(prog="python3 -m test.differential", description=__doc__)
    add = parser.add_argument
    add("--server", choices=list(host.CODENAMES), default=host.host_server(), help="which MariaDB")
    add("--seed", type=int, help="run only this case; with --cases or --seconds, start from it")
    add("--cases", type=int, help="how many cases (default: as many as fit in --seconds)")
    add("--seconds", type=float, help="start new cases for so long (60)")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="workers, each with its own server (one per core)")
    add("--length", type=int, default=60, help="statements of a case after its first rows (60)")
    add("--each", type=int, default=2, help="shrink and write so many differences of a kind, and count the rest (2)")
    add("--no-shrink", dest="shrink", action="store_false", help="report differences without shrinking them")
    add("--shrink-seconds", type=float, default=60, help="time limit for shrinking one difference (60)")
    add("--without", metavar="PATTERN", help="replace tables and statements that match, to avoid known faults")
    add("--server-too", action="store_true", help="also shrink and write differences that are the server's fault")
    add("--skip", action="append", default=[], metavar="TEXT", help="only count differences whose kind has this text")
    add("--until-found", action="store_true", help="stop after the first difference that is shrunk and written")
    add("--plant", choices=sorted(plant.FAULTS), help="plant a fault on TidesDB's side, which must be found")
    add("--findings", type=Path, default=TREE / "var" / "differential", help="where the .sql files go (var/differential)")
    add("--print", action="store_true", help="print the case of --seed as SQL and exit")
    add("--plugin", type=Path, help="the plugin to load (default: build this tree's)")
    options = parser.parse_args()
    if options.seed is not None and options.cases is None and options.seconds is None:
        options.cases, options.jobs = 1, 1
    options.seconds = options.seconds or 60
    if options.seed is None:
        options.seed = int(time.time()) * 1000
    return options


def _print(case: Case):
    for text in [*case.settings, *(text for statement in case.statements for text in statement.texts())]:
        print(text + ";")


def _end(*_):
    """Handles SIGTERM: raises an exception, so that servers are stopped and their directories removed."""
    raise SystemExit(143)


def _work(options, environment, plugin, number, results):
    """A worker's process: runs every options.jobs-th seed until the time or the cases run out."""

    def say(line):
        print(line, flush=True)

    signal.signal(signal.SIGTERM, _end)
    deadline = time.monotonic() + options.seconds
    with server.FuzzedServer(environment, plugin) as one:
        worker = hunt.Worker(one, options, say)
        seed, last = options.seed + number, options.seed + (options.cases or sys.maxsize)
        while seed < last and (options.cases or time.monotonic() < deadline):
            worker.case(seed)
            if options.until_found and worker.files:
                break
            seed += options.jobs
        results.put((worker.cases, worker.replay.counted, worker.kinds, worker.replay.passed_over, reached(one)))


def _run(options, environment, plugin):
    """Runs all workers to their end. Returns one result for each worker that did not fail."""
    results = multiprocessing.Queue()
    workers = [
        multiprocessing.Process(target=_work, args=(options, environment, plugin, number, results))
        for number in range(options.jobs)
    ]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        for worker in workers:
            if worker.is_alive():
                worker.terminate()
                worker.join()
    return [results.get(timeout=10) for worker in workers if worker.exitcode == 0]


def main():
    options = _options()
    if options.print:
        _print(random_case(options.seed, options.length, options.without))
        return 0
    signal.signal(signal.SIGTERM, _end)
    log = TREE / "var" / "differential.log"
    log.parent.mkdir(exist_ok=True)
    if options.plugin:
        environment, plugin = servers.existing(options.server), options.plugin.resolve()
    else:
        environment, plugin = build_plugin.prepare_and_build(options.server, log)
    found = _run(options, environment, plugin)
    cases, statements = sum(one[0] for one in found), sum(one[1] for one in found)
    kinds, passed_over, depths = collections.Counter(), collections.Counter(), collections.Counter()
    for one in found:
        kinds.update(one[2])
        passed_over.update(one[3])
        depths.update(one[4])
    ours = {kind: count for kind, count in kinds.items() if SERVER not in kind}
    for kind, count in kinds.most_common():
        print(f"{count:6} {kind}")
    for name, count in passed_over.most_common():
        print(f"{count:6} not judged: {name}")
    # With a planted fault most statements repeat the case that is shrunk, so they need not reach a flush or spill.
    shallow = statements >= _ENOUGH and not options.plant and not all(depths.values())
    print(said(depths) + (": the run was too shallow" if shallow else ""))
    print(
        f"{options.server}: {cases} cases from seed {options.seed}, {statements} statements, "
        f"{sum(ours.values())} differences"
    )
    if ours and len(found) == options.jobs:
        return 1
    return 2 if shallow or len(found) < options.jobs else 0


if __name__ == "__main__":
    sys.exit(main())
