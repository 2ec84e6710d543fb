"""Runs sysbench's OLTP tests, and reads what it prints."""

from dataclasses import dataclass

from installer.shell import output
from lab.harness.watched import tied
from lab.parse import sysbench as parser

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


def figures(text, per):
    """The figures of a finished run. Raises BadInput for any other text."""
    done = parser.parse(text)
    return Figures(done.qps if per == "queries" else done.tps, done.latency.percentile_ms, done.latency.max_ms,
                   done.errors)


def _command(server, script, action, rows, threads, *more):
    return tied(["sysbench", script, "--db-driver=mysql", f"--mysql-socket={server.socket}", "--mysql-user=root",
            f"--mysql-db={DATABASE}", "--tables=1", f"--table-size={rows}", f"--threads={threads}", *more, action])


def prepare(server, engine, rows):
    """Makes and fills the table."""
    server.sql(f"CREATE DATABASE {DATABASE}")
    output(_command(server, "oltp_point_select", "prepare", rows, 1, f"--mysql-storage-engine={engine}"))


def transactions(server, name, rows, number, seed):
    """So many of a test's transactions on one connection, however long they take."""
    output(_command(server, WORK[name].script, "run", rows, 1, f"--events={number}", "--time=0", f"--rand-seed={seed}"))


def run(server, name, rows, threads, seconds, seed, raw=None):
    """One test; its figures. raw: the file that what it prints goes to."""
    work = WORK[name]
    said = output(_command(server, work.script, "run", rows, threads, f"--time={seconds}", "--report-interval=1",
                           "--histogram=on", f"--rand-seed={seed}", "--mysql-ignore-errors=1213,1205,1020"))
    if raw:
        raw.write_text(said)
    return figures(said, work.per)
