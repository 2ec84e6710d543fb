"""The lab's own load generators, tpcc and iibench: built where they are not there yet."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from installer import apt, host, packages
from installer.shell import TREE, Failed, Step, clean_environment, run
from lab.base.watched import tied

_DIRECTORY = TREE / "build" / "lab"
# Their exit codes that gave a result: all is well, wrong rows, errors besides conflicts. The result says which.
MEASURED = (0, 2, 3)


@dataclass(frozen=True)
class Figures:
    """One run. Latencies are in milliseconds."""
    per_s: float    # What counts of the work.
    p95_ms: float
    max_ms: float
    errors: int     # Statements that failed, conflicts among them.
    consistent: bool = True


def built(name):
    """Where it is, or will be. A variable of its name in capitals (TPCC, IIBENCH) names another one."""
    given = os.environ.get(name.upper())
    return Path(given).resolve() if given else _DIRECTORY / "lab" / name


def program(name, log, directory=_DIRECTORY):
    """Its path; it is built if need be, which is quick when nothing changed. directory: where it is built."""
    if os.environ.get(name.upper()):
        return built(name)
    apt.install(packages.BUILD + packages.LAB, log)
    with host.build_lock(directory) as lock, Step(f"Building the load generator {name}"):
        run(["cmake", "--preset", "release", "-B", directory, "-DTIDESDB_BUILD_LAB=ON", "-DTIDESDB_BUILD_TESTS=OFF",
             "-DTIDESDB_BUILD_PLUGIN=OFF"], log=log, cwd=TREE, lock=lock)
        run(["cmake", "--build", directory, "-j", str(os.cpu_count() or 2), "--target", name], log=log, cwd=TREE,
            lock=lock)
    return Path(directory) / "lab" / name


def call(argv, allowed=(0,)):
    """Runs one without a person watching. Raises Failed with what it said when it ends with another code."""
    argv = [str(a) for a in argv]
    done = subprocess.run(tied(argv), env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode not in allowed:
        raise Failed(f"{' '.join(argv)} ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
