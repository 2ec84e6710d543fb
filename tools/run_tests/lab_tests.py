"""The steps of the lab: the load generator against servers, and its runners."""

import sys
from pathlib import Path

from installer import apt, packages, servers
from installer.shell import TREE, run
from tools.run_tests.server import variables
from tools.run_tests.step import of_unittest


def own_tests(name, context):
    """The generator's tests against InnoDB: that it runs, and that each of its checks can fail."""
    without_plugin = variables(name, context)
    del without_plugin["TIDESDB_PLUGIN"]
    run([sys.executable, TREE / "lab" / "tests" / "tpcc_test.py"], log=context.log, cwd=TREE, env=without_plugin)
    return of_unittest(name, context.log)


def iibench(name, context):
    """The insert benchmark's tests, on InnoDB and TidesDB: every step, and that each of its checks can fail."""
    _script("iibench_test.py", name, context)
    return of_unittest(name, context.log)


def hammerdb_runner(name, context):
    """lab/hammerdb_runner.sh: an interrupted run resumes, its CSV and charts exist, nothing is left behind."""
    _script("hammerdb_runner.py", name, context)
    return of_unittest(name, context.log)


def engines_runner(name, context):
    """lab/mariadb_engines_runner.sh on a running server: interrupted, resumed, to its report; what is not its own."""
    run([sys.executable, TREE / "lab" / "tests" / "engines_runner_test.py", "-v"], log=context.log, cwd=TREE,
        env=variables(name, context))
    return of_unittest(name, context.log)


def private_servers(name, context):
    """The runners on their own servers: sampled, below a limit, with a report; an interrupted one resumes."""
    apt.install(packages.SYSBENCH, context.log)
    environment = variables(name, context)
    servers.prepare(name, context.log, tests=True, more=["mariadb-plugin-provider-lz4"])
    run([sys.executable, TREE / "lab" / "tests" / "private_servers_test.py", "-v"], log=context.log, cwd=TREE,
        env=environment)
    return of_unittest(name, context.log)


def killed_runners(name, context):
    """Each runner interrupted, killed and terminated during a measurement: nothing stays."""
    run([sys.executable, TREE / "lab" / "tests" / "killed_runners_test.py"], log=context.log, cwd=TREE,
        env=variables(name, context))
    return of_unittest(name, context.log)


def sqlbench(name, context):
    """lab/sqlbench.sh: seed 004's command scaled down, interrupted and resumed; a server that runs already."""
    apt.install(packages.SYSBENCH, context.log)
    environment = variables(name, context)
    servers.prepare(name, context.log, tests=True, more=["mariadb-plugin-provider-lz4"])
    run([sys.executable, TREE / "lab" / "tests" / "sqlbench_test.py", "-v"], log=context.log, cwd=TREE, env=environment)
    return of_unittest(name, context.log)


def pgo_study(name, context):
    """lab/pgo_study.sh: one plugin against itself, interrupted and resumed; its report in a browser."""
    environment = variables(name, context)
    # Debian's python3 if present, because it has Debian's packages.
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


def _script(script, name, context):
    run([sys.executable, TREE / "lab" / "tests" / script], log=context.log, cwd=TREE, env=variables(name, context))
