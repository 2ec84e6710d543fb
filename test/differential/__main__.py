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

_ENOUGH = 50000  # So many statements come to flushes, compactions and spills; else rows are read from memory only.


def _options():
    parser = argparse.ArgumentParser(prog="python3 -m test.differential", description=__doc__)
    add = parser.add_argument
    add("--server", choices=list(host.CODENAMES), default=host.host_server(), help="which MariaDB")
    add("--seed", type=int, help="one case only, or with --cases or --seconds the first one")
    add("--cases", type=int, help="how many cases (as many as --seconds allow)")
    add("--seconds", type=float, help="how long cases are begun (60)")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="workers, each with a server of its own (one a core)")
    add("--length", type=int, default=60, help="statements of a case behind its first rows (60)")
    add("--each", type=int, default=2, help="differences of one kind that are shrunk and written; others are counted (2)")
    add("--no-shrink", dest="shrink", action="store_false", help="only say what differs")
    add("--shrink-seconds", type=float, default=60, help="at most, for one difference (60)")
    add("--without", metavar="PATTERN", help="draw again what matches: tables and statements of known faults")
    add("--server-too", action="store_true", help="also shrink and write what InnoDB does wrong in the same way")
    add("--skip", action="append", default=[], metavar="TEXT", help="count kinds with this text, shrink none")
    add("--until-found", action="store_true", help="end with the first difference that is shrunk and written")
    add("--plant", choices=sorted(plant.FAULTS), help="put a fault behind TidesDB's back, to see it found")
    add("--findings", type=Path, default=TREE / "var" / "differential", help="where repro files go (var/differential)")
    add("--print", action="store_true", help="print the case of --seed as SQL and end")
    add("--plugin", type=Path, help="the plugin to load (that of this tree, built)")
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
    """SIGTERM ends as an exception does: what was started is ended, what was made is removed."""
    raise SystemExit(143)


def _work(options, environment, plugin, number, results):
    """A worker's process: the seeds of its number, until time or cases are up."""

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
    """All workers, to their end. Returns their results; fewer than workers where one failed."""
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
        print(f"{count:6} passed over: {name}")
    # A case that is shrunk is the same over and over.
    shallow = statements >= _ENOUGH and not options.plant and not all(depths.values())
    print(said(depths) + (": not deep enough to say much" if shallow else ""))
    print(
        f"{options.server}: {cases} cases from seed {options.seed}, {statements} statements, "
        f"{sum(ours.values())} differences"
    )
    if ours and len(found) == options.jobs:
        return 1
    return 2 if shallow or len(found) < options.jobs else 0


if __name__ == "__main__":
    sys.exit(main())
