"""python3 -m lab.hammerdb.compare -H DIR [options of hammerdb_runner.sh] [--rounds N] [--calls N]: is the built-in
generator's work the real HammerDB's?

Each builds a database of its own on one server. First each procedure is called alone, --calls times a round (calls.py; 0:
not at all). Then both run in turn (built-in, HammerDB, HammerDB, built-in ...): what the server counted is divided by the
new orders of that time: statements, round trips, rows, bytes, and CPU time.
"""

import argparse
import copy
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from installer.shell import Failed, main, say
from lab.hammerdb import builtin, calls, options, real, server
from lab.hammerdb.study import analyze
from lab.harness import sitting

# Status variables of the server, and what they say.
COUNTERS = {"Questions": "statements sent (round trips)", "Com_call_procedure": "CALL", "Com_set_option": "SET",
            "Com_select": "SELECT, in procedures too", "Com_insert": "INSERT", "Com_update": "UPDATE",
            "Com_delete": "DELETE",
            "Com_commit": "COMMIT", "Com_rollback": "ROLLBACK", "Handler_read_key": "reads by key",
            "Handler_read_next": "reads of the next key", "Handler_write": "rows written", "Handler_update": "rows updated",
            "Bytes_received": "bytes received", "Bytes_sent": "bytes sent"}
CPU = {"server_cpu_ms_per_neword": "server CPU, ms", "client_cpu_ms_per_neword": "client CPU, ms"}
CPU_APART_MAX = 0.05


def _status(connection, database):
    names = ", ".join(f"'{name}'" for name in COUNTERS)
    counted = {name: int(value) for name, value in
               connection.sql(f"SHOW GLOBAL STATUS WHERE Variable_name IN ({names})")}
    return counted, int(connection.value(f"SELECT SUM(d_next_o_id) FROM `{database}`.district"))


def by_new_order(before, after):
    """What was counted between two samples, for each new order between them."""
    orders = after[1] - before[1]
    if orders <= 0:
        raise Failed("no new order was made")
    return {name: (after[0][name] - before[0][name]) / orders for name in COUNTERS}


def markdown(runs):
    """runs: (generator, figures), the built-in generator's and HammerDB's."""
    names = list(dict.fromkeys(name for name, _ in runs))
    lines = ["| for each new order, median (least–most) | " + " | ".join(names) + " | ratio |",
             "|---" * (2 + len(names)) + "|"]
    for key, label in {**CPU, **COUNTERS, "nopm": "NOPM"}.items():
        of = [sorted(figures[key] for name, figures in runs if name == wanted and key in figures) for wanted in names]
        if not all(of):
            continue
        cells = [f"{median(values):,.4g} ({values[0]:,.4g}–{values[-1]:,.4g})" for values in of]
        base = median(of[-1])
        lines.append(f"| {label} | {' | '.join(cells)} | " + (f"{median(of[0]) / base:.3f} |" if base else "– |"))
    return "\n".join(lines) + "\n"


def cpu_apart(runs):
    """How far the medians of the server's CPU time are apart: 0.05 is 5 %. None where it was not to be seen."""
    key, of = "server_cpu_ms_per_neword", {}
    for name, figures in runs:
        if key in figures:
            of.setdefault(name, []).append(figures[key])
    if len(of) != 2:
        return None
    first, second = (median(values) for values in of.values())
    return abs(first / second - 1)


def _build(generator, engine, connection, directory):
    """Builds the generator's own database, and says how long it took."""
    args = generator.args
    if connection.has_database(args.tpcc_db) and not args.replace_schema:
        raise Failed(f"there is a database {args.tpcc_db}: --replace-schema drops it, --tpcc-db names another one")
    connection.sql(f"DROP DATABASE IF EXISTS `{args.tpcc_db}`")
    begin = time.monotonic()
    generator.build(connection, engine, "tpcc", directory, lambda text: None)
    analyze(connection, args.tpcc_db)
    say(f"{generator.name}: database {args.tpcc_db} built in {time.monotonic() - begin:.0f} s")


def in_turn(generators, rounds):
    """(round, generator): A B B A A B, so that a server that gets slower or faster does so for both."""
    for number in range(1, rounds + 1):
        yield from ((number, generator) for generator in (generators if number % 2 else reversed(generators)))


def _measure(args, engine, connection, directory, rounds, call_count):
    of_real = copy.copy(args)
    of_real.tpcc_db = f"{args.tpcc_db}_hammerdb"
    generators = [builtin.Builtin(args, directory / "build.log"), real.Real(of_real, directory / "build.log")]
    for generator in generators:
        _build(generator, engine, connection, directory)
    if call_count:
        databases = [generator.args.tpcc_db for generator in generators]
        say("\n" + calls.markdown(calls.measure(connection, databases, args.warehouses, call_count, rounds)))
    runs = []
    for number, generator in in_turn(generators, rounds):
        before = _status(connection, generator.args.tpcc_db)
        figures = generator.run(connection, engine, "tpcc", directory, lambda text: None, lambda: None)
        figures.update(by_new_order(before, _status(connection, generator.args.tpcc_db)))
        runs.append((generator.name, figures))
        say(f"[{len(runs)}/{2 * rounds}] round {number} {generator.name}: {figures['nopm']:,} NOPM, "
            f"{figures['errors']} errors, server {figures.get('server_cpu_ms_per_neword', 0):.3f} ms a new order")
    if not args.keep_schema:
        for generator in generators:
            generator.drop(connection, "tpcc", directory)
    return runs


def _main():
    mine = argparse.ArgumentParser(add_help=False)
    mine.add_argument("--rounds", type=options.positive, default=3)
    mine.add_argument("--calls", type=int, default=1000)
    mine, rest = mine.parse_known_args(sys.argv[1:])
    args = options.parse([*rest, "--no-check"])
    if not args.hammerdb_dir or len(args.engines) != 1:
        raise Failed("name the real HammerDB (-H DIR) and one engine (-e)")
    # As HammerDB's own sessions have it.
    args.snapshot_isolation = "off" if real.version(args.hammerdb_dir).startswith("6") else "server"
    sitting.interrupt_on_term()
    with tempfile.TemporaryDirectory(prefix="lab-compare-") as name:
        target = server.make(args, Path(name))
        target.check(args.engines)
        try:
            runs = _measure(args, args.engines[0], target.start(args.engines[0]), Path(name), mine.rounds,
                            mine.calls)
        finally:
            target.stop()
    say("\n" + markdown(runs))
    apart = cpu_apart(runs)
    if apart is not None:
        say(f"The server's CPU time is {apart:.1%} apart; {CPU_APART_MAX:.0%} are allowed.")
    return 1 if apart is not None and apart > CPU_APART_MAX else 0


if __name__ == "__main__":
    main(_main)
