"""python3 -m lab.compare: sysbench and TPROC-C on several engines, side by side in one run.

One server runs at a time, so that no engine pays for another's memory or background work. Engines take
turns: each round runs every engine once (A B C, A B C ...). A ratio is that of the medians, its spread
that of the rounds.
"""

import argparse
import json
import shutil
import time
from dataclasses import asdict

from installer import build_plugin, host, servers
from installer.server_run import Server
from installer.shell import TREE, Failed, main, output, say
from lab.compare import engines, report, sysbench, tpcc

WARM_UP_S = 5


def _arguments():
    parser = argparse.ArgumentParser(prog="python3 -m lab.compare", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="debian13", choices=list(host.CODENAMES))
    parser.add_argument("--engines", default="InnoDB,TidesDB,RocksDB", help="compared with the first")
    parser.add_argument("--profile", default="fair", choices=engines.profiles(), help="settings, of lab/profiles")
    parser.add_argument("--sync", default="NONE,FULL")
    parser.add_argument("--work", default="point_select,read_write,insert,write_only",
                        help=f"of sysbench: {', '.join(sysbench.WORK)}")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--warehouses", type=int, default=10, help="of TPROC-C; 0: without it")
    parser.add_argument("--users", type=int, default=8, help="of TPROC-C")
    parser.add_argument("--seconds", type=int, default=20, help="of each sysbench run")
    parser.add_argument("--tpcc-seconds", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", type=lambda p: TREE / p, default=TREE / "var" / "compare")
    args = parser.parse_args()
    args.engines, args.sync = args.engines.split(","), args.sync.split(",")
    args.work = [w for w in args.work.split(",") if w]
    for name in args.engines:
        if name not in engines.NAMES:
            parser.error(f"--engines: {name} is not known; known are {', '.join(engines.NAMES)}")
    for name in args.work:
        if name not in sysbench.WORK:
            parser.error(f"--work: {name} is not known; known are {', '.join(sysbench.WORK)}")
    return args


class Study:
    """One comparison. Owns: args.directory, in which each engine has a server directory."""

    def __init__(self, args, environment, plugin, tool):
        self.args, self.environment, self.plugin, self.tool = args, environment, plugin, tool
        self.runs = []
        self.log = args.directory / "runs.json"
        each = len(args.work) * (args.seconds + 1) + WARM_UP_S + 8
        with_tpcc = sum(self._runs_tpcc(engine) for engine in args.engines)
        self.left_s = ((each * len(args.engines) + (args.tpcc_seconds + 10) * with_tpcc)
                       * len(args.sync) * args.rounds)

    def _runs_tpcc(self, engine):
        return self.args.warehouses > 0 and engines.keeps_rows(engine)

    def server(self, engine, sync):
        plugin = self.plugin if engines.needs_plugin(engine) else None
        return Server(self.environment, self.args.directory / engine, plugin=plugin,
                      options=engines.options(self.args.profile, engine, sync))

    def load(self, engine):
        """Fills the engine's server with all data; NONE, as loading is not measured."""
        say(f"{engine}: loading")
        server = self.server(engine, "NONE")
        server.initialise()
        server.start()
        try:
            if self.args.work:
                sysbench.prepare(server, engines.engine_of(engine), self.args.rows)
            if self._runs_tpcc(engine):
                server.sql(f"CREATE DATABASE {tpcc.DATABASE}")
                tpcc.build(self.tool, server, engines.engine_of(engine), self.args.warehouses)
        finally:
            server.stop()

    def _record(self, begin, engine, sync, work, number, figures):
        self.runs.append({"engine": engine, "sync": sync, "work": work, "round": number, **asdict(figures)})
        self.log.write_text(json.dumps(self.runs, indent=1) + "\n")
        self.left_s = max(0, self.left_s - (time.monotonic() - begin))
        say(f"  {sync} round {number} {engine} {work}: {figures.per_s:,.1f} per s, p95 {figures.p95_ms:.2f} ms, "
            f"max {figures.max_ms:.0f} ms, {figures.errors} errors; about {self.left_s / 60:.0f} min left")

    def turn(self, engine, sync, number):
        """Every kind of work once on one engine."""
        args = self.args
        begin = time.monotonic()
        server = self.server(engine, sync)
        server.start()
        try:
            if args.work:
                sysbench.run(server, "point_select", args.rows, args.threads, WARM_UP_S, number)
            for work in args.work:
                figures = sysbench.run(server, work, args.rows, args.threads, args.seconds, number)
                self._record(begin, engine, sync, work, number, figures)
                begin = time.monotonic()
            if self._runs_tpcc(engine):
                figures = tpcc.run(self.tool, server, args.users, args.tpcc_seconds, number,
                                   args.directory / f"tpcc-{engine}-{sync}-{number}.json")
                self._record(begin, engine, sync, f"TPROC-C {args.warehouses} warehouses", number, figures)
        finally:
            server.stop()

    def report(self):
        commit = output(["git", "describe", "--always", "--dirty"], cwd=TREE).strip()
        cpu = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
        args = self.args
        text = (f"{time.strftime('%Y-%m-%d')}, commit {commit}, MariaDB {self.environment.version}, {cpu}; profile "
                f"{args.profile}; {args.rows} rows, {args.threads} threads, {args.seconds} s a sysbench run; TPROC-C "
                f"{args.users} users, {args.tpcc_seconds} s; {args.rounds} rounds, engines in turn.\n\n"
                f"Profile {args.profile}: {engines.about(args.profile)}\n\n"
                + report.markdown(self.runs, args.engines))
        (args.directory / "report.md").write_text(text)
        say("\n" + text)


def _make_empty(directory):
    """Removes what an earlier study left there, and nothing else's files."""
    mark = directory / ".lab-compare"
    if directory.exists() and any(directory.iterdir()) and not mark.exists():
        raise Failed(f"--directory: {directory} holds something that is no study of lab.compare; name another one")
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    mark.touch()


def _main():
    args = _arguments()
    _make_empty(args.directory)
    log = args.directory / "build.log"
    wanted = [option for engine in args.engines for option in engines.options(args.profile, engine, args.sync[0])]
    environment, plugin = build_plugin.prepare_and_build(args.server, log, tests=True, more=servers.providers(wanted))
    study = Study(args, environment, plugin, build_plugin.tpcc(log) if args.warehouses else None)
    for engine in args.engines:
        study.load(engine)
    for sync in args.sync:
        for number in range(1, args.rounds + 1):
            for engine in args.engines:
                study.turn(engine, sync, number)
    study.report()
    return 0


if __name__ == "__main__":
    main(_main)
