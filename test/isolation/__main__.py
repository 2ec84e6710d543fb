"""python3 -m test.isolation run | check FILE ... | plant; each with --help."""

import argparse
import itertools
import sys
from pathlib import Path

from test.isolation.check import check, explain
from test.isolation.history import LEVELS, SERIALIZABLE, load
from test.isolation.workload import WORKLOADS

_SHORT = {"RC": LEVELS[0], "RR": LEVELS[1], "SER": LEVELS[2]}


def _words(text):
    return text.split(",")


def _arguments():
    parser = argparse.ArgumentParser(prog="python3 -m test.isolation", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checks = commands.add_parser("check", help="check saved histories again")
    checks.add_argument("files", nargs="+", type=Path)
    for name, help_ in (("run", "record and check histories"), ("plant", "check that planted faults are found")):
        command = commands.add_parser(name, help=help_)
        command.add_argument("--server", default="debian12", help="debian12 or debian13 (%(default)s)")
        command.add_argument("--save", default="var/isolation", help="where histories with anomalies go (%(default)s)")
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--histories", type=int, default=100, help="for each setting (%(default)s)")
        command.add_argument("--plugin", type=Path, help="the ha_tidesdb.so to load (default: build this tree's)")
        if name == "run":
            command.add_argument("--engines", type=_words, default=["TidesDB"])
            command.add_argument("--levels", type=_words, default=list(_SHORT), help="of RC,RR,SER")
            command.add_argument("--locks", type=_words, default=["ON"], help="tidesdb_pessimistic_locking: ON,OFF")
            command.add_argument("--snapshot-isolation", type=_words, default=["ON"], help="at REPEATABLE READ: ON,OFF")
            command.add_argument("--workloads", type=_words, default=["lists", "predicates", "moves", "mixed"])
            command.add_argument("--disturb", type=_words, default=["none"], help="of none,kill,crash")
            command.add_argument("--mixed", action="store_true", help="two sessions have the level, the others RC and RR")
            command.add_argument("--transactions", type=int, default=24)
            command.add_argument("--connections", type=int, default=4)
            command.add_argument("--seconds", type=float, help="stop after so long")
            command.add_argument("--server-option", action="append", default=[])
    return parser.parse_args()


def settings_of(args):
    from test.isolation.driver import Setting  # Not at the top, as in _run().
    found = []
    for engine, level, locks, si, workload, disturbed in itertools.product(
            args.engines, args.levels, args.locks, args.snapshot_isolation, args.workloads, args.disturb):
        if (locks == "OFF" and engine != "TidesDB" and "ON" in args.locks) or (si == "OFF" and level != "RR"):
            continue
        found.append(Setting(engine, _SHORT.get(level, level), locks == "ON", si == "ON", workload, disturbed,
                             mixed=args.mixed, connections=args.connections, transactions=args.transactions))
    return found


def _run(args):
    # Not at the top: checking a file needs neither a server nor PyMySQL.
    from installer import build_plugin, servers
    from test.isolation import planted
    from test.isolation.driver import Driver
    from test.isolation.runner import Runner
    from test.isolation.server import IsolationServer
    from test.reached import reached, said
    environment = servers.existing(args.server)
    plugin = args.plugin or build_plugin.prepare_and_build(args.server, Path(args.save) / "build.log")[1]
    with IsolationServer(environment, plugin.resolve(), getattr(args, "server_option", ())) as server:
        if args.command == "plant":
            return planted.main(Driver(server), args)
        runner = Runner(Driver(server), args.save, lambda line: print(line, flush=True))
        try:
            runner.many(settings_of(args), range(args.seed, args.seed + args.histories), args.seconds)
        except KeyboardInterrupt:
            pass
        print("\n".join([*runner.lines(), said(reached(server)) + " since the last start"]))
        return 1 if runner.failed() else 0


def _check(files):
    bad = 0
    for path in files:
        history = load(path)
        verdict = check(history)
        print(f"{path}: {history.engine}, {history.level}, {len(history.transactions)} transactions, "
              f"{len(verdict.forbidden)} forbidden anomalies, {len(verdict.allowed)} allowed")
        for word, anomalies in (("forbidden", verdict.forbidden), ("allowed", verdict.allowed)):
            for anomaly in anomalies:
                print(f"{word}: " + "\n".join(explain(history, anomaly)))
        bad += bool(verdict.forbidden)
    return 1 if bad else 0


def main():
    args = _arguments()
    return _check(args.files) if args.command == "check" else _run(args)


if __name__ == "__main__":
    sys.exit(main())
