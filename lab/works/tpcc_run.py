"""Runs the lab's TPROC-C and reads its result."""

from dataclasses import dataclass

from installer.shell import Failed
from lab.works import generators
from lab.works import tpcc_result as results

DATABASE = "tpcc"


@dataclass(frozen=True)
class Figures:
    """One run."""
    per_s: float   # New orders a second (NOPM / 60).
    p95_ms: float  # Of new orders.
    max_ms: float
    errors: int
    consistent: bool


def build(tool, server, engine, warehouses):
    generators.call([tool, "build", "-S", server.socket, "--db", DATABASE, "--engine", engine, "-w", warehouses,
                     "--build-vu", 2, "-q"])


def run(tool, server, users, seconds, seed, result, rampup_s=5):
    """One measured run, its consistency checked; result: where its JSON goes."""
    generators.call([tool, "run", "-S", server.socket, "--db", DATABASE, "--vu", users, "--rampup", rampup_s,
                     "--duration", seconds, "--isolation", "rr", "--seed", seed, "--json", result, "-q"],
                    allowed=generators.MEASURED)
    done = results.load(result)
    if done.nopm is None:
        raise Failed(f"{result}: the run ended before its time")
    orders = done.transaction("NEWORD")
    return Figures(done.nopm / 60, orders["p95_us"] / 1000, orders["max_us"] / 1000, done.errors(),
                   done.consistency() == "holds")

