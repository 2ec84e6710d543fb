"""One comparison: each engine's server loaded once, then measured in turns, with a journal and a report."""

import json
import shutil
from dataclasses import asdict

from installer.shell import Failed, clean_environment, say
from lab.observe.sampler import allocated_bytes
from lab.record import provenance, turns
from lab.reports import markdown, write
from lab.runners.compare import record as adapter
from lab.server import profiles
from lab.server.private_server import Limit, PrivateServer, memory_limit, versions_of
from lab.study import room
from lab.study.journal import BINARIES, Journal
from lab.study.progress import Progress, Step
from lab.study.scratch import Scratch
from lab.works import sysbench_run as sysbench
from lab.works import tpcc_run as tpcc

WARM_UP_S = 5
_LOAD_S, _START_S, _TPCC_AROUND_S = 30, 8, 10


def asked(args):
    """What the report says of the options."""
    return {name: value for name, value in vars(args).items() if name not in ("directory", "output_dir", "resume")}


class Study:
    """Owns: args.directory, in which each engine has a server directory."""

    def __init__(self, args, plan, environment, plugin, tool):
        self.args, self.plan, self.environment, self.plugin, self.tool = args, plan, environment, plugin, tool
        self.limit = memory_limit(args.memory_max, args.profile)
        self.failed = 0

    def _binaries(self):
        """By name, what is measured and measured with."""
        sysbench_program = shutil.which("sysbench", path=clean_environment()["PATH"]) if self.args.work else None
        return {"mariadbd": self.environment.mariadbd, "ha_tidesdb.so": self.plugin, "tpcc": self.tool,
                "sysbench": sysbench_program}

    def _runs_tpcc(self, engine):
        return self.args.warehouses > 0 and profiles.keeps_rows(engine)

    def _works(self, engine):
        return [*self.args.work, *([adapter.TPCC] if self._runs_tpcc(engine) else [])]

    def turns(self):
        """(engine, sync, round) in their order: what changes on a machine over hours hits each engine alike."""
        args = self.args
        return [(engine, sync, number) for sync in args.sync for number in range(1, args.rounds + 1)
                for engine in turns.in_turn(args.engines, number)]

    def steps(self):
        """Of the progress."""
        args = self.args
        made = [Step(f"{engine}: loading", _LOAD_S, "loading") for engine in args.engines]
        for engine, sync, number in self.turns():
            for index, work in enumerate(self._works(engine)):
                seconds = args.tpcc_seconds + _TPCC_AROUND_S if work == adapter.TPCC else args.seconds + 1
                warm_up_s = 0 if index else _START_S + (WARM_UP_S if args.work else 0)
                made.append(Step(_name(engine, sync, work, number), seconds + warm_up_s, work))
        return made

    def go(self):
        """Does what is left, and reports. Returns the exit code: 1 when a turn failed."""
        self._check_disk()
        told = {f"{engine} ({sync})": options for engine, of in self._options().items() for sync, options in of.items()}
        plan = {**self.plan, turns.KEY: turns.ORDER, BINARIES: provenance.sums(self._binaries(), told)}
        with Journal(self.args.directory / adapter.JOURNAL, adapter.KIND, plan) as self.journal, \
                Scratch() as self.sockets:
            self._write_facts()
            with Progress("compare", self.steps()) as self.progress:
                for engine in self.args.engines:
                    self._load(engine)
                for turn in self.turns():
                    self._turn(*turn)
            if not self.failed:
                self.journal.end()
        self._report()
        return 1 if self.failed else 0

    def _check_disk(self):
        """Each engine's data is there from its load to the end; what an earlier sitting loaded is there already."""
        args = self.args
        each = room.SERVER + args.rows * room.SYSBENCH_ROW + args.warehouses * room.WAREHOUSE
        left = [engine for engine in args.engines if not (args.directory / engine).exists()]
        room.require(args.directory, len(left) * each, "--scale-down makes it smaller, -o names another place")

    def _server(self, engine, sync):
        plugin = self.plugin if profiles.needs_plugin(engine) else None
        limit = self.limit if engine != profiles.IN_MEMORY else Limit()  # A ceiling: 4 GB of cache.
        return PrivateServer(self.environment, self.args.directory / engine, limit, plugin=plugin,
                             options=profiles.options(self.args.profile, engine, sync),
                             socket=self.sockets / "mysqld.sock")

    def _load(self, engine):
        """Fills the engine's server with all data; not synced, as loading is not measured."""
        step = f"{engine}: loading"
        if self.journal.result(step):
            self.progress.already(step)
            return
        server = self._server(engine, "NONE")
        server.stop()  # One that an earlier sitting could not stop.
        server.remove()
        self.journal.begin(step)
        with self.progress.step(step):
            server.initialise()
            try:
                server.start()
                if self.args.work:
                    sysbench.prepare(server, profiles.engine_of(engine), self.args.rows)
                if self._runs_tpcc(engine):
                    server.sql(f"CREATE DATABASE {tpcc.DATABASE}")
                    tpcc.build(self.tool, server, profiles.engine_of(engine), self.args.warehouses)
            except Failed as error:
                raise server.failed(error) from error
            finally:
                server.stop()
        self.journal.finish(step, {"loaded": engine})

    def _turn(self, engine, sync, number):
        """Every kind of work once on one engine, but for what is done. A turn that fails is named; the others go on."""
        left = []
        for work in self._works(engine):
            name = _name(engine, sync, work, number)
            if self.journal.result(name):
                self.progress.already(name)
            else:
                left.append(work)
        if not left:
            return
        server = self._server(engine, sync)
        try:
            server.stop()  # As above.
            server.start()
            self._write_variables(server, engine, sync)
            for index, work in enumerate(left):
                self._measure(server, engine, sync, work, number, warm_up=index == 0 and bool(self.args.work))
        except Failed as error:
            said = str(server.failed(error))
            self.failed += 1
            self.progress.say(f"    {engine} {sync} round {number}: {said}")
            self.journal.fail(f"{engine} {sync} round {number}", said.splitlines()[0])
        finally:
            server.stop()

    def _measure(self, server, engine, sync, work, number, warm_up):
        args, name = self.args, _name(engine, sync, work, number)
        raw = args.directory / f"{engine}-{sync}-{work}-{number}{'.json' if work == adapter.TPCC else '.txt'}"
        samples = raw.with_suffix(".samples.json")
        self.journal.begin(name)
        with self.progress.step(name) as step:
            if warm_up:
                step.note("warming up")
                sysbench.run(server, "point_select", args.rows, args.threads, WARM_UP_S, number)
            with server.sampler() as sampler:
                figures = (tpcc.run(self.tool, server, args.users, args.tpcc_seconds, number, raw)
                           if work == adapter.TPCC else
                           sysbench.run(server, work, args.rows, args.threads, args.seconds, number, raw))
            sampler.samples.save(samples)
            # One that left wrong data has no throughput.
            speed = (f"{figures.per_s:,.1f} per s, p95 {figures.p95_ms:.2f} ms, max {figures.max_ms:.0f} ms"
                     if getattr(figures, "consistent", True) else "INCONSISTENT")
            step.note(f"{speed}, {figures.errors} errors")
        self.journal.finish(name, {"engine": engine, "sync": sync, "work": work, "round": number, **asdict(figures),
                                   "raw": raw.name, "samples": samples.name, "memory": server.memory(),
                                   "versions": versions_of(server), "directory_bytes": allocated_bytes(server.data)})

    def _write_facts(self):
        """What the report says besides figures."""
        args = self.args
        facts = {"asked": asked(args), "provenance": provenance.collect(args.directory, self._binaries()),
                 "version": self.environment.version, "limit": self.limit.said,
                 "profile": f"Profile {args.profile}: {profiles.about(args.profile)}",
                 "options": self._options()}
        (args.directory / adapter.FACTS).write_text(json.dumps(facts, indent=1) + "\n")

    def _options(self):
        """By engine and sync, what its server is told."""
        args = self.args
        return {engine: {sync: profiles.options(args.profile, engine, sync) for sync in args.sync}
                for engine in args.engines}

    def _write_variables(self, server, engine, sync):
        path = self.args.directory / adapter.variables_name(engine, sync)
        if not path.exists():
            rows = (line.split("\t") for line in server.sql("SHOW GLOBAL VARIABLES").splitlines())
            # Each engine has a directory of its own; that is no difference of settings.
            found = {row[0]: row[1].replace(str(server.directory), "...") for row in rows if len(row) == 2}
            path.write_text(json.dumps(found, indent=1) + "\n")

    def _report(self):
        """Writes it in all its forms, and says its figures."""
        study = adapter.study(self.args.directory)
        for sentence in study.history:
            say(sentence)
        if not study.runs:
            return
        paths = write.write(study, self.args.directory)
        say("\n" + markdown.figures(study))
        for path in paths:
            say(f"report: {path}")


def _name(engine, sync, work, number):
    return f"{engine} {work}, {sync}, round {number}"
