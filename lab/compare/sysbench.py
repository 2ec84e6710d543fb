"""Runs sysbench's OLTP tests, and reads what it prints."""

import re
from dataclasses import dataclass

from installer.shell import Failed, output

DATABASE = "sbtest"


@dataclass(frozen=True)
class Work:
    """A test of sysbench, and how its speed is counted."""
    script: str
    per: str  # "queries" or "transactions" a second.


WORK = {"point_select": Work("oltp_point_select", "queries"), "read_write": Work("oltp_read_write", "transactions"),
        "insert": Work("oltp_insert", "queries"), "write_only": Work("oltp_write_only", "transactions"),
        "read_only": Work("oltp_read_only", "transactions"), "delete": Work("oltp_delete", "queries"),
        "update_index": Work("oltp_update_index", "queries"),
        "update_non_index": Work("oltp_update_non_index", "queries")}


@dataclass(frozen=True)
class Figures:
    """One run of one test. Latencies are in milliseconds."""
    per_s: float
    p95_ms: float
    max_ms: float
    errors: int  # Statements that were ignored and run again; sysbench counts no others.


def parse(text, per):
    """The figures of a finished run. Raises Failed, with the line that is missing, for any other text."""
    def number(pattern):
        found = re.search(pattern, text, re.M)
        if not found:
            raise Failed(f"this is not the output of a finished sysbench 1.0 run: nothing matches {pattern!r}")
        return float(found.group(1))

    return Figures(number(rf"^\s+{per}:\s+\d+\s+\(([\d.]+) per sec\.\)"), number(r"^\s+95th percentile:\s+([\d.]+)"),
                   number(r"^\s+max:\s+([\d.]+)"), int(number(r"^\s+ignored errors:\s+(\d+)")))


def _command(server, script, action, rows, threads, *more):
    return ["sysbench", script, "--db-driver=mysql", f"--mysql-socket={server.socket}", "--mysql-user=root",
            f"--mysql-db={DATABASE}", "--tables=1", f"--table-size={rows}", f"--threads={threads}", *more, action]


def prepare(server, engine, rows):
    """Makes and fills the table."""
    server.sql(f"CREATE DATABASE {DATABASE}")
    output(_command(server, "oltp_point_select", "prepare", rows, 1, f"--mysql-storage-engine={engine}"))


def run(server, name, rows, threads, seconds, seed):
    """One test; its figures."""
    work = WORK[name]
    return parse(output(_command(server, work.script, "run", rows, threads, f"--time={seconds}", "--report-interval=0",
                                 f"--rand-seed={seed}", "--mysql-ignore-errors=1213,1205,1020")), work.per)
