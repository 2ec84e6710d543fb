"""The lab's own load generators, tpcc and iibench: built where they are not there yet."""

import os
from pathlib import Path

from installer import apt, host, packages
from installer.shell import TREE, Step, run

_DIRECTORY = TREE / "build" / "lab"
# Their exit codes that gave a result: all is well, wrong rows, errors besides conflicts. The result says which.
MEASURED = (0, 2, 3)


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
