"""One run of hammerdb_runner.sh: for each engine build, ANALYZE, settle, run, check, drop, cool down."""

import json
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from installer import apt, packages
from installer.shell import Failed, clean_environment, say
from lab.base import figures
from lab.base.watched import tied
from lab.record import provenance
from lab.reports import optional, write
from lab.runners.hammerdb import builtin, charts, hammerdb_csv, logs, real, server
from lab.runners.hammerdb import record as report
from lab.runners.hammerdb.watch import Watch
from lab.server import profiles
from lab.study import room
from lab.study.journal import BINARIES, Journal
from lab.study.progress import Progress, Step

COOLDOWN_S = 5
JOURNAL = "journal.jsonl"


def analyze(connection, database):
    """ANALYZE of all tables. An error comes as a row of the result, and would be easy to miss."""
    tables = [row[0] for row in connection.sql("SELECT table_name FROM information_schema.tables WHERE table_schema = "
                                               f"'{database}'")]
    if not tables:
        raise Failed(f"the database {database} holds no tables after its build")
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
        """Writes perf.txt, and flamegraph.svg where its tools are."""
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
        data.unlink(missing_ok=True)  # Large; the report and the graph are what is kept.

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


class Study:
    """Owns: directory (hammerdb_logs_*), in which each engine and benchmark has a folder."""

    def __init__(self, args, directory, plan):
        self.args, self.directory, self.plan = args, Path(directory), plan
        self.csv = report.csv_of(self.directory)
        self.failures = []

    def go(self):
        """Runs what is left of the plan. Returns the exit code: 1 when a step failed."""
        args, log = self.args, self.directory / "build.log"
        apt.install(packages.LAB_PYTHON, log)
        if args.perf and (why := server.provide_perf(log)):
            raise Failed(f"--perf: {why}")
        if args.hammerdb_dir:
            real.version(args.hammerdb_dir)
        self.server = server.make(args, self.directory)
        self.server.check(args.engines)
        self._check_disk()
        self.generator = real.Real(args, log) if args.hammerdb_dir else builtin.Builtin(args, log)
        plan = {**self.plan, BINARIES: {**self.server.identity(), **self.generator.identity()}}
        with Journal(self.directory / JOURNAL, "hammerdb", plan) as self.journal:
            said, binaries = self.server.facts()
            self._write_facts({**binaries, **self.generator.binaries}, said,
                              {engine: self.server.options(engine) for engine in args.engines})
            with Progress(f"{self.generator.name} on {', '.join(args.engines)}", self._steps()) as self.progress:
                try:
                    for engine in args.engines:
                        self._engine(engine)
                finally:
                    self.server.stop()
            if not self.failures:
                self.journal.end()
            self._report()
            if self.failures:
                say(f"What failed is tried again by: hammerdb_runner.sh --resume {self.directory}\n"
                    "Until then its database is kept.")
        return 1 if self.failures else 0

    def _check_disk(self):
        """Where a private server's data will be; of another server's disk nothing is known."""
        if self.args.private_server is None or any(self.directory.glob("server-*")):
            return
        servers = len(self.args.engines) if self.args.keep_schema else 1
        room.require(self.directory, servers * (room.SERVER + self.args.warehouses * room.WAREHOUSE),
                     "--scale-down and --warehouses make it smaller, -o names another place")

    def discard_if_empty(self):
        """Takes the folder away again when nothing was begun in it."""
        if not (self.directory / JOURNAL).exists() and not list(self.directory.glob("server-*")):
            shutil.rmtree(self.directory, ignore_errors=True)

    def _write_facts(self, binaries, said, options):
        """What the report says besides figures. said: of the server. options: those of each run's server by its label."""
        facts = {**provenance.collect(self.directory, binaries), "generator": self.generator.name, "plan": self.plan,
                 "options": options, **said}
        (self.directory / "provenance.json").write_text(json.dumps(facts, indent=1) + "\n")

    def _steps(self):
        steps = []
        for engine in self.args.engines:
            for benchmark in self.args.benchmarks:
                work = f"{engine} {benchmark}"
                steps += [Step(f"{work} build", self.generator.expected_s("build", benchmark), f"build {benchmark}"),
                          Step(f"{work} settle", self.args.settle),
                          Step(f"{work} run", self.generator.expected_s("run", benchmark), f"run {benchmark}"),
                          Step(f"{work} end", COOLDOWN_S + 2, "end")]
        return steps

    def _engine(self, engine):
        """All benchmarks on one engine. A step that fails is written down, and the next engine has its turn."""
        works = [(f"{engine} {benchmark}", benchmark) for benchmark in self.args.benchmarks]
        if all(self.journal.result(f"{work} end") for work, _ in works):
            for work, _ in works:
                self._already(work, "build", "settle", "run", "end")
            return
        try:
            connection = self.server.start(engine)
            for work, benchmark in works:
                self._benchmark(connection, engine, work, benchmark)
            self.server.stop()
            if not self.args.keep_schema:
                self.server.remove(engine)
        except Failed as error:
            self.progress.say(f"{engine}: {error}")
            self.failures.append(engine)
            self.server.stop()

    def _already(self, work, *steps):
        for step in steps:
            self.progress.already(f"{work} {step}")

    def _of_the_server(self, error):
        """What is raised for an error of a step: with what the end of its server says."""
        return self.server.failed(error)

    @contextmanager
    def _journaled(self, step):
        """A step that is done once. Gives the progress's step and a dictionary for what it found."""
        found = {}
        self.journal.begin(step)
        try:
            with self.progress.step(step) as running:
                yield running, found
        except Failed as error:
            said = self._of_the_server(error)
            self.journal.fail(step, str(said).splitlines()[0])
            raise said from error
        self.journal.finish(step, found)

    def _benchmark(self, connection, engine, work, benchmark):
        if self.journal.result(f"{work} end"):
            return self._already(work, "build", "settle", "run", "end")
        directory = self.directory / f"{engine}_{benchmark}"
        directory.mkdir(exist_ok=True)
        built, run = (self.journal.result(f"{work} {step}") for step in ("build", "run"))
        if built and (run or self._has_tables(work, benchmark)):
            self._already(work, "build")
        else:
            self._build(connection, engine, work, benchmark, directory)
        if self.journal.result(f"{work} run"):
            self._already(work, "settle", "run")
        else:
            with self.progress.step(f"{work} settle") as step:
                step.rest(self.args.settle)
            self._run(connection, engine, work, benchmark, directory)
        with self._journaled(f"{work} end") as (_, found):
            found["dropped"] = not self.args.keep_schema and self._has_tables(work, benchmark)
            if found["dropped"]:
                self.generator.drop(connection, benchmark, directory)
            time.sleep(COOLDOWN_S)

    def _database(self, benchmark):
        return self.args.tpcc_db if benchmark == "tpcc" else self.args.tpch_db

    def _last_with(self, database):
        """The work, in this sitting or an earlier one, that last took the database's name for it; None: no one has."""
        taken = [step for step, result in self.journal.results().items() if result == {"name": database}]
        return taken[-1].removesuffix(" database") if taken else None

    def _alone(self):
        """Whether each engine has a server of its own."""
        return self.args.private_server is not None

    def _has_tables(self, work, benchmark):
        """Whether what a work has built is still there: on a server that all engines share another may have replaced it."""
        return self._alone() or self._last_with(self._database(benchmark)) == work

    def _build(self, connection, engine, work, benchmark, directory):
        database = self._database(benchmark)
        # From here on a database of that name is this run's, also in a later sitting, until it is dropped.
        last = self._last_with(database)
        if last != work:
            own = self._alone() or last is not None and not (self.journal.result(f"{last} end") or {}).get("dropped")
            if connection.has_database(database) and not (own or self.args.replace_schema):
                raise Failed(f"there is a database {database} at {connection.address()}: --replace-schema drops it, "
                             f"--{benchmark}-db names another one")
            self.journal.finish(f"{work} database", {"name": database})
        with self._journaled(f"{work} build") as (step, found):
            connection.sql(f"DROP DATABASE IF EXISTS `{database}`")
            begin = time.monotonic()
            with self._bulk_load(connection, engine, benchmark):
                self.generator.build(connection, engine, benchmark, directory, step.note)
            found["build_sec"] = round(time.monotonic() - begin, 1)
            step.note("ANALYZE")
            begin = time.monotonic()
            analyze(connection, database)
            found["analyze_sec"] = round(time.monotonic() - begin, 1)
            step.note(f"built in {found['build_sec']} s, analysed in {found['analyze_sec']} s")

    @contextmanager
    def _bulk_load(self, connection, engine, benchmark):
        """MyRocks' bulk load, where one user loads: files that several make at once overlap, which it refuses."""
        args = self.args
        loaders = args.tpcc_build_vu if benchmark == "tpcc" else args.tpch_threads
        if benchmark == "tpcc" and args.hammerdb_dir:
            loaders = min(loaders, args.warehouses)  # The built-in generator's share a warehouse.
        if engine != "rocksdb" or args.rocksdb_no_bulk_load or loaders > 1:
            yield
            return
        connection.sql("SET GLOBAL rocksdb_bulk_load=1")
        try:
            yield
        except Failed as error:
            raise Failed(f"{error}\n(--rocksdb-no-bulk-load loads by ordinary transactions)") from error
        finally:
            connection.sql("SET GLOBAL rocksdb_bulk_load=0")

    def _run(self, connection, engine, work, benchmark, directory):
        args = self.args
        perf = Perf(directory, args.perf_frequency) if args.perf and benchmark == "tpcc" else None
        pid = connection.pid() if perf else None
        if perf and pid is None:
            raise Failed("--perf: the server's process is not to be seen from here (another machine, or its datadir is "
                         "not readable)")
        with self._journaled(f"{work} run") as (step, found), Watch(self.server.server, directory) as watch:
            def on_measure():
                watch.begin()
                if perf:
                    perf.begin(pid, args.duration * 60)

            try:
                figures = self.generator.run(connection, engine, benchmark, directory, step.note, on_measure)
                if perf:
                    perf.end()
            finally:
                if perf:
                    perf.stop()
            found.update(self._row(engine, work, benchmark, figures))
            step.note(summary(found))
        self._write_csv()

    def _row(self, engine, work, benchmark, figures):
        args = self.args
        shape = {"warehouses": args.warehouses, "virtual_users": args.tpcc_vu, "rampup_min": args.rampup,
                 "duration_min": args.duration} if benchmark == "tpcc" else {
                     "virtual_users": args.tpch_vu, "scale_factor": args.scale, "querysets": args.querysets}
        return {"benchmark": benchmark, "engine": engine, **shape, "settle_sec": args.settle,
                "build_sec": self.journal.result(f"{work} build")["build_sec"], **figures}

    def _rows(self):
        """By engine or build, in the order asked for; of each by repetition, whichever ran first."""
        asked = [spec.label for spec in self.args.builds] or self.args.engines
        rows = [result for step, result in self.journal.results().items() if step.endswith(" run")]
        return sorted(rows, key=lambda row: (asked.index(row["engine"]), row.get("repetition", 1)))

    def _write_csv(self):
        rows = [{name: value for name, value in row.items() if name != "repetition"} for row in self._rows()]
        self.csv.write_text(hammerdb_csv.write(rows))

    def _report(self):
        rows = self._rows()
        for sentence in self.journal.history():
            say(sentence)
        if not rows:
            return
        self._write_csv()
        say(table(rows))
        optional.drawn(lambda: plot([self.csv], self.directory))
        if self.args.private_server is not None or self.args.builds:
            say(f"settings: profile {self.args.profile}, commits synced: {self.args.sync}. "
                f"{profiles.about(self.args.profile)}")
        say(f"results: {self.csv}\nlogs and charts: {self.directory}")
        write.write_of_runner(lambda: report.study(self.directory), self.directory)
        provenance.write_checksums(self.directory, beside=[self.csv])


