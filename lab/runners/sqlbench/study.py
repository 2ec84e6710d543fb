"""One run of sqlbench.sh. A unit is an engine, a workload, threads and rows: load, warm-up, run, disk usage."""

import shutil
from dataclasses import dataclass

from lab.base import figures
from lab.record import provenance
from lab.record.turns import in_turn
from lab.reports import optional
from lab.runners.sqlbench import charts, settings, tables
from lab.runners.sqlbench.running import Running
from lab.study import core, written
from lab.study.progress import Step
from lab.works import sampled, sysbench
from lab.works import sysbench_output as parser
from lab.works.sysbench_run import call, measuring, recorded

# Times of a load and of a server's starts and stops, for the estimate.
_ROWS_PER_S = 40_000
_AROUND_S = 12
_SIZES = {"after_prepare": "data after the load", "after_run": "data after the run",
          "after_run_unflushed": "of that not flushed", "after_run_log": "log after the run",
          "after_run_undo": "undo and system after the run"}
_RAW = "raw_"  # Prefix of a run's directory in OUTPUT_DIR.


@dataclass(frozen=True)
class Unit:
    engine: str
    workload: str
    threads: int
    table_size: int
    repetition: int

    @property
    def name(self):
        return (f"{self.engine} {self.workload}, {self.threads} thread{'s' if self.threads > 1 else ''}, "
                f"{self.table_size} rows, iteration {self.repetition}")

    @property
    def file_name(self):
        return f"{self.engine}_{self.workload}_{self.threads}t_{self.table_size}r_{self.repetition}.txt"


def units(wanted):
    """All measurements, at each point the engines one after the other, so that slow changes affect each alike."""
    of_one = [(engine, workload, threads, rows) for rows in wanted.table_sizes for workload in wanted.workloads
              for threads in wanted.thread_counts for engine in wanted.engines]
    return [Unit(*unit, iteration) for iteration in range(1, wanted.iterations + 1)
            for unit in in_turn(of_one, iteration)]


def asked(wanted, running):
    """(name, value) of the variables that describe this run; the servers' options are with the runs.

    With a profile, or for a server that ran already (running), the engines' variables do not apply.
    """
    of_engines = tuple(f"{engine.lower()}_" for engine in settings.ENGINES)
    used = tuple(f"{engine.lower()}_" for engine in wanted.engines if not wanted.profile and not running)
    return [(name, " ".join(map(str, value)) if isinstance(value, tuple) else value)
            for name, value in wanted.plan().items()
            if value != "" and (name.startswith(used) or not name.startswith(of_engines))]


