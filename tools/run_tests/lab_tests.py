"""The steps of the lab: the load generator against servers, and what shows our promises on a real server."""

import re
import sys
from pathlib import Path

from installer import apt, build_plugin, packages, servers
from installer.shell import TREE, run
from tools.run_tests.step import FULL, Outcome, of_unittest


def _environment(name, context):
    """Builds plugin and generator; returns the variables that lab/tests wants."""
    environment, plugin = build_plugin.prepare_and_build(name, context.log, tests=True)
    tpcc = build_plugin.tpcc(context.log)
    return {"TIDESDB_SERVER": name, "TPCC": str(tpcc), "IIBENCH": str(tpcc.with_name("iibench")),
            "KILL_POINT": str(tpcc.with_name("kill_point.so")), "TIDESDB_PLUGIN": str(plugin)}


def own_tests(name, context):
    """The generator's tests against InnoDB: that it runs, and that each of its checks can fail."""
    variables = _environment(name, context)
    del variables["TIDESDB_PLUGIN"]
    run([sys.executable, TREE / "lab" / "tests" / "tpcc_test.py"], log=context.log, cwd=TREE, env=variables)
    return of_unittest(name, context.log)


def iibench(name, context):
    """The insert benchmark's tests, on InnoDB and TidesDB: every step, and that each of its checks can fail."""
    _script("iibench_test.py", name, context)
    return of_unittest(name, context.log)


def hammerdb_runner(name, context):
    """lab/hammerdb_runner.sh: a run that is interrupted goes on, its CSV and charts are there, nothing is left behind."""
    _script("hammerdb_runner.py", name, context)
    return of_unittest(name, context.log)


def engines_runner(name, context):
    """lab/mariadb_engines_runner.sh on a running server: interrupted, resumed, to its report; what is not its own."""
    run([sys.executable, TREE / "lab" / "tests" / "engines_runner_test.py", "-v"], log=context.log, cwd=TREE,
        env=_environment(name, context))
    return of_unittest(name, context.log)


def private_servers(name, context):
    """The runners on servers of their own: sampled, below a limit, with a report; one that is interrupted goes on."""
    apt.install(packages.SYSBENCH, context.log)
    environment = _environment(name, context)
    servers.prepare(name, context.log, tests=True, more=["mariadb-plugin-provider-lz4"])
    run([sys.executable, TREE / "lab" / "tests" / "private_servers_test.py", "-v"], log=context.log, cwd=TREE,
        env=environment)
    return of_unittest(name, context.log)


def killed_runners(name, context):
    """Each runner interrupted, killed and asked to end while it measures: nothing of it stays."""
    run([sys.executable, TREE / "lab" / "tests" / "killed_runners_test.py"], log=context.log, cwd=TREE,
        env=_environment(name, context))
    return of_unittest(name, context.log)


def plans(name, context):
    """The optimizer's plans of all TPROC-C and sysbench queries are InnoDB's, also after a restart."""
    run([sys.executable, TREE / "lab" / "tests" / "plans.py"], log=context.log, cwd=TREE,
        env=_environment(name, context))
    alike = re.findall(r": (\d+) of \1 plans are InnoDB's$", context.log.read_text(), re.M)
    return Outcome(passed=sum(map(int, alike)))


def collations(name, context):
    """Every collation of the server: an index orders, finds and refuses as the server's comparison does."""
    _script("collations.py", name, context)
    right = re.search(r"^\d+ collations, (\d+) right", context.log.read_text(), re.M)
    return Outcome(passed=int(right.group(1)))


# Small enough that flushes and compactions are part of short runs.
_SMALL_MEMTABLE = "--server-option=--tidesdb-unified-memtable-write-buffer-size="


def matrix(name, context):
    """TPROC-C on TidesDB, both levels, FULL and NONE: consistent, and no errors but the three."""
    runs = [["--users", "4", "--duration", "6", _SMALL_MEMTABLE + "4M"]]
    if context.level == FULL:
        runs = [[], ["--warehouses", "10"],
                ["--sync", "NONE", _SMALL_MEMTABLE + "2M", "--server-option=--tidesdb-pessimistic-locking=OFF"]]
    environment = _environment(name, context)
    for options in runs:
        run([sys.executable, TREE / "lab" / "tests" / "tpcc_matrix.py", *options], log=context.log, cwd=TREE,
            env=environment)
    return Outcome(passed=len(re.findall(r"^    exit code 0$", context.log.read_text(), re.M)))


def kills(name, context):
    """kill -9 in the middle of TPROC-C on TidesDB, with a memtable so small that flushes are hit too."""
    rounds = 50 if context.level == FULL else 5
    run([sys.executable, TREE / "lab" / "tests" / "tpcc_kill.py", "--rounds", str(rounds), "--acknowledged-max", "3000",
         _SMALL_MEMTABLE + "1M"], log=context.log, cwd=TREE, env=_environment(name, context))
    return Outcome(passed=rounds)


