"""One measurement of sqlbench: an engine, a workload, threads, rows; loaded, warmed up, run, its disk measured."""

from dataclasses import dataclass

from lab.base import figures
from lab.record.turns import in_turn
from lab.works import sysbench_output as parser
from lab.works.sysbench_run import call, measuring, recorded

# What a load and the starts and stops of a server take, for the estimate.
_ROWS_PER_S = 40_000
_AROUND_S = 12
# Beside what sysbench printed: the server's samples, and its variables at the end.
SAMPLES, VARIABLES = ".samples.json", ".variables.tsv"


@dataclass(frozen=True)
class Unit:
    engine: str
    workload: str
    threads: int
    table_size: int
    iteration: int

    @property
    def name(self):
        return (f"{self.engine} {self.workload}, {self.threads} thread{'s' if self.threads > 1 else ''}, "
                f"{self.table_size} rows, iteration {self.iteration}")

    @property
    def file_name(self):
        return f"{self.engine}_{self.workload}_{self.threads}t_{self.table_size}r_{self.iteration}.txt"

    def expected_s(self, settings):
        return (_AROUND_S + self.table_size * settings.tables / _ROWS_PER_S + settings.warmup_s + settings.time_s)


def units(settings):
    """All measurements, at each point the engines one after the other: what changes over hours hits each alike."""
    of_one = [(engine, workload, threads, rows)
              for rows in settings.table_sizes
              for workload in settings.workloads
              for threads in settings.thread_counts
              for engine in settings.engines]
    return [Unit(*unit, iteration) for iteration in range(1, settings.iterations + 1)
            for unit in in_turn(of_one, iteration)]


def measure(unit, settings, target, step, raw):
    """Runs one. What sysbench prints goes to the file raw, the server's variables and status at the end beside it.

    Returns what the journal keeps.
    """
    with target.measured(unit.engine) as session:
        before = session.usage(unit.engine)
        session.create_database()
        step.note("loading")
        loaders = min(settings.tables, unit.threads)
        call(session.sysbench(unit.workload, "prepare", loaders, unit.table_size,
                               f"--mysql-storage-engine={unit.engine}"))
        prepared = session.usage_at_rest(unit.engine, again=True)
        if settings.warmup_s:
            step.note("warming up")
            call(_run_command(session, unit, settings.warmup_s, 0))
        with session.sampler() as sampler:
            recorded(_run_command(session, unit, settings.time_s, settings.report_interval_s), raw, step)
        sampler.samples.save(raw.with_suffix(SAMPLES))
        memory, versions = session.memory(), session.versions()
        for kind, suffix in (("VARIABLES", VARIABLES), ("STATUS", ".status.tsv")):
            raw.with_suffix(suffix).write_text(session.sql(f"SHOW GLOBAL {kind}"), encoding="utf-8")
        ran = session.usage_at_rest(unit.engine, again=False)
    parser.parse(figures.read(raw), raw.name)
    return {"raw": raw.name, "sizes": _sizes(before, prepared, ran), "memory": memory,
            "versions": versions}


def _run_command(session, unit, seconds, interval_s):
    return session.sysbench(unit.workload, "run", unit.threads, unit.table_size,
                            *measuring(seconds, interval_s, unit.iteration))


def _sizes(before, prepared, ran):
    """By phase, in bytes; empty where the server's directory cannot be read."""
    if not (before and prepared and ran):
        return {}
    return {**prepared.minus(before).phases("after_prepare"), **ran.minus(before).phases("after_run")}