class Study(core.Study):
    """Owns: directory (raw_TIME), and beside it the tables, reports and charts with that time in their names."""

    kind, command = "sqlbench", "sqlbench.sh"
    packages = ()  # Installed already.
    charts = False

    def __init__(self, wanted, places, server, directory):
        super().__init__(wanted, directory, wanted.plan())
        self.wanted, self.places, self.server = wanted, places, server
        self.stamp = directory.name.removeprefix(_RAW)
        self.reports, self.report_name = directory.parent, f"report_{self.stamp}"
        self.units, self.labels = units(wanted), list(wanted.engines)

    @staticmethod
    def place(output, stamp):
        """The directory of a new run."""
        return output / f"{_RAW}{stamp}"

    @staticmethod
    def begun(output):
        """The journals of this directory's runs, the newest first."""
        return sorted(output.glob(f"{_RAW}*/{written.JOURNAL}"), reverse=True)

    def prepare(self, _log):
        if not (self.directory / written.JOURNAL).exists():
            self.server.take_database(None)  # A refusal must leave no run for the same command to resume.
        self.binaries = {**self.server.binaries, "sysbench": shutil.which("sysbench")}
        self.unequal = [*settings.unequal(self.wanted), *self.server.said()]
        self.configuration = asked(self.wanted, isinstance(self.server, Running))

    def identity(self):
        return self.server.identity()

    def facts(self):
        data = self.places.data
        return provenance.collect(data if data.exists() else self.directory, self.binaries)

    def how_again(self):
        return "the same command"

    def title_and_about(self):
        wanted = self.wanted
        return "sysbench: " + " and ".join(wanted.engines), (
            f"{wanted.time_s} s a run after {wanted.warmup_s} s of warm-up, {wanted.iterations} iteration(s), "
            f"{wanted.tables} table(s); the engines take turns, each on a fresh server.")

    def steps(self):
        wanted = self.wanted
        return [Step(unit.name, _AROUND_S + unit.table_size * wanted.tables / _ROWS_PER_S + wanted.warmup_s + wanted.time_s,
                     unit.engine) for unit in self.units]

    def work(self):
        self.server.take_database(self.journal)
        super().work()

    def measure(self, unit, step):
        raw, wanted = self.directory / unit.file_name, self.wanted
        with self.server.measured(unit.engine) as session:
            before = session.usage(unit.engine)
            session.create_database()
            step.note("loading")
            call(session.sysbench(unit.workload, "prepare", min(wanted.tables, unit.threads), unit.table_size,
                                  f"--mysql-storage-engine={unit.engine}"))
            prepared = session.usage_at_rest(unit.engine, again=True)
            if wanted.warmup_s:
                step.note("warming up")
                call(_run_command(session, unit, wanted.warmup_s, 0))
            with session.sampler() as sampler:
                recorded(_run_command(session, unit, wanted.time_s, wanted.report_interval_s), raw, step)
            sampler.samples.save(raw.with_suffix(".samples.json"))
            memory, versions = session.memory(), session.versions()
            told = {kind: session.sql(f"SHOW GLOBAL {kind.upper()}") for kind in ("variables", "status")}
            for kind, text in told.items():
                raw.with_suffix(f".{kind}.tsv").write_text(text, encoding="utf-8")
            ran = session.usage_at_rest(unit.engine, again=False)
        sizes = _sizes(before, prepared, ran)
        run = self.run_of(unit, raw, sampler.samples, sizes)
        run.variables = dict(line.split("\t", 1) for line in told["variables"].splitlines() if "\t" in line)
        run.versions |= versions
        sampled.add_memory(run, memory)
        return [run], {"raw": raw.name, "sizes": sizes}

    def run_of(self, unit, raw, samples, sizes):
        """The Run from the raw output and the samples."""
        done, several = parser.parse(figures.read(raw), raw.name), len(self.wanted.table_sizes) > 1
        run = sysbench.run_of(done, unit.engine, unit.workload, unit.threads, unit.repetition,
                              f"{unit.table_size:,} rows" if several else "", measures={"queries/s": done.qps},
                              sizes={text: sizes[key] for key, text in _SIZES.items() if key in sizes},
                              configuration={"server options": " ".join(self.server.options(unit.engine))},
                              files=[raw.name, raw.with_suffix(".samples.json").name])
        sampled.add(run, samples)
        run.row_bytes = sysbench.row_bytes(run.status) or None
        return run

    def tables(self):
        done = [(unit, self.journal.result(unit.name)) for unit in self.units]
        of = [tables.Figures(unit, result, self.directory) for unit, result in done if result]
        self.paths = tables.write(self.reports, self.stamp, of, self.wanted.warmup_s)

    def beside(self):
        return self.paths.values()

    def report(self):
        self.tables()  # Even without any measurement.
        super().report()
        if any(self.journal.result(unit.name) for unit in self.units) and self.places.plot:
            directory = self.reports / f"charts_{self.stamp}"
            drawn = optional.drawn(lambda: charts.plot(self.paths["summary"], self.paths["detail"], directory))
            if drawn:
                print(f"{len(drawn)} files of charts in {directory}")


def _run_command(session, unit, seconds, interval_s):
    return session.sysbench(unit.workload, "run", unit.threads, unit.table_size,
                            *measuring(seconds, interval_s, unit.repetition))


def _sizes(before, prepared, ran):
    """By phase, in bytes; empty where the server's directory cannot be read."""
    if not (before and prepared and ran):
        return {}
    return {**prepared.minus(before).phases("after_prepare"), **ran.minus(before).phases("after_run")}
