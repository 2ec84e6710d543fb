"""One run of hammerdb_runner.sh. A unit is a benchmark on an engine: build, ANALYZE, settle, run, check, drop, rest."""

import itertools
import shutil
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from installer.shell import Failed, clean_environment, say
from lab.base import figures
from lab.base.watched import tied
from lab.record import form, provenance
from lab.reports import optional
from lab.runners.hammerdb import builtin, charts, hammerdb_csv, logs, real, runs, server
from lab.runners.hammerdb.options import ENGINE_NAMES
from lab.runners.hammerdb.watch import Watch
from lab.server import profiles
from lab.study import core, room, sitting
from lab.study.progress import Step

COOLDOWN_S = 5


@dataclass(frozen=True)
class Unit:
    engine: str      # As in the CSV; for builds the label.
    benchmark: str
    work: str        # The beginning of its steps' names.
    folder: str
    repetition: int = 1

    @property
    def name(self):
        return f"{self.work} run"

    @property
    def label(self):
        return self.engine


def analyze(connection, database):
    """ANALYZE of all tables. Checks for errors, which come as rows of the result."""
    tables = [row[0] for row in connection.sql("SELECT table_name FROM information_schema.tables WHERE table_schema = "
                                               f"'{database}'")]
    if not tables:
        raise Failed(f"the database {database} has no tables after its build")
    for _, _, kind, text, *_ in connection.sql(f"ANALYZE TABLE {', '.join(f'`{database}`.`{t}`' for t in tables)}"):
        if kind.lower() == "error":
            raise Failed(f"ANALYZE TABLE in {database}: {text}")


