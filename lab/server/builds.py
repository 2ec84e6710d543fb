"""A measured build: its server program, plugin, engine and allocator.

    parse(["pgo", "server=debian12", "plugin=build/pgo/ha_tidesdb.so", "engine=TidesDB"])    # A Spec; pure.
    resolve(spec, log)                                                                       # A Build, ready to run.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from installer import apt, build_plugin, host, servers
from installer.shell import TREE, Failed, output
from installer.steps import allocator
from lab.server import given_server

ENGINES = ("InnoDB", "TidesDB", "RocksDB")
PLUGIN = "ha_tidesdb.so"
MYSQL = "mysql-9.7"
KEYS = ("server", "mariadbd", "mysqld", "basedir", "plugin-dir", "client", "plugin", "engine", "allocator", "option",
        "data")
# Its place in Oracle's packages and archives.
_MYSQL_PLACES = ("/usr/sbin/mysqld", "/usr/local/mysql/bin/mysqld", "/opt/mysql/bin/mysqld")


@dataclass(frozen=True)
class Spec:
    """The words of --build; "" for missing ones."""
    label: str
    server: str = ""
    program: str = ""     # Of mariadbd= or mysqld=.
    basedir: str = ""
    plugin_dir: str = ""
    client: str = ""
    plugin: str = ""      # A path of ha_tidesdb.so; "built": this tree's.
    engine: str = "InnoDB"
    allocator: str = ""   # A name of installer.steps.allocator's, or a library's path.
    options: tuple = ()
    data: str = ""        # Builds with one name share the data that one of them loaded.


def parse(words):
    """The Spec of LABEL KEY=VALUE ... Raises Failed with the problem."""
    label, *rest = words
    if not re.fullmatch(r"[\w.+-]+", label):
        raise Failed(f"--build {label}: a label of letters, digits, . + - and _ comes first, then KEY=VALUE")
    found, options = {}, []
    for word in rest:
        key, equals, value = word.partition("=")
        if key not in KEYS or not equals or not value:
            raise Failed(f"--build {label}: {word!r} is not KEY=VALUE with a key of {', '.join(KEYS)}")
        if key == "option":
            options.append(value if value.startswith("--") else f"--{value}")
        elif key in found:
            raise Failed(f"--build {label}: {key} is given twice")
        else:
            found[key] = value
    return _spec(label, found, tuple(options))


def parse_all(words):
    """The Specs of several --build. Raises Failed."""
    specs = [parse(each) for each in words]
    if len({spec.label for spec in specs}) < len(specs):
        raise Failed("--build: each label may occur only once")
    return specs


def _spec(label, found, options):
    programs = [found[key] for key in ("mariadbd", "mysqld") if key in found]
    if len(programs) > 1 or not programs and "server" not in found:
        raise Failed(f"--build {label}: server=, mariadbd= or mysqld= is missing; server= beside mariadbd= is the Debian "
                     "for which it was compiled")
    if programs and found.get("server") == MYSQL:
        raise Failed(f"--build {label}: server={MYSQL} is the installed one; for another use only mysqld=PATH")
    if "server" in found and "mysqld" in found:
        raise Failed(f"--build {label}: server= is the Debian for which a mariadbd= was compiled; "
                     "mysqld= runs on this machine")
    if found.get("server", MYSQL) not in (*host.CODENAMES, MYSQL):
        raise Failed(f"--build {label}: server={found['server']}: known are {', '.join((*host.CODENAMES, MYSQL))}")
    by_name = {name.lower(): name for name in ENGINES}
    engine = found.get("engine", "TidesDB" if "plugin" in found else "InnoDB")
    if engine.lower() not in by_name:
        raise Failed(f"--build {label}: engine={engine}: known are {', '.join(ENGINES)}")
    engine = by_name[engine.lower()]
    if engine != "InnoDB" and ("mysqld" in found or found.get("server") == MYSQL):
        raise Failed(f"--build {label}: MySQL has no engine {engine}; use InnoDB there")
    if engine != "TidesDB" and "plugin" in found:
        raise Failed(f"--build {label}: plugin= is {PLUGIN}, and engine={engine} does not use it")
    if engine == "TidesDB" and "mariadbd" in found and "plugin" not in found:
        raise Failed(f"--build {label}: plugin=PATH is missing, a {PLUGIN} compiled for that server")
    return Spec(label, found.get("server", ""), found.get("mariadbd", found.get("mysqld", "")), found.get("basedir", ""),
                found.get("plugin-dir", ""), found.get("client", ""),
                found.get("plugin", "built" if engine == "TidesDB" else ""), engine, found.get("allocator", ""), options,
                found.get("data", ""))


@dataclass(frozen=True)
class Build:
    """A build that is ready to start."""
    label: str
    engine: str
    environment: object    # An Environment or a GivenServer.
    plugin: Path | None
    preload: str           # The allocator's library; "": none.
    options: tuple
    flavour: str           # "MariaDB" or "MySQL".
    version: str
    data: str

    def binaries(self):
        """By name, what was measured."""
        found = {f"{self.label}: {self.environment.mariadbd.name}": self.environment.mariadbd}
        return found | ({f"{self.label}: {PLUGIN}": self.plugin} if self.plugin else {})


def identify(said):
    """(flavour, version) from a server's --version. Raises Failed for any other program."""
    found = re.search(r"\bVer (\d+\.\d+\.\d+[\w.+~-]*)", said)
    if not found:
        raise Failed(f"no version of a server is in {said.strip()[:80]!r}")
    flavour = "MariaDB" if "mariadb" in said.lower() else "MySQL"
    return flavour, re.match(r"[\d.]+", found.group(1)).group(0)


