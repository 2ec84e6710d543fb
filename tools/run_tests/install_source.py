"""The step that runs ./install.sh --mariadb-version in a root of its own: a server from source, hours the first time."""

import json
from pathlib import Path

from installer import apt, host, server_run
from installer.shell import TREE, Failed
from installer.source import fetch, options, service
from installer.source.server import SourceServer
from installer.steps.record import DIRECTORY
from tools.run_tests.install import Install, library
from tools.run_tests.install_pgo import GUIDED
from tools.run_tests.step import Outcome
from tools.run_tests.throwaway_root import ThrowawayRoot

_VERSION = "mariadb-11.8"
_MAKE_ROWS = ("CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY) ENGINE=TidesDB;"
              "INSERT INTO shop.orders VALUES (1), (2), (3)")
_ROWS = "SELECT COUNT(*), SUM(id) FROM shop.orders"


_SEED_LEAVES_OUT = ("mroonga", "rocksdb", "connect", "spider", "oqgraph", "columnstore")


class _FromSource(Install):
    """./install.sh for a server from source; the build directory outlives the root."""

    def __init__(self, root):
        super().__init__(root, TREE / "build" / "install-source")
        self.paths = options.Paths(options.PREFIX, self.build_dir)

    def sql(self, statements):
        return self.root.output(self.paths.prefix / "bin" / "mariadb", f"--defaults-file={self.paths.config}", "--batch",
                                "--skip-column-names", "-e", statements).strip()

    def name_another_server(self):
        """In ~/.my.cnf, as with a distribution's server: clients without other options ask that one."""
        own = self.root.path(Path.home() / ".my.cnf")
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text("[client]\nsocket = /run/mysqld/mysqld.sock\n")

    def fact(self):
        """The record's fact about the profile."""
        return json.loads(self.root.path(DIRECTORY / "source" / "record.json").read_text())["facts"].get("pgo")

    def pid(self):
        return self.root.output("cat", service.pid_file(self.paths)).strip()


def _root(context):
    return ThrowawayRoot(host.CODENAMES[next(name for name in host.CODENAMES if name != host.host_server())], context.log)


def whole(context):
    """Refusals, the build, a repetition, an allocator, uninstall and reinstall; the rows stay."""
    with _root(context) as root:
        install = _FromSource(root)
        install.name_another_server()
        _refusals(install)
        _first_and_again(install)
        _allocator(install)
        library(install, "--mariadb-version", _VERSION)
        _out_and_in(install)
        return Outcome(passed=install.passed)


def _refusals(install):
    said = install.refused("--mariadb-version", "9.9.9")
    install.expect("no sources of MariaDB 9.9.9" in said and "they have 11.8" in said, "it names the versions there are")
    said = install.refused("--mariadb-version", _VERSION, "--skip-engines", "mongo")
    install.expect("no storage engine mongo" in said and "spider" in said, "it names the engines there are")
    said = install.refused("--mariadb-version", _VERSION, "--mariadb-prefix", "/usr/share")
    install.expect("not from this install.sh" in said, "a directory of somebody else is refused")
    said = install.refused("--mariadb-version", _VERSION, "--tidesdb-prefix", "/etc/passwd/tidesdb")
    install.expect("/etc/passwd is not a directory" in said, "so is one that cannot be made")
    said = install.refused("--mariadb-version", _VERSION, "--build-dir", "/usr/share")
    install.expect("not a build directory of install.sh" in said, "so is one of somebody else to build in")


def _first_and_again(install):
    printed = install("--mariadb-version", _VERSION, "--port", str(server_run.free_port()))
    install.expect("a table was written and read" in printed, "the server runs with the engine")
    install.sql(_MAKE_ROWS)
    pid = install.pid()
    printed = install("--mariadb-version", _VERSION)
    install.expect("nothing changed" in printed and install.pid() == pid, "the second run changes nothing")
    left_out = install.sql("SELECT COUNT(*) FROM information_schema.ENGINES WHERE ENGINE = 'SPIDER'")
    install.expect(left_out == "0", "engines are left out")
    said = install.root.output(install.paths.prefix / "bin" / "mariadbd", "--version")
    install.expect(" Ver 11.8." in said and install.has(install.paths.prefix / "lib" / "plugin" / "ha_tidesdb.so"),
                   "server and plugins are also where MariaDB's own builds have them")
    damaged = install.root.path(install.paths.prefix / "share" / "english" / "errmsg.sys")
    damaged.unlink()
    install("--mariadb-version", _VERSION)
    install.expect(damaged.exists(), "what is damaged is mended")