def lost_update(name, context):
    """Two connections that count up one row, with row locks on and off."""
    _script("lost_update.py", name, context)
    return Outcome(passed=4)


def rollback(name, context):
    """A million rows undone, the memory kept."""
    _script("rollback.py", name, context)
    return Outcome(passed=2)


def spill_kill(name, context):
    """kill -9 in the middle of a statement that has spilled."""
    rounds = 20 if context.level == FULL else 4
    run([sys.executable, TREE / "lab" / "tests" / "spill_kill.py", "--rounds", str(rounds)], log=context.log, cwd=TREE,
        env=_environment(name, context))
    return Outcome(passed=rounds + 1)


def two_phase_kill(name, context):
    """kill -9 at each write and sync of commits over the binary log, InnoDB and TidesDB, and of XA."""
    rounds = 500 if context.level == FULL else 12
    run([sys.executable, TREE / "lab" / "tests" / "two_phase_kill.py", "--rounds", str(rounds)], log=context.log, cwd=TREE,
        env=_environment(name, context))
    return Outcome(passed=rounds)


def backup(name, context):
    """tidesdb-backup under load: both engines are restored as of one position of the binary log."""
    environment = {**_environment(name, context), "TIDESDB_BACKUPS": "50" if context.level == FULL else "3"}
    servers.prepare(name, context.log, tests=True, more=["mariadb-backup"])
    run([sys.executable, TREE / "lab" / "tests" / "backup_test.py", "-v"], log=context.log, cwd=TREE, env=environment)
    return of_unittest(name, context.log)


def backup_soak(name, context):
    """tidesdb-backup in the middle of TPROC-C: consistent, and equal to the primary by the binary log."""
    rounds = 50
    servers.prepare(name, context.log, tests=True, more=["mariadb-backup"])
    run([sys.executable, TREE / "lab" / "tests" / "backup_tpcc.py", "--rounds", str(rounds)], log=context.log, cwd=TREE,
        env=_environment(name, context))
    return Outcome(passed=rounds)


def replication_kill(name, context):
    """A replica with parallel appliers and its primary, both on TidesDB, killed in turn under TPROC-C: equal."""
    kills = 10 if context.level == FULL else 2
    run([sys.executable, TREE / "lab" / "tests" / "replication_kill.py", "--kills", str(kills)], log=context.log, cwd=TREE,
        env=_environment(name, context))
    return Outcome(passed=2 * kills)


def failover(name, context):
    """A primary and two replicas: the primary killed under TPROC-C, a replica leads, the lost one comes back; all equal."""
    rounds = 10 if context.level == FULL else 2
    run([sys.executable, TREE / "lab" / "tests" / "failover.py", "--rounds", str(rounds)], log=context.log, cwd=TREE,
        env=_environment(name, context))
    return Outcome(passed=rounds + 1)


def ddl_kill(name, context):
    """kill -9 in the middle of DDL."""
    rounds = 50 if context.level == FULL else 8
    run([sys.executable, TREE / "lab" / "tests" / "ddl_kill.py", "--rounds", str(rounds)], log=context.log, cwd=TREE,
        env=_environment(name, context))
    return Outcome(passed=rounds)


def sqlbench(name, context):
    """lab/sqlbench.sh: seed 004's command scaled down, interrupted and resumed; a server that runs already."""
    apt.install(packages.SYSBENCH, context.log)
    environment = _environment(name, context)
    servers.prepare(name, context.log, tests=True, more=["mariadb-plugin-provider-lz4"])
    run([sys.executable, TREE / "lab" / "tests" / "sqlbench_test.py", "-v"], log=context.log, cwd=TREE, env=environment)
    return of_unittest(name, context.log)


def pgo_study(name, context):
    """lab/pgo_study.sh: one plugin against itself, interrupted and resumed; its report in a browser."""
    environment = _environment(name, context)
    # Debian's python3 where it is there: it has Debian's packages.
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    run([python, TREE / "lab" / "tests" / "pgo_study_test.py"], log=context.log, cwd=TREE, env=environment)
    return of_unittest(name, context.log)


def mix_count(name, context):
    """python3 -m lab.mix count: one plugin beside itself under callgrind."""
    _script("mix_count_test.py", name, context)
    return of_unittest(name, context.log)


def seed_studies(name, context):
    """lab/seed_studies.sh: seed 002, very small, interrupted and resumed, published."""
    _script("seed_studies_test.py", name, context)
    return of_unittest(name, context.log)


def bad_input(name, context):
    """Damaged files, full disks, wrong directories and options."""
    _script("bad_input.py", name, context)
    return of_unittest(name, context.log)


def _script(script, name, context):
    run([sys.executable, TREE / "lab" / "tests" / script], log=context.log, cwd=TREE, env=_environment(name, context))