class Perf:
    """perf record on the server while it is measured, and its report."""

    def __init__(self, directory, frequency):
        self.directory, self.frequency, self.process = directory, frequency, None

    def begin(self, pid, seconds):
        self.process = subprocess.Popen(
            tied(["perf", "record", "-F", self.frequency, "-g", "-p", pid, "-o", self.directory / "perf.data", "--",
                  "sleep", max(1, int(seconds) - 2)]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=clean_environment())

    def end(self):
        """Writes perf.txt, and flamegraph.svg if its tools are installed."""
        if self.process is None:
            return
        self.process.wait()
        data, env = self.directory / "perf.data", clean_environment()
        with open(self.directory / "perf.txt", "w") as out:
            subprocess.run(["perf", "report", "--stdio", "--no-children", "-g", "none", "--sort", "comm,dso,symbol", "-i",
                            data], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, env=env, check=False)
        tools = [shutil.which(name) for name in ("stackcollapse-perf.pl", "flamegraph.pl")]
        if all(tools):
            with open(self.directory / "flamegraph.svg", "w") as out:
                subprocess.run(["sh", "-c", f'perf script -i "$1" | "{tools[0]}" | "{tools[1]}"', "sh", data], stdout=out,
                               stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, check=False)
        data.unlink(missing_ok=True)  # Large; keep only the report and the graph.

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


class Tprocc(core.Study):
    """Shared by the studies of hammerdb_runner.sh's generators: rows, their CSV and its charts."""

    kind, command = "hammerdb", "hammerdb_runner.sh"
    smaller = "use --scale-down or --warehouses to make it smaller, or -o to put it elsewhere"
    charts = figures_said = False  # It prints a line per row, and has its own charts.

    def __init__(self, args, directory, plan):
        super().__init__(args, directory, plan)
        args.partition_from = plan.get("partition_from", args.partition_from)
        self.csv = self.directory.parent / f"hammerdb_results_{self.directory.name.removeprefix('hammerdb_logs_')}.csv"

    @staticmethod
    def drawn(args):
        return {"partition_from": args.partition_from}

    def title_and_about(self):
        args = self.args
        return "TPROC-C: " + " and ".join(self.labels), (
            f"By {self.generator.name}: {form.plural(args.warehouses, 'warehouse')}, "
            f"{form.plural(args.tpcc_vu, 'virtual user')}, {args.rampup} min of ramp-up, {args.duration} min measured; "
            + ("the builds take turns, each on a fresh copy of data loaded once per engine." if args.builds else
               "each engine is built, measured and dropped in turn."))

    def row(self, unit, build_sec, found):
        """A row of the CSV. found: the generator's figures."""
        args = self.args
        shape = {"warehouses": args.warehouses, "virtual_users": args.tpcc_vu, "rampup_min": args.rampup,
                 "duration_min": args.duration} if unit.benchmark == "tpcc" else {
                     "virtual_users": args.tpch_vu, "scale_factor": args.scale, "querysets": args.querysets}
        return {"benchmark": unit.benchmark, "engine": unit.engine, **shape, "settle_sec": args.settle,
                "build_sec": build_sec, **found}

    def measured(self, unit, row, label, told):
        """What measure() gives."""
        return [runs.run_of(row, self.directory / unit.folder, label, unit.repetition, told, self.directory)], {"row": row}

    def done(self):
        """(unit, row) by engine or build, in the order of the options, and then by repetition."""
        found = [(unit, result["row"]) for unit in self.units if (result := self.journal.result(unit.name))]
        engines = list(dict.fromkeys(self.order()))
        return sorted(found, key=lambda one: (engines.index(one[0].engine), one[0].repetition))

    def order(self):
        return self.labels

    def tables(self):
        self.csv.write_text(hammerdb_csv.write([row for _, row in self.done()]))

    def beside(self):
        return [self.csv]

    def report(self):
        done = self.done()
        if done:
            say(table([row for _, row in done]))
            self.tables()
            optional.drawn(lambda: draw([(self.csv, self._series(done))], self.reports))
            if self.args.private_server is not None or self.args.builds:
                say(f"settings: profile {self.args.profile}, commits synced: {self.args.sync}. "
                    f"{profiles.about(self.args.profile)}")
            say(f"results: {self.csv}\nlogs and charts: {self.directory}")
        super().report()

    def _series(self, done):
        several = len({unit.repetition for unit, _ in done}) > 1
        return [logs.of_folder(self.directory / unit.folder, unit.engine, str(unit.repetition) if several else "")
                for unit, row in done if unit.benchmark == "tpcc" and row.get("consistent") is not False]


class Study(Tprocc):
    """Owns: directory (hammerdb_logs_*), with a folder for each engine and benchmark."""

    def __init__(self, args, directory, plan):
        super().__init__(args, directory, plan)
        self.labels = [ENGINE_NAMES[engine] for engine in args.engines]
        self.units = [Unit(engine, benchmark, f"{engine} {benchmark}", f"{engine}_{benchmark}")
                      for engine in args.engines for benchmark in args.benchmarks]

    def order(self):
        return self.args.engines

    def say_what_is_kept(self):
        if self.directory.exists():
            say("Until then " + ("private servers' data are" if self._alone() else "its database is") + " kept.")

    def needs_bytes(self):
        """The directory of a private server's data; another server's disk is unknown."""
        if not self._alone() or any(self.directory.glob("server-*")):
            return 0
        servers = len(self.args.engines) if self.args.keep_schema else 1
        return servers * (room.SERVER + self.args.warehouses * room.WAREHOUSE)

    def prepare(self, log):
        args = self.args
        if args.perf and (why := server.provide_perf(log)):
            raise Failed(f"--perf: {why}")
        if args.hammerdb_dir:
            real.version(args.hammerdb_dir)
        self.server = server.make(args, self.directory)
        self.server.check(args.engines)
        self.generator = real.Real(args, log) if args.hammerdb_dir else builtin.Builtin(args, log)
        said, binaries = self.server.facts()
        self.binaries, self.says = {**binaries, **self.generator.binaries}, said.get("says", {})
        self.unequal = runs.unequal(args, self.generator.name, said.get("limit", ""), said.get("unseen", []))
        self.configuration = runs.asked(args)

    def identity(self):
        return {**self.server.identity(), **self.generator.identity()}

    def facts(self):
        return {**provenance.collect(self.directory, self.binaries), "generator": self.generator.name, "says": self.says}

    def steps(self):
        expected = self.generator.expected_s
        return [step for unit in self.units for step in (
            Step(f"{unit.work} build", expected("build", unit.benchmark), f"build {unit.benchmark}"),
            Step(f"{unit.work} settle", self.args.settle),
            Step(unit.name, expected("run", unit.benchmark), f"run {unit.benchmark}"),
            Step(f"{unit.work} end", COOLDOWN_S + 2, "end"))]

    def groups(self):
        """Consecutive units on one start of a server."""
        return [list(of) for _, of in itertools.groupby(self.units, lambda unit: unit.engine)]

    def place(self, unit):
        """Distinguishes a private server's data from that of others."""
        return unit.engine

    def work(self):
        try:
            for units in self.groups():
                self._group(units)
        finally:
            self.server.stop()

    def _group(self, units):
        """A failed unit is recorded, and the next group has its turn."""
        if all(self.journal.result(f"{unit.work} end") for unit in units):
            for unit in units:
                self._already(unit, "build", "settle", "run", "end")
            return
        try:
            self.before(units[0])
            connection = self.server.start(units[0].engine, self.place(units[0]))
            done = all(self._unit(connection, unit) for unit in units)
            self.server.stop()
            if done and not self.args.keep_schema:
                self.server.remove(self.place(units[0]))
        except Failed as error:
            self.progress.say(f"{units[0].work}: {error}")
            self.journal.fail(units[0].work, str(error).splitlines()[0])
            self.failed += 1
            self.server.stop()

    def before(self, unit):
        """Before its server starts, or is asked for the first time."""

    def _already(self, unit, *steps):
        for step in steps:
            self.progress.already(f"{unit.work} {step}")

    def _once(self, name, work, anew=False):
        """A step that no earlier sitting has done; with anew, also if one has. False: it failed."""
        def on_the_server(step):
            try:
                return work(step)
            except Failed as error:
                raise self.server.failed(error) from error

        done = sitting.once(self.journal, self.progress, name, on_the_server, anew)
        self.failed += done is False
        return done is not False

    def _unit(self, connection, unit):
        """False: it failed."""
        if self.journal.result(f"{unit.work} end"):
            self._already(unit, "build", "settle", "run", "end")
            return True
        (self.directory / unit.folder).mkdir(parents=True, exist_ok=True)
        built, run = (self.journal.result(f"{unit.work} {step}") for step in ("build", "run"))
        if built and (run or self._has_tables(unit)):
            self._already(unit, "build")
        elif not self._built(connection, unit):
            return False
        if run:
            self._already(unit, "settle", "run")
        else:
            with self.progress.step(f"{unit.work} settle") as step:
                step.rest(self.args.settle)
            self._connection = connection
            if self.once(unit) is False:
                return False
        return self._once(f"{unit.work} end", lambda _: self._end(connection, unit))

    def _end(self, connection, unit):
        dropped = not self.args.keep_schema and self._has_tables(unit)
        if dropped:
            self.generator.drop(connection, unit.benchmark, self.directory / unit.folder)
        time.sleep(COOLDOWN_S)
        return {"dropped": dropped}

    def database(self, benchmark):
        return self.args.tpcc_db if benchmark == "tpcc" else self.args.tpch_db

    def last_with(self, database):
        """The work of this run, in any sitting, that last took the database's name; None: none has."""
        taken = [step for step, result in self.journal.results().items() if result == {"name": database}]
        return taken[-1].removesuffix(" database") if taken else None

    def keeps(self, database):
        """The work that left its database of that name there; None: this run left none."""
        last = self.last_with(database)
        return last if last and not (self.journal.result(f"{last} end") or {}).get("dropped") else None

    def _alone(self):
        """Whether each engine has its own server."""
        return self.args.private_server is not None

    def _has_tables(self, unit):
        """Whether a work's tables are still there: on a shared server another engine may have replaced them."""
        return self._alone() or self.last_with(self.database(unit.benchmark)) == unit.work

    def _built(self, connection, unit):
        """False: it failed. Runs again if another work has replaced the tables."""
        database = self.database(unit.benchmark)
        return self._once(f"{unit.work} build", lambda step: self._build(connection, unit, database, step), anew=True)

    def _build(self, connection, unit, database, step):
        # From here on a database of that name belongs to this run, also in a later sitting, until it is dropped.
        if self.last_with(database) != unit.work:
            own = self._alone() or self.keeps(database)
            if connection.has_database(database) and not (own or self.args.replace_schema):
                raise Failed(f"there is a database {database} at {connection.address()}: --replace-schema drops it, "
                             f"--{unit.benchmark}-db uses another name")
            self.journal.finish(f"{unit.work} database", {"name": database})
        connection.sql(f"DROP DATABASE IF EXISTS `{database}`")
        begin = time.monotonic()
        with self._bulk_load(connection, unit):
            self.generator.build(connection, unit.engine, unit.benchmark, self.directory / unit.folder, step.note)
        built, begin = time.monotonic() - begin, time.monotonic()
        step.note("ANALYZE")
        analyze(connection, database)
        found = {"build_sec": round(built, 1), "analyze_sec": round(time.monotonic() - begin, 1)}
        step.note(f"built in {found['build_sec']} s, analysed in {found['analyze_sec']} s")
        return found

    @contextmanager
    def _bulk_load(self, connection, unit):
        """MyRocks' bulk load, only for a single loader: files from several loaders overlap, and MyRocks refuses them."""
        args = self.args
        loaders = args.tpcc_build_vu if unit.benchmark == "tpcc" else args.tpch_threads
        if unit.benchmark == "tpcc" and args.hammerdb_dir:
            loaders = min(loaders, args.warehouses)  # The built-in generator's loaders share a warehouse.
        if unit.engine != "rocksdb" or args.rocksdb_no_bulk_load or loaders > 1:
            yield
            return
        connection.sql("SET GLOBAL rocksdb_bulk_load=1")
        try:
            yield
        except Failed as error:
            raise Failed(f"{error}\n(--rocksdb-no-bulk-load loads by ordinary transactions)") from error
        finally:
            connection.sql("SET GLOBAL rocksdb_bulk_load=0")

    def measure(self, unit, step):
        directory, perf = self.directory / unit.folder, None
        try:
            if self.args.perf and unit.benchmark == "tpcc":
                perf, pid = Perf(directory, self.args.perf_frequency), self._connection.pid()
                if pid is None:
                    raise Failed("--perf: the server's process is not visible from here (another machine, or its "
                                 "datadir is not readable)")
            with Watch(self.server.server, directory) as watch:
                def on_measure():
                    watch.begin()
                    if perf:
                        perf.begin(pid, self.args.duration * 60)

                found = self.generator.run(self._connection, unit.engine, unit.benchmark, directory, step.note, on_measure)
                if perf:
                    perf.end()
        except Failed as error:
            raise self.server.failed(error) from error
        finally:
            if perf:
                perf.stop()
        row = self.row(unit, self.journal.result(f"{unit.work} build")["build_sec"], found)
        step.note(summary(row))
        return self.measured(unit, row, ENGINE_NAMES[unit.engine], self.server.options(unit.engine))


def summary(row):
    """A result in one line."""
    if row["benchmark"] == "tpch":
        return (f"geometric mean {row['tpch_geomean_sec']:.2f} s, query set {row['tpch_total_sec']:.0f} s, "
                f"{row['errors']:,} errors")
    if row.get("consistent") is False:
        return f"INCONSISTENT, so without throughput; {row['errors']:,} errors"
    p95 = f"{row['neword_p95_ms']:.2f} ms" if "neword_p95_ms" in row else "not known"
    return f"{row['nopm']:,} NOPM, {row['tpm']:,} TPM, new orders p95 {p95}, {row['errors']:,} errors"


def table(rows):
    return "\n".join(f"  {row['engine']:8} {row['benchmark']}: {summary(row)}" for row in rows)


def draw(results, directory):
    """results: (CSV, RunSeries of its logs). Draws the charts of all into directory."""
    rows, series = [], []
    for path, of in results:
        rows += hammerdb_csv.read(figures.read(path), path)
        series += of
    drawn, missing = charts.draw(rows, series, directory)
    for name, why in missing.items():
        say(f"{name}: not drawn: {why}")
    say(f"{len(drawn) // 2} charts in {directory}")


def plot(paths, directory):
    """The same for CSVs, with their logs beside them; their times distinguish several."""
    def series(path):
        name = "" if len(paths) == 1 else path.stem.removeprefix("hammerdb_results_")
        broken = {row["engine"] for row in hammerdb_csv.read(figures.read(path), path) if row.get("consistent") == "no"}
        return logs.series(path, name, broken)

    draw([(path, series(path)) for path in map(Path, paths)], directory)