def _allocator(install):
    install("--mariadb-version", _VERSION, "--allocator", "jemalloc")
    maps = install.root.output("cat", f"/proc/{install.pid()}/maps")
    install.expect("libjemalloc" in maps, "the server process has jemalloc")
    install.expect("LD_PRELOAD" in install.root.path(SourceServer.unit).read_text(), "systemd would give it too")
    control = install.paths.control
    install.root.run(control, "restart")
    install.expect("libjemalloc" in install.root.output("cat", f"/proc/{install.pid()}/maps"), "the start script does")
    install.root.run(control, "stop")
    install.root.run(control, "stop")
    install("--mariadb-version", _VERSION)
    install.expect(install.sql(_ROWS) == "3\t6", "a stopped server is started")


def _out_and_in(install):
    printed = install("--uninstall")
    install.expect("Its data stays" in printed, "it says that the data stays")
    left = [path for path in [install.paths.prefix / "bin", install.paths.config, SourceServer.unit,
                              DIRECTORY / "source" / "record.json"] if install.has(path)]
    install.expect(not left, f"these are gone: {left}")
    install.expect("has installed nothing" in install("--uninstall"), "a second time there is nothing to do")
    install("--mariadb-version", _VERSION)
    install.expect(install.sql(_ROWS) == "3\t6", "installed again, the rows are there")


def guided(context):
    """Seed 001's command from MariaDB's tarball, repeated, plain and back; the rows stay."""
    with _root(context) as root:
        install = _SeedCommand(root)
        install.name_another_server()
        tarball = _tarball(root, context.log)
        words = ["--mariadb-source", tarball, "--port", str(server_run.free_port())]
        printed = install(*words)
        _seed_server(install, printed)
        install.sql(_MAKE_ROWS)
        pid = install.pid()
        printed = install(*words)
        install.expect("no training" in printed and "measured already" in printed and "nothing changed" in printed
                       and install.pid() == pid, "the second run changes nothing")
        install("--no-pgo")
        install.expect(install.sql(GUIDED).split()[-1] == "OFF" and not install.fact(), "it is plain again")
        install.expect(install.sql(_ROWS) == "3\t6", "the rows are there")
        install()
        install.expect(install.sql(GUIDED).split()[-1] == "ON" and install.fact(), "the profile is back")
        install.expect(install.sql(_ROWS) == "3\t6", "the rows are there still")
        return Outcome(passed=install.passed)


class _SeedCommand(_FromSource):
    """./install.sh with seed 001's words; its build directory is a link to one that outlives the root."""

    _WORDS = ("--mariadb-prefix", "/data/mariadb", "--tidesdb-prefix", "/data/tidesdb",
              "--mariadb-version", "mariadb-11.8.6", "--skip-engines", ",".join(_SEED_LEAVES_OUT), "--pgo",
              "--allocator", "jemalloc")

    def __init__(self, root):
        super().__init__(root)
        outliving = TREE / "build" / "install-seed"
        outliving.mkdir(parents=True, exist_ok=True)
        root.run("mkdir", "/data")
        root.run("ln", "-s", outliving, "/data/tidesql-build")
        self.build_dir = Path("/data/tidesql-build")
        self.paths = options.Paths(Path("/data/mariadb"), outliving)

    def __call__(self, *more):
        return super().__call__(*self._WORDS, *more)


def _tarball(root, log):
    """MariaDB's own, which Debian's archive has beside its patches."""
    archive = apt.Archive(root.base.codename, log)
    archive.update()
    version = fetch.choose(archive.source_versions("mariadb"), "11.8.6")[0]
    return archive.download_source("mariadb", version, TREE / "build" / "install-seed-tarball")


def _seed_server(install, printed):
    """The expected result of the seed's command."""
    fact = install.fact()
    install.expect(fact and fact["gain"]["said"] in printed, "what it gains is measured, printed and recorded")
    install.expect(install.sql(GUIDED).split()[-1] == "ON", "the server runs the engine that has a profile")
    install.expect("libjemalloc" in install.root.output("cat", f"/proc/{install.pid()}/maps"), "its process has jemalloc")
    install.expect(install.sql("SELECT VERSION()").startswith("11.8.6-"), "it is of the version that was asked for")
    there = set(install.sql("SELECT LOWER(ENGINE) FROM information_schema.ENGINES").split())
    install.expect({"innodb", "tidesdb"} <= there and there.isdisjoint(_SEED_LEAVES_OUT),
                   f"the engines are as asked for: {there}")
    plugins = {path.name for path in install.root.path(install.paths.prefix / "lib" / "plugin").glob("ha_*.so")}
    left_out = {f"ha_{name}.so" for name in _SEED_LEAVES_OUT}
    install.expect("ha_sphinx.so" in plugins and not plugins & left_out, f"and so are the plugins: {plugins}")
    install.expect(install.has("/data/tidesdb/lib/pkgconfig/tidesdb.pc"), "the library is in its prefix")
