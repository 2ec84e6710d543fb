"""The paths of a run of sqlbench, from its environment; README.md lists the variables.

Owns: which of these variables go together.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from installer import host
from installer.shell import TREE, Failed
from lab.runners.sqlbench.variables import Variables

# By variable: what it goes with. With anything else it would be ignored silently.
_YOURS = "goes with MYSQLD, your own server"
_MADE = "is for servers that sqlbench starts; SOCKET without MYSQLD is a server that runs already"


@dataclass(frozen=True)
class Places:
    """None: sqlbench's own."""
    output: Path
    data: Path
    innodb_data: Path
    socket: Path
    mysqld: Path
    mysql: Path
    build: Path
    plugins: Path
    user: str
    server: str  # From `python3 -m installer servers`, if sqlbench makes its own.
    fresh: bool  # An interrupted run is not resumed.
    plot: bool

    @property
    def running(self):
        """Whether to measure a server that runs already."""
        return self.socket is not None and self.mysqld is None


def _refuse_unused(variables):
    """Raises Failed for variables that would have no effect."""
    mysqld, socket = variables.path("MYSQLD"), variables.path("SOCKET")
    wrong = {}
    if not mysqld:
        wrong |= dict.fromkeys(("BUILD_DIR", "PLUGIN_DIR"), _YOURS)
        if not socket:
            wrong["MYSQL_BIN"] = f"{_YOURS}, or with SOCKET, a running one; sqlbench's own server has its client"
        else:
            wrong |= dict.fromkeys(("DATA_DIR", "INNODB_DATA_DIR", "TIDESDB_SERVER"), _MADE)
    else:
        wrong["TIDESDB_SERVER"] = "is a server that sqlbench makes, MYSQLD is your own; give only one of them"
    for name in sorted(wrong):
        if variables.text(name, ""):
            raise Failed(f"{name}: {wrong[name]}")


def read(environment):
    """The places of an environment. Raises Failed with the name of a variable that is wrong."""
    variables = Variables(environment)
    server = variables.text("TIDESDB_SERVER", "")
    if server and server not in host.CODENAMES:
        raise Failed(f"TIDESDB_SERVER={server}: known are {', '.join(host.CODENAMES)}")
    _refuse_unused(variables)
    places = Places(output=variables.path("OUTPUT_DIR", Path("results").absolute()),
                    data=variables.path("DATA_DIR", TREE / "var" / "sqlbench"),
                    innodb_data=variables.path("INNODB_DATA_DIR"),
                    socket=variables.path("SOCKET"), mysqld=variables.path("MYSQLD"), mysql=variables.path("MYSQL_BIN"),
                    build=variables.path("BUILD_DIR"), plugins=variables.path("PLUGIN_DIR"),
                    user=variables.text("MYSQL_USER", "root"), server=server,
                    fresh=bool(variables.switch("FRESH", "0")), plot=bool(variables.switch("PLOT", "1")))
    written = {"OUTPUT_DIR": places.output}
    if not places.running:
        written |= {"DATA_DIR": places.data, "INNODB_DATA_DIR": places.innodb_data}
    for name, path in written.items():
        if path:
            _refuse_unwritable(path, name)
    return places


def _refuse_unwritable(path, variable):
    """Before anything is built or measured: raises Failed unless path is, or can become, a writable folder."""
    place = next(one for one in (path, *path.parents) if os.path.exists(one))
    if not place.is_dir():
        raise Failed(f"{variable}={path}: {place} is a file, not a folder")
    if not os.access(place, os.W_OK | os.X_OK):
        raise Failed(f"{variable}={path}: this user may not write in {place}")


def make(path, variable):
    """Makes the folder."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failed(f"{variable}={path}: {error.strerror}") from error


def there(path, variable):
    """path. Raises Failed if it does not exist."""
    if not path.exists():
        raise Failed(f"{variable}={path}: there is no such file")
    return path


def program(path, variable):
    """path. Raises Failed unless it can be run."""
    if there(path, variable).is_dir() or not os.access(path, os.X_OK):
        raise Failed(f"{variable}={path}: is not a program that this user may run")
    return path
