"""Our promises on a real server: the programs of test/server."""

import re
import sys

from installer import servers
from installer.shell import TREE, run
from tools.run_tests.server import variables
from tools.run_tests.step import FULL, Outcome, of_unittest


def _run(program, name, context, *options, **more_variables):
    run([sys.executable, "-m", f"test.server.{program}", *options], log=context.log, cwd=TREE,
        env={**variables(name, context), **more_variables})


def _repeat(program, name, context, bounded, full, *options, option="--rounds"):
    """Runs a program that takes a number of rounds; returns how many."""
    rounds = full if context.level == FULL else bounded
    _run(program, name, context, option, str(rounds), *options)
    return rounds


def plans(name, context):
    """The optimizer's plans of all TPROC-C and sysbench queries are InnoDB's, also after a restart."""
    _run("plans", name, context)
    alike = re.findall(r": (\d+) of \1 plans are InnoDB's$", context.log.read_text(), re.M)
    return Outcome(passed=sum(map(int, alike)))


def collations(name, context):
    """Every collation of the server: an index orders, finds and refuses like the server's comparison."""
    _run("collations", name, context)
    right = re.search(r"^\d+ collations, (\d+) right", context.log.read_text(), re.M)
    return Outcome(passed=int(right.group(1)))


# Small enough that flushes and compactions are part of short runs.
_SMALL_MEMTABLE = "--server-option=--tidesdb-unified-memtable-write-buffer-size="


def matrix(name, context):
    """TPROC-C on TidesDB, both levels, FULL and NONE: consistent, with only the three known errors."""
    runs = [["--users", "4", "--duration", "6", _SMALL_MEMTABLE + "4M"]]
    if context.level == FULL:
        runs = [[], ["--warehouses", "10"],
                ["--sync", "NONE", _SMALL_MEMTABLE + "2M", "--server-option=--tidesdb-pessimistic-locking=OFF"]]
    for options in runs:
        _run("tpcc_matrix", name, context, *options)
    return Outcome(passed=len(re.findall(r"^    exit code 0$", context.log.read_text(), re.M)))


def kills(name, context):
    """kill -9 in the middle of TPROC-C on TidesDB, with a memtable so small that flushes are hit too."""
    return Outcome(passed=_repeat("tpcc_kill", name, context, 5, 50, "--acknowledged-max", "3000",
                                  _SMALL_MEMTABLE + "1M"))


def lost_update(name, context):
    """Two connections that increment one row, with row locks on and off."""
    _run("lost_update", name, context)
    return Outcome(passed=4)


def copies(name, context):
    """INSERT ... SELECT beside writers, whole and in pieces: every copy is of one moment."""
    _repeat("copies", name, context, 6, 60, option="--seconds")
    return Outcome(passed=2)


def rollback(name, context):
    """A million rows rolled back within the memory budget."""
    _run("rollback", name, context)
    return Outcome(passed=2)


def spill_kill(name, context):
    """kill -9 in the middle of a statement that has spilled."""
    return Outcome(passed=_repeat("spill_kill", name, context, 4, 20) + 1)


def two_phase_kill(name, context):
    """kill -9 at each write and sync of commits over the binary log, InnoDB and TidesDB, and of XA."""
    return Outcome(passed=_repeat("two_phase_kill", name, context, 12, 500))


def backup(name, context):
    """tidesdb-backup under load: both engines are restored as of one position of the binary log."""
    servers.prepare(name, context.log, tests=True, more=["mariadb-backup"])
    _run("backup_test", name, context, "-v", TIDESDB_BACKUPS="50" if context.level == FULL else "3")
    return of_unittest(name, context.log)


def backup_soak(name, context):
    """tidesdb-backup in the middle of TPROC-C: consistent, and equal to the primary by the binary log."""
    rounds = 50
    servers.prepare(name, context.log, tests=True, more=["mariadb-backup"])
    _run("backup_tpcc", name, context, "--rounds", str(rounds))
    return Outcome(passed=rounds)


def replication_kill(name, context):
    """A replica with parallel appliers and its primary, both on TidesDB, killed in turn under TPROC-C: equal."""
    return Outcome(passed=2 * _repeat("replication_kill", name, context, 2, 10, option="--kills"))


def failover(name, context):
    """A primary and two replicas: the primary killed under TPROC-C, a replica leads, the lost one comes back; all equal."""
    return Outcome(passed=_repeat("failover", name, context, 2, 10) + 1)


def shards(name, context):
    """TPROC-C on two shards behind a router with Spider, a shard killed: XA leaves every transaction whole."""
    servers.prepare(name, context.log, tests=True, more=["mariadb-plugin-spider"])
    return Outcome(passed=_repeat("shards", name, context, 3, 20))


def ddl_kill(name, context):
    """kill -9 in the middle of DDL."""
    return Outcome(passed=_repeat("ddl_kill", name, context, 8, 50))


def bad_input(name, context):
    """Damaged files, full disks, wrong directories and options."""
    _run("bad_input", name, context)
    return of_unittest(name, context.log)
