"""One comparison: each engine's server loaded once, then measured in turns. A unit is a work on an engine in a round."""

import itertools
import json
import shutil
from dataclasses import dataclass

from installer import host, packages
from installer.shell import Failed, clean_environment
from lab.base import figures
from lab.observe.sampler import allocated_bytes
from lab.record import form
from lab.record.turns import in_turn
from lab.server import profiles
from lab.server.private_server import Limit, PrivateServer, environment_of, memory_limit, variables_of, versions_of
from lab.study import core, room
from lab.study.progress import Step
from lab.works import generators, iibench, iibench_run, sampled, sysbench, sysbench_run, tpcc, tpcc_run
from lab.works import sysbench_output as parser
from lab.works.tpcc_result import load

TPCC, INSERTS = "tpcc", "inserts"  # Kinds of work beside sysbench's.
WARM_UP_S = 5
_LOAD_S, _START_S, _AROUND_S = 30, 8, 10
_CONDITIONS = {"NONE": "commits not synced", "FULL": "commits synced"}


@dataclass(frozen=True)
class Unit:
    engine: str
    sync: str
    work: str
    repetition: int

    @property
    def name(self):
        return f"{self.engine} {self.work}, {self.sync}, round {self.repetition}"

    @property
    def turn(self):
        """The turn of a unit: units of one turn share one start of a server."""
        return self.engine, self.sync, self.repetition


def units(args):
    """All units in their order: slow changes on a machine affect each engine alike."""
    def works(engine):
        own = [*([TPCC] if args.warehouses else []), *([INSERTS] if args.insert_rows else [])]
        return [*args.work, *(own if profiles.keeps_rows(engine) else [])]

    return [Unit(engine, sync, work, number) for sync in args.sync for number in range(1, args.rounds + 1)
            for engine in in_turn(args.engines, number) for work in works(engine)]


