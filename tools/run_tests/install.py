"""The step that runs ./install.sh as a DBA would, in a separate root with the distribution's server."""

import errno
import os
import time

from installer import build_plugin, host, server_run, servers
from installer.shell import TREE, Failed
from installer.steps.record import DIRECTORY
from installer.steps.server import InstalledServer
from tools.run_tests.step import Outcome
from tools.run_tests.throwaway_root import ThrowawayRoot

_OTHER_PORT = "/etc/mysql/mariadb.conf.d/90-test.cnf"  # The network is the machine's.
_ENGINES = "SELECT COUNT(*) FROM information_schema.ENGINES WHERE ENGINE = 'TidesDB'"
_ROWS = "SELECT COUNT(*), SUM(id) FROM shop.orders"

_OLDER = b"built for another server"

_PREFIX = "/opt/tidesdb"
# A pipe in place of this file stops install.sh when it checks the file: the library is put after the plugin and
# before the restart.
_HELD_AT = f"{_PREFIX}/lib/pkgconfig/tidesdb.pc"
_HELD_S = 900  # The library may have to be compiled first.
_PROGRAMS = """mkdir /root/db
PKG_CONFIG_PATH=$2/lib/pkgconfig
export PKG_CONFIG_PATH
g++ -std=c++20 -Wall -Werror "$1/counter.cc" -o /root/counter $(pkg-config --cflags --libs tidesdb)
sed -n '/^```cpp$/,/^```$/{/^```/!p}' "$3" >/root/first.cc
g++ -std=c++20 -Wall -Werror /root/first.cc -o /root/first $(pkg-config --cflags --libs tidesdb)
cmake -G Ninja -S "$1" -B /root/made -DCMAKE_PREFIX_PATH="$2"
cmake --build /root/made
"""


class Install:
    """./install.sh in a root, and checks of its result."""

    def __init__(self, root, build_dir):
        self.root = root
        self.build_dir = build_dir
        self.passed = 0

    def __call__(self, *options):
        """Returns what it printed."""
        begin = len(self.root.log.read_text())
        building = [] if "--uninstall" in options else ["--build-dir", self.build_dir]
        self.root.run("./install.sh", *building, *options, env=self._environment())
        return self.root.log.read_text()[begin:]

    @staticmethod
    def _environment():
        return {"CCACHE_DIR": str(host.cache_dir() / "ccache")}

    def interrupted(self, signal):
        """./install.sh --tidesdb-prefix gets that signal after the plugin is put and before the server's restart."""
        pipe = self.root.path(_HELD_AT)
        pipe.parent.mkdir(parents=True, exist_ok=True)
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
        process = self.root.start("sh", "-c", 'echo $$ >/root/install.pid; exec ./install.sh "$@"', "sh", "--build-dir",
                                  self.build_dir, "--tidesdb-prefix", _PREFIX, env=self._environment())
        writer = self._reader_came(pipe, process)
        try:
            self.expect("another ./install.sh runs" in self.refused(), "a second run at once is refused")
            self.root.run("sh", "-c", f'kill -{signal} "$(cat /root/install.pid)"')
            process.wait(60)
        finally:
            os.close(writer)
        pipe.unlink()

    def _reader_came(self, pipe, process):
        """The write end of a pipe, once install.sh reads it."""
        deadline = time.monotonic() + _HELD_S
        while process.poll() is None and time.monotonic() < deadline:
            try:
                return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO:  # Nobody reads yet.
                    raise
            time.sleep(0.1)
        raise Failed(f"./install.sh did not come to {_HELD_AT}; see {self.root.log}")

    def refused(self, *words):
        """Its message when it ends with an error."""
        try:
            self(*words)
        except Failed as error:
            return str(error)
        raise Failed(f"./install.sh {' '.join(words)} did not fail; see {self.root.log}")

    def own_port(self, port):
        """Before the server is there."""
        self.root.path(_OTHER_PORT).parent.mkdir(parents=True, exist_ok=True)
        self.root.path(_OTHER_PORT).write_text(f"[mysqld]\nport = {port}\n")

    def sql(self, statements):
        return self.root.output("mariadb", "--batch", "--skip-column-names", "-e", statements).strip()

    def pid(self):
        return self.root.output("cat", "/run/mysqld/mysqld.pid").strip()

    def has(self, path):
        return self.root.path(path).exists()

    def expect(self, holds, what):
        if not holds:
            raise Failed(f"./install.sh: not true: {what}; see {self.root.log}")
        self.passed += 1


def whole(context):
    """Installs, repeats, with an allocator, over an upgrade, uninstalls and reinstalls, interrupted; the rows stay."""
    name = next(name for name in host.CODENAMES if name != host.host_server())
    environment = servers.prepare(name, context.log)
    build_plugin.build(environment, context.log)
    with ThrowawayRoot(host.CODENAMES[name], context.log) as root:
        install = Install(root, build_plugin.build_dir(environment))
        install.own_port(server_run.free_port())
        _first_and_again(install)
        _allocators(install)
        _server_upgrade(install)
        library(install)
        _out_and_in(install)
        _interruptions(install)
        return Outcome(passed=install.passed)