def find_mysql(places=_MYSQL_PLACES, ask=output):
    """The program of the installed MySQL 9.7. Raises Failed with advice on installing it."""
    for place in places:
        if Path(place).exists():
            flavour, version = identify(ask([place, "--no-defaults", "--version"]))
            if flavour == "MySQL" and version.startswith("9.7."):
                return Path(place)
    raise Failed("MySQL 9.7 is not on this machine, and Debian 12 and 13 have no package of it: install Oracle's "
                 "mysql-community-server 9.7, or unpack its generic Linux archive and give mysqld=PATH/bin/mysqld. "
                 "The build without PGO is compiled from the same release's sources")


def _path(spec, key, text):
    path = Path(text).expanduser().absolute()
    if not path.exists():
        raise Failed(f"--build {spec.label}: {key}={text}: there is no such file")
    return path


def _given(spec, home):
    program = find_mysql() if spec.server == MYSQL else _path(spec, "mariadbd or mysqld", spec.program)
    basedir = _path(spec, "basedir", spec.basedir) if spec.basedir else program.parent.parent

    def ask(argv):
        return output(given_server.command_in(home, argv, needs=(basedir, program.parent)))

    plugins = (_path(spec, "plugin-dir", spec.plugin_dir) if spec.plugin_dir else
               given_server.plugin_dir_of(program, basedir, ask))
    usual = [home.basedir / "bin"] if home else [Path("/usr/bin")]
    beside = [folder / name for folder in (basedir / "bin", *usual) for name in ("mariadb", "mysql")]
    client = _path(spec, "client", spec.client) if spec.client else next((p for p in beside if p.exists()), None)
    if client is None:
        raise Failed(f"--build {spec.label}: no client beside the server; apt-get install mariadb-client, or client=PATH")
    return given_server.GivenServer(program, basedir, plugins, client, home)


def check_visible(environment, path, what):
    """For the files of mysql-test-run and an instrumented build: a separate root has only the tree, the cache and /tmp."""
    shared = [TREE, host.cache_dir(), Path("/tmp")]
    if environment.root and not any(path.is_relative_to(place) for place in shared):
        raise Failed(f"{what}: {path} is not visible from the root that this server runs in; use a path below {TREE} or "
                     "/tmp")


def _preload(spec, environment, log):
    """The library of the wanted allocator, in the server's root."""
    if spec.allocator in ("", "system"):
        return ""
    if "/" in spec.allocator:
        return str(_path(spec, "allocator", spec.allocator))
    if spec.allocator not in allocator.PACKAGES:
        raise Failed(f"--build {spec.label}: allocator={spec.allocator}: known are system, "
                     f"{', '.join(allocator.PACKAGES)}, or a library's path")
    wrap = environment.root.command if environment.root else lambda argv: [str(a) for a in argv]

    def known(package):
        return "Package:" in output(wrap(["sh", "-c", 'apt-cache show "$1" 2>/dev/null || true', "sh", package]))

    package = allocator.choose_package(spec.allocator, known)
    apt.install([package], log, wrap if environment.root else None)
    return allocator.find_library(output(wrap(["dpkg", "-L", package])).splitlines())


def resolve(spec, log):
    """The Build, compiled if needed. Raises Failed."""
    home = (servers.prepare(spec.server, log, tests=spec.engine == "RocksDB" and not spec.program)
            if spec.server and spec.server != MYSQL else None)
    environment = home if home and not spec.program else _given(spec, home)
    flavour, version = identify(output(environment.command([environment.mariadbd, "--no-defaults", "--version"])))
    plugin = None
    if spec.plugin == "built":
        plugin = build_plugin.build(environment, log)
    elif spec.plugin:
        plugin = _path(spec, "plugin", spec.plugin).resolve()
        if plugin.name != PLUGIN:
            raise Failed(f"--build {spec.label}: plugin={spec.plugin}: its name must be {PLUGIN}, which the server loads")
    return Build(spec.label, spec.engine, environment, plugin, _preload(spec, environment, log), spec.options, flavour,
                 version, spec.data or f"{flavour}-{version}-{spec.engine}")
