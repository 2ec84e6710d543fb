"""python3 -m lab.compare: sysbench and TPROC-C on several engines, side by side in one run.

One server runs at a time, so that no engine pays for another's memory or background work. Engines take
turns: each round runs every engine once (A B C, A B C ...). A ratio is that of the medians, its spread
that of the rounds.
"""

import argparse
import json
import shutil
import sys
import time
from dataclasses import asdict

from installer import apt, build_plugin, host, packages, servers
from installer.shell import TREE, Failed, main, say
from lab.compare import sysbench, tpcc
from lab.harness import generators, private_server, profiles, provenance
from lab.harness.private_server import PrivateServer, memory_limit
from lab.harness.sampler import allocated_bytes
from lab.report import markdown, write
from lab.report.adapters import compare as adapter

WARM_UP_S = 5


def _arguments():
    parser = argparse.ArgumentParser(prog="python3 -m lab.compare", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", choices=list(host.CODENAMES), help="(this machine's)")
    parser.add_argument("--engines", default="InnoDB,TidesDB,RocksDB", help="compared with the first")
    parser.add_argument("--profile", default="fair", choices=profiles.known(), help="settings, of lab/profiles")
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
    profiles.add_scale_down(parser.add_argument)
    private_server.add_memory_max(parser.add_argument)
    profiles.set_defaults(parser, sys.argv[1:], "compare")
    args = parser.parse_args()
    args.rows = profiles.scaled_down(args.rows, args.scale_down)
    args.warehouses = profiles.scaled_down(args.warehouses, args.scale_down) if args.warehouses else 0
    args.engines, args.sync = args.engines.split(","), args.sync.split(",")
    args.work = [w for w in args.work.split(",") if w]
    for name in args.engines:
        if name not in profiles.NAMES:
            parser.error(f"--engines: {name} is not known; known are {', '.join(profiles.NAMES)}")
    for name in args.work:
        if name not in sysbench.WORK:
            parser.error(f"--work: {name} is not known; known are {', '.join(sysbench.WORK)}")
    return args


class Study:
    """One comparison. Owns: args.directory, in which each engine has a server directory."""

    def __init__(self, args, environment, plugin, tool):
        self.args, self.environment, self.plugin, self.tool = args, environment, plugin, tool
        self.limit = memory_limit(args.memory_max, args.profile)
        self.runs = []
        each = len(args.work) * (args.seconds + 1) + WARM_UP_S + 8
        with_tpcc = sum(self._runs_tpcc(engine) for engine in args.engines)
        self.left_s = ((each * len(args.engines) + (args.tpcc_seconds + 10) * with_tpcc)
                       * len(args.sync) * args.rounds)

    def _runs_tpcc(self, engine):
        return self.args.warehouses > 0 and profiles.keeps_rows(engine)

    def server(self, engine, sync):
        plugin = self.plugin if profiles.needs_plugin(engine) else None
        return PrivateServer(self.environment, self.args.directory / engine, self.limit, plugin=plugin,
                             options=profiles.options(self.args.profile, engine, sync))

    def load(self, engine):
        """Fills the engine's server with all data; NONE, as loading is not measured."""
        say(f"{engine}: loading")
        server = self.server(engine, "NONE")
        server.initialise()
        server.start()
        try:
            if self.args.work:
                sysbench.prepare(server, profiles.engine_of(engine), self.args.rows)
            if self._runs_tpcc(engine):
                server.sql(f"CREATE DATABASE {tpcc.DATABASE}")
                tpcc.build(self.tool, server, profiles.engine_of(engine), self.args.warehouses)
        finally:
            server.stop()

    def write_facts(self):
        """What the report says besides figures."""
        args = self.args
        binaries = {"mariadbd": self.environment.mariadbd, "ha_tidesdb.so": self.plugin, "tpcc": self.tool}
        facts = {"asked": {name: str(value) if name == "directory" else value for name, value in vars(args).items()},
                 "provenance": provenance.collect(args.directory, binaries), "version": self.environment.version,
                 "profile": f"Profile {args.profile}: {profiles.about(args.profile)}", "limit": self.limit.said,
                 "options": {engine: {sync: profiles.options(args.profile, engine, sync) for sync in args.sync}
                             for engine in args.engines}}
        (args.directory / adapter.FACTS).write_text(json.dumps(facts, indent=1) + "\n")

    def _write_variables(self, server, engine, sync):
        path = self.args.directory / adapter.variables_name(engine, sync)
        if not path.exists():
            rows = (line.split("\t") for line in server.sql("SHOW GLOBAL VARIABLES").splitlines())
            # Each engine has a directory of its own; that is no difference of settings.
            found = {row[0]: row[1].replace(str(server.directory), "...") for row in rows if len(row) == 2}
            path.write_text(json.dumps(found, indent=1) + "\n")

    def _measured(self, server, engine, sync, work, number, call):
        """call(raw): one run, its raw output in that file; the server is sampled meanwhile."""
        begin = time.monotonic()
        name = f"{engine}-{sync}-{work}-{number}"
        raw = self.args.directory / (f"{name}.json" if work == adapter.TPCC else f"{name}.txt")
        samples = self.args.directory / f"{name}.samples.json"
        with server.sampler() as sampler:
            figures = call(raw)
        sampler.samples.save(samples)
        self.runs.append({"engine": engine, "sync": sync, "work": work, "round": number, **asdict(figures), "raw": raw.name,
                          "samples": samples.name, "directory_bytes": allocated_bytes(server.data),
                          "memory": server.memory()})
        (self.args.directory / adapter.RUNS).write_text(json.dumps(self.runs, indent=1) + "\n")
        self._tell(begin, engine, sync, work, number, figures)

    def _tell(self, begin, engine, sync, work, number, figures):
        self.left_s = max(0, self.left_s - (time.monotonic() - begin))
        say(f"  {sync} round {number} {engine} {work}: {figures.per_s:,.1f} per s, p95 {figures.p95_ms:.2f} ms, "
            f"max {figures.max_ms:.0f} ms, {figures.errors} errors; about {self.left_s / 60:.0f} min left")

    def turn(self, engine, sync, number):
        """Every kind of work once on one engine."""
        args = self.args
        server = self.server(engine, sync)
        server.start()
        try:
            self._write_variables(server, engine, sync)
            if args.work:
                sysbench.run(server, "point_select", args.rows, args.threads, WARM_UP_S, number)
                self.left_s -= WARM_UP_S
            for work in args.work:
                self._measured(server, engine, sync, work, number, lambda raw, of=work: sysbench.run(
                    server, of, args.rows, args.threads, args.seconds, number, raw))
            if self._runs_tpcc(engine):
                self._measured(server, engine, sync, adapter.TPCC, number, lambda raw: tpcc.run(
                    self.tool, server, args.users, args.tpcc_seconds, number, raw))
        finally:
            server.stop()

    def report(self):
        """Writes it in all its forms, and says its figures."""
        study = adapter.study(self.args.directory)
        paths = write.write(study, self.args.directory)
        say("\n" + markdown.figures(study))
        for path in paths:
            say(f"report: {path}")


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
    apt.install(packages.SYSBENCH + packages.LAB_PYTHON, log)
    wanted = [option for engine in args.engines for option in profiles.options(args.profile, engine, args.sync[0])]
    environment, plugin = build_plugin.prepare_and_build(args.server or host.host_server(), log, tests=True,
                                                         more=servers.providers(wanted))
    study = Study(args, environment, plugin, generators.program("tpcc", log) if args.warehouses else None)
    study.write_facts()
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
