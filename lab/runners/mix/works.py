"""The mix's kinds of work on one server: sysbench's and TPROC-C, loaded once and run for some seconds."""

import os
from dataclasses import dataclass

from lab.works import sysbench_run as sysbench
from lab.works import tpcc_run as tpcc

TPCC = "TPROC-C"
WORKS = ("point_select", "read_write", "write_only", "insert", TPCC)
_RAMP_UP_S = 2


@dataclass(frozen=True)
class Sizes:
    """Small enough to load in seconds, but larger than the caches of train.SETTINGS."""
    rows: int = 100_000
    warehouses: int = 2
    users: int = max(4, min(16, 2 * (os.cpu_count() or 2)))


@dataclass(frozen=True)
class Tools:
    """The load generators."""
    tpcc: object
    iibench: object


def load(server, tools, engine, sizes):
    """Loads the data of all works into tables of that engine. Databases are named by the works, not by engines."""
    sysbench.prepare(server, engine, sizes.rows)
    server.sql(f"CREATE DATABASE {tpcc.DATABASE}")
    tpcc.build(tools.tpcc, server, engine, sizes.warehouses)


def run(server, tools, work, sizes, seconds, seed, raw):
    """Runs a work; returns its figures, of which per_s counts. raw: the file for the generator's output."""
    if work == TPCC:
        return tpcc.run(tools.tpcc, server, sizes.users, seconds, seed, raw, rampup_s=_RAMP_UP_S)
    return sysbench.run(server, work, sizes.rows, sizes.users, seconds, seed, raw)


def expected_s(work, seconds):
    """An estimate of run()'s time."""
    return seconds + (_RAMP_UP_S + 4 if work == TPCC else 1)
