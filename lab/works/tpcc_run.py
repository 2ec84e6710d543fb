"""Runs the lab's TPROC-C and reads its result."""

from installer.shell import Failed
from lab.works import generators
from lab.works import tpcc_result as results

DATABASE = "tpcc"


def build(tool, server, engine, warehouses):
    generators.call([tool, "build", "-S", server.socket, "--db", DATABASE, "--engine", engine, "-w", warehouses,
                     "--build-vu", 2, "-q"])


def run(tool, server, users, seconds, seed, result, rampup_s=5):
    """New orders a second of one measured run, its consistency checked; result: where its JSON goes."""
    generators.call([tool, "run", "-S", server.socket, "--db", DATABASE, "--vu", users, "--rampup", rampup_s,
                     "--duration", seconds, "--isolation", "rr", "--seed", seed, "--json", result, "-q"],
                    allowed=generators.MEASURED)
    done = results.load(result)
    if done.nopm is None:
        raise Failed(f"{result}: the run ended before its time")
    orders = done.transaction("NEWORD")
    return generators.Figures(done.nopm / 60, orders["p95_us"] / 1000, orders["max_us"] / 1000, done.errors(),
                              done.consistency() == "holds")