class Study(core.Study):
    """Owns: directory, with a server's directory for each engine."""

    kind, command = "compare", "python3 -m lab.compare"

    def __init__(self, args, directory, plan):
        super().__init__(args, directory, plan)
        self.packages = [*(packages.SYSBENCH if args.work else []), *packages.LAB_PYTHON]
        self.units, self.labels = units(args), args.engines
        self.configuration = [(name, " ".join(map(str, value)) if isinstance(value, list) else value)
                              for name, value in vars(args).items() if name not in ("output_dir", "resume")]

    def needs_bytes(self):
        """Each engine's data stays from its load to the end; an earlier sitting may have loaded some already."""
        args = self.args
        each = (room.SERVER + (args.rows * room.SYSBENCH_ROW if args.work else 0) + args.warehouses * room.WAREHOUSE +
                args.insert_rows * room.IIBENCH_ROW)
        return each * sum(not (self.directory / engine).exists() for engine in self.args.engines)

    def prepare(self, log):
        args = self.args
        self.limit = memory_limit(args.memory_max, args.profile)
        self.told = {f"{engine} ({sync})": self._options(engine, sync) for engine in args.engines for sync in args.sync}
        self.environment, self.plugin = environment_of(args.server or host.host_server(), args.engines,
                                                       [o for of in self.told.values() for o in of], log)
        self.tools = {work: generators.program(name, log) for work, name, wanted in
                      ((TPCC, "tpcc", args.warehouses), (INSERTS, "iibench", args.insert_rows)) if wanted}
        program = shutil.which("sysbench", path=clean_environment()["PATH"]) if args.work else None
        self.binaries = {"mariadbd": self.environment.mariadbd, "ha_tidesdb.so": self.plugin, "tpcc": self.tools.get(TPCC),
                         "iibench": self.tools.get(INSERTS), "sysbench": program}
        self.unequal = [f"Profile {args.profile}: {profiles.about(args.profile)}", self.limit.said]

    def title_and_about(self):
        args, said = self.args, [f"MariaDB {self.environment.version}"]
        if args.work:
            said.append(f"{args.rows:,} rows, {form.plural(args.threads, 'thread')} and {args.seconds} s a sysbench run")
        if args.warehouses:
            said.append(f"TPROC-C with {form.plural(args.warehouses, 'warehouse')}, {args.users} users, "
                        f"{args.tpcc_seconds} s")
        if args.insert_rows:
            said.append(f"the insert benchmark's l.i1 for {args.insert_seconds} s on {args.insert_rows:,} rows with three "
                        "secondary indexes, as many rows deleted at the low end as inserted at the high end")
        said.append(f"{form.plural(args.rounds, 'round')}, the engines in turn, one server at a time.")
        return " and ".join(args.engines) + " side by side", "; ".join(said)

    def _options(self, engine, sync):
        return profiles.options(self.args.profile, engine, sync)

    def steps(self):
        made = [Step(f"{engine}: loading", _LOAD_S, "loading") for engine in self.args.engines]
        for _, turn in itertools.groupby(self.units, lambda unit: unit.turn):
            around_s = _START_S + (WARM_UP_S if self.args.work else 0)
            own = {TPCC: self.args.tpcc_seconds + _AROUND_S, INSERTS: self.args.insert_seconds + _AROUND_S}
            for unit in turn:
                made.append(Step(unit.name, own.get(unit.work, self.args.seconds + 1) + around_s, unit.work))
                around_s = 0
        return made

    def work(self):
        for engine in self.args.engines:
            self._load(engine)
        for turn, of in itertools.groupby(self.units, lambda unit: unit.turn):
            self._turn(*turn, list(of))

    def finished(self):
        for engine in self.args.engines:
            self._server(engine, "NONE").remove()

    def _server(self, engine, sync):
        plugin = self.plugin if profiles.needs_plugin(engine) else None
        limit = self.limit if engine != profiles.IN_MEMORY else Limit()  # A ceiling: 4 GB of cache.
        return PrivateServer(self.environment, self.directory / engine, limit, plugin=plugin,
                             options=self._options(engine, sync), socket=self.sockets / "mysqld.sock")

    def _load(self, engine):
        """Fills the engine's server with all data; not synced, because loading is not measured."""
        step = f"{engine}: loading"
        if self.journal.result(step):
            self.progress.already(step)
            return
        server = self._server(engine, "NONE")
        server.stop()  # It may be left from an earlier sitting.
        server.remove()
        self.journal.begin(step)
        with self.progress.step(step):
            server.initialise()
            try:
                server.start()
                self._fill(server, engine)
            except Failed as error:
                raise server.failed(error) from error
            finally:
                server.stop()
        self.journal.finish(step, {"loaded": engine})

    def _fill(self, server, engine):
        args, name = self.args, profiles.engine_of(engine)
        works = {unit.work for unit in self.units if unit.engine == engine}
        if args.work:
            sysbench_run.prepare(server, name, args.rows)
        if TPCC in works:
            server.sql(f"CREATE DATABASE {tpcc_run.DATABASE}")
            tpcc_run.build(self.tools[TPCC], server, name, args.warehouses)
        if INSERTS in works:
            iibench_run.build(self.tools[INSERTS], server, name, args.insert_rows)

    def _turn(self, engine, sync, _, turn):
        """The unfinished works of a turn. Names a failed one; the next turn goes on."""
        left = [unit for unit in turn if not self.journal.result(unit.name)]
        for unit in turn:
            if unit not in left:
                self.progress.already(unit.name)
        if not left:
            return
        self.server, self._warm = self._server(engine, sync), False
        try:
            self.server.stop()  # As above.
            for unit in left:
                if self.once(unit) is False:
                    break  # The server may be gone.
        finally:
            self.server.stop()

    def measure(self, unit, step):
        server, args = self.server, self.args
        stem = f"{unit.engine}-{unit.sync}-{unit.work}-{unit.repetition}"
        raw = self.directory / (stem + (".json" if unit.work in self.tools else ".txt"))
        samples = raw.with_suffix(".samples.json")
        try:
            if not self._warm:
                server.start()
                if args.work:
                    step.note("warming up")
                    sysbench_run.run(server, "point_select", args.rows, args.threads, WARM_UP_S, unit.repetition)
                self._warm = True
            with server.sampler() as sampler:
                found = self._do(unit, raw)
            sampler.samples.save(samples)
            run = self._run(unit, raw, sampler.samples)
        except Failed as error:
            raise server.failed(error) from error
        # A run that left wrong data has no throughput.
        speed = (f"{found.per_s:,.1f} per s, p95 {found.p95_ms:.2f} ms, max {found.max_ms:.0f} ms"
                 if found.consistent else "INCONSISTENT")
        step.note(f"{speed}, {found.errors} errors")
        return [run], {}

    def _do(self, unit, raw):
        server, args = self.server, self.args
        if unit.work == TPCC:
            return tpcc_run.run(self.tools[TPCC], server, args.users, args.tpcc_seconds, unit.repetition, raw)
        if unit.work == INSERTS:
            return iibench_run.run(self.tools[INSERTS], server, profiles.engine_of(unit.engine), args.insert_seconds, raw)
        return sysbench_run.run(server, unit.work, args.rows, args.threads, args.seconds, unit.repetition, raw)

    def _run(self, unit, raw, samples):
        """The Run from the raw output, the samples and the server."""
        server, condition = self.server, _CONDITIONS[unit.sync]
        if unit.work == TPCC:
            result = load(raw)
            run = tpcc.run_of(result, unit.engine, unit.repetition, condition)
            run.configuration = {}  # The study already has it.
            begin_s = result.config["rampup_s"]
            sampled.add(run, samples, (begin_s, begin_s + run.seconds))
            run.row_bytes = tpcc.row_bytes(run.operations)
        elif unit.work == INSERTS:
            run, step = iibench.step(raw, unit.engine)
            run.repetition, run.condition, run.configuration = unit.repetition, condition, {}
            begin_s = step["began_unix_s"] - samples.began
            sampled.add(run, samples, (begin_s, begin_s + run.seconds))
        else:
            run = self._sysbench(unit, raw, condition)
            sampled.add(run, samples)
            run.row_bytes = sysbench.row_bytes(run.status) or None
        run.versions |= versions_of(server)
        # Each engine has its own directory; that is not a difference of settings.
        run.variables = {name: value.replace(str(server.directory), "...") for name, value in variables_of(server).items()}
        variables = self.directory / f"variables-{unit.engine}-{unit.sync}.json"
        variables.write_text(json.dumps(run.variables, indent=1) + "\n")
        sampled.add_memory(run, server.memory())
        run.sizes["server's directory after the run"] = allocated_bytes(server.data)
        run.files = [raw.name, raw.with_suffix(".samples.json").name, variables.name]
        run.configuration |= {"server options": " ".join(self._options(unit.engine, unit.sync))}
        return run

    def _sysbench(self, unit, raw, condition):
        done = parser.parse(figures.read(raw), raw)
        queries = sysbench_run.WORK[unit.work].per == "queries"
        return sysbench.run_of(done, unit.engine, f"sysbench {unit.work}", self.args.threads, unit.repetition, condition,
                               queries)