def summary(row):
    """A result in a line."""
    if row["benchmark"] == "tpch":
        return (f"geometric mean {row['tpch_geomean_sec']:.2f} s, query set {row['tpch_total_sec']:.0f} s, "
                f"{row['errors']:,} errors")
    if row.get("consistent") is False:
        return f"INCONSISTENT, so without throughput; {row['errors']:,} errors"
    p95 = f"{row['neword_p95_ms']:.2f} ms" if "neword_p95_ms" in row else "not known"
    return f"{row['nopm']:,} NOPM, {row['tpm']:,} TPM, new orders p95 {p95}, {row['errors']:,} errors"


def table(rows):
    return "\n".join(f"  {row['engine']:8} {row['benchmark']}: {summary(row)}" for row in rows)


def plot(paths, directory, names=None):
    """Draws the charts of these CSVs into directory; their logs are looked for beside them.

    names: what tells their runs apart; for several CSVs the time of each where it is None.
    """
    rows, series = [], []
    for number, path in enumerate(map(Path, paths)):
        found = hammerdb_csv.read(figures.read(path), path)
        name = names[number] if names else "" if len(paths) == 1 else path.stem.removeprefix("hammerdb_results_")
        rows += found
        series += logs.series(path, name, {row["engine"] for row in found if row.get("consistent") == "no"})
    drawn, missing = charts.draw(rows, series, directory)
    for name, why in missing.items():
        say(f"{name}: not drawn: {why}")
    say(f"{len(drawn) // 2} charts in {directory}")
