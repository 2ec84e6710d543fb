"""Runs sysbench's OLTP tests, and reads what it prints."""

import subprocess
from dataclasses import dataclass

from installer.shell import Failed, clean_environment, output
from lab.base.figures import read
from lab.base.watched import tied
from lab.works import sysbench_output as parser
from lab.works.generators import Figures

DATABASE = "sbtest"
# Deadlock, changed since read, lock wait timeout, and errors of COMMIT: sysbench begins the transaction again.
IGNORED_ERRORS = "1213,1020,1205,1180"
_PERCENT = 95
# A server that hangs: sysbench waits for a statement that long after the end.
_FORCED_SHUTDOWN_S = 120


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


def figures(text, per):
    """The figures of a finished run. Raises BadInput for any other text."""
    done = parser.parse(text)
    return Figures(done.qps if per == "queries" else done.tps, done.latency.percentile_ms, done.latency.max_ms,
                   done.errors)  # Of statements that were ignored and run again; sysbench counts no others.


def command(socket, script, action, threads, rows, *more, tables=1, database=DATABASE, user="root"):
    """The command line of one of sysbench's tests."""
    return ["sysbench", script, "--db-driver=mysql", f"--mysql-socket={socket}", f"--mysql-user={user}",
            f"--mysql-db={database}", f"--tables={tables}", f"--table-size={rows}", f"--threads={threads}",
            f"--mysql-ignore-errors={IGNORED_ERRORS}", *more, action]


def measuring(seconds, interval_s, seed):
    """What else a test is told whose figures count."""
    return [f"--time={seconds}", f"--report-interval={interval_s}", f"--percentile={_PERCENT}", "--histogram=on",
            f"--rand-seed={seed}", f"--forced-shutdown={_FORCED_SHUTDOWN_S}"]


def prepare(server, engine, rows):
    """Makes and fills the table."""
    server.sql(f"CREATE DATABASE {DATABASE}")
    call(command(server.socket, "oltp_point_select", "prepare", 1, rows, f"--mysql-storage-engine={engine}"))


def transactions(server, name, rows, number, seed):
    """So many of a test's transactions on one connection, however long they take."""
    call(command(server.socket, WORK[name].script, "run", 1, rows, f"--events={number}", "--time=0", f"--rand-seed={seed}"))


def run(server, name, rows, threads, seconds, seed, raw=None):
    """One test; its figures. raw: the file that what it prints goes to."""
    work = WORK[name]
    said = output(tied(command(server.socket, work.script, "run", threads, rows, *measuring(seconds, 1, seed))))
    if raw:
        raw.write_text(said)
    return figures(said, work.per)


def call(argv):
    done = subprocess.run(tied(argv), env=clean_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise Failed(f"sysbench {argv[1]} {argv[-1]} ended with {done.returncode}\n{done.stdout[-2000:]}")


def recorded(argv, raw, step):
    """Runs sysbench with its output in raw, and says each interval as it comes."""
    with open(raw, "w", encoding="utf-8") as out, subprocess.Popen(
            tied(argv), env=clean_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace") as child:
        try:
            for line in child.stdout:
                out.write(line)
                interval = parser.parse_interval(line)
                if interval:
                    out.flush()
                    step.note(f"{interval.second} s: {interval.tps:,.0f} transactions/s, p{_PERCENT} "
                              f"{interval.latency_ms:.2f} ms")
        except BaseException:
            child.kill()
            raise
    if child.returncode != 0:
        parser.parse(read(raw), raw.name)  # Says better what is wrong, where it can.
        raise Failed(f"sysbench {argv[1]} run ended with {child.returncode}; see {raw}")
    run = parser.parse(read(raw), raw.name)
    step.note(f"{run.tps:,.1f} transactions/s, average {run.latency.avg_ms:.2f} ms, p{_PERCENT} "
              f"{run.latency.percentile_ms:.2f} ms, {run.errors} errors")
