"""Runs the lab's insert benchmark: three secondary indexes, inserts at the high end, deletes at the low end."""

from installer.shell import Failed
from lab.works import generators, iibench

DATABASE = "iibench"
_CHURN = "l.i1"


def build(tool, server, engine, rows):
    """Fills the table, then adds its indexes."""
    generators.call([*_argv(tool, server, engine), "--phases", "l.i0,l.x", "--load-rows", rows, "--replace", "--no-check"])


def run(tool, server, engine, seconds, result):
    """Rows inserted a second of one measured run (as many are deleted), its rows checked; result: where its JSON goes."""
    generators.call([*_argv(tool, server, engine), "--phases", _CHURN, "--i1-rows", 0, "--write-seconds", seconds,
                     "--json", result], allowed=generators.MEASURED)
    step, _ = iibench.step(result, engine)
    if step.throughput is None:
        raise Failed(f"{result}: the run ended before its time")
    insert = step.latencies[0]
    return generators.Figures(step.throughput, insert.p95_ms, insert.max_ms, sum(error.count for error in step.errors),
                              not step.broken)


def _argv(tool, server, engine):
    return [tool, "run", "-S", server.socket, "--db", DATABASE, "--engine", engine, "-q"]