def _first_and_again(install):
    install()
    install.sql("CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY) ENGINE=TidesDB;"
                "INSERT INTO shop.orders VALUES (1), (2), (3)")
    pid = install.pid()
    printed = install()
    install.expect("nothing changed" in printed and install.pid() == pid, "the second run changes nothing")
    config = install.root.path(InstalledServer.config)
    config.write_text(config.read_text() + "loose_tidesdb_flush_threads = 2\n")
    printed = install()
    install.expect("stays as it is" in printed and "flush_threads" in config.read_text(), "the DBA's change is kept")


def _allocators(install):
    for name in ("tcmalloc", "mimalloc", "jemalloc"):
        install("--allocator", name)
        maps = install.root.output("cat", f"/proc/{install.pid()}/maps")
        install.expect(f"lib{name}" in maps, f"the server process has {name}")
    install.expect(install.has(InstalledServer.allocator_unit), "systemd would give it too")
    install()
    install.expect("libjemalloc" in install.root.output("cat", f"/proc/{install.pid()}/maps"), "it stays")
    install("--allocator", "system")
    maps = install.root.output("cat", f"/proc/{install.pid()}/maps")
    install.expect("malloc" not in maps, "the server process has the system's allocator")
    install.expect(not install.has(InstalledServer.allocator_unit.parent), "nothing is left of the other one")


def _server_upgrade(install):
    """A plugin that the server cannot load, as after an upgrade of the server."""
    plugin = install.root.path(InstalledServer.plugin)
    plugin.unlink()  # The running server has it mapped.
    plugin.write_bytes(_OLDER)
    install.root.run("/etc/init.d/mariadb", "restart")
    install.expect(install.sql(_ENGINES) == "0", "the server starts without the engine")
    printed = install()
    install.expect("its copy is" in printed and install.sql(_ROWS) == "3\t6", "install.sh brings it back")


def library(install, *words):
    """--tidesdb-prefix, and a program of somebody else's against what is there, by pkg-config and by CMake."""
    install(*words, "--tidesdb-prefix", _PREFIX)
    install.root.run("sh", "-e", "-c", _PROGRAMS, "sh", TREE / "test" / "installed", _PREFIX, TREE / "README.md")
    install.expect(install.root.output("/root/counter", "/root/db").strip() == "1", "a program counts its first run")
    install.expect(install.root.output("/root/made/counter", "/root/db").strip() == "2", "the other one finds its count")
    install.expect(install.root.output("sh", "-c", "cd /root && ./first").strip() == "London", "README.md's program runs")
    install.expect("nothing changed" in install(*words), "it stays")


def _out_and_in(install):
    printed = install("--uninstall")
    install.expect("1 tables of TidesDB stay" in printed, "it says that tables stay")
    left = [path for path in [InstalledServer.plugin, InstalledServer.config, DIRECTORY / "record.json", _PREFIX]
            if install.has(path)]
    install.expect(not left, f"these are gone: {left}")
    install.expect(install.sql(_ENGINES) == "0", "the server runs without the engine")
    install.expect("has installed nothing" in install("--uninstall"), "a second time there is nothing to do")
    install()
    install.expect(install.sql(_ROWS) == "3\t6", "installed again, the rows are there")


def _interruptions(install):
    """Killed and terminated between the plugin and the restart: the next run gives a working engine."""
    install("--uninstall")
    install.interrupted("KILL")
    install.expect(install.has(InstalledServer.plugin) and install.sql(_ENGINES) == "0",
                   "a first run was killed before the restart")
    install("--tidesdb-prefix", _PREFIX)
    install.expect(install.sql(_ROWS) == "3\t6" and install.has(_HELD_AT), "the same command again ends it")
    pid = _older_plugin(install)
    install.interrupted("KILL")
    install.expect(install.pid() == pid, "a run with a newer plugin was killed before the restart")
    install()
    install.expect(install.pid() != pid and install.sql(_ROWS) == "3\t6", "the next run restarts the server")
    pid = _older_plugin(install)
    install.interrupted("TERM")
    install.expect(install.root.path(InstalledServer.plugin).read_bytes() == _OLDER and install.pid() == pid,
                   "what a terminated run had changed is undone")
    install()
    install.expect(install.sql(_ROWS) == "3\t6" and install.has(_HELD_AT), "the next run does it")


def _older_plugin(install):
    """One that is to be replaced; the running server has the right one mapped. Returns its pid."""
    plugin = install.root.path(InstalledServer.plugin)
    plugin.unlink()
    plugin.write_bytes(_OLDER)
    return install.pid()
