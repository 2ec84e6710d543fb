"""The servers that sqlbench measures: its own ones, fresh for each measurement, or one that runs already."""

import os
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from installer import apt, build_plugin, host, packages, servers
from installer.server_run import Server
from installer.shell import TREE, Failed, output
from lab.sqlbench import disk
from lab.sqlbench import settings as settings_of

MARK = ".sqlbench"
PLUGIN = "ha_tidesdb.so"


@dataclass(frozen=True)
class Given:
    """A server that the variables name; as an installer.servers.Environment where it matters."""
    mariadbd: Path
    basedir: Path
    plugin_dir: Path
    mysql: Path
    root = None

    def command(self, argv, cwd=None):
        return [str(a) for a in argv]

    def tool(self, name):
        if name == "mariadb" and self.mysql:
            return self.mysql
        beside = [self.basedir / folder / name for folder in ("bin", "scripts", "client")]
        return next((path for path in beside if path.exists()), beside[0])


class _Server(Server):
    """A Server whose tools are where a Given says."""

    def _tool(self, name):
        return self.environment.tool(name) if isinstance(self.environment, Given) else super()._tool(name)


def _asked(path, variable):
    if not path.exists():
        raise Failed(f"{variable}={path}: there is no such file")
    return path


def given(places):
    """The server that MYSQLD and its like name."""
    mysqld = _asked(places.mysqld, "MYSQLD")
    basedir = _asked(places.build, "BUILD_DIR") if places.build else mysqld.parent.parent
    plugins = places.plugins
    if plugins is None:
        said = output([mysqld, "--no-defaults", "--verbose", "--help"])
        found = re.search(r"^plugin-dir\s+(\S+)", said, re.M)
        plugins = Path(found.group(1)) if found else basedir / "lib" / "plugin"
    _asked(plugins, "PLUGIN_DIR")
    return Given(mysqld, basedir, plugins, _asked(places.mysql, "MYSQL_BIN") if places.mysql else None)


class OwnServers:
    """Starts a server for each measurement, with nothing of the one before.

    Owns: the directory of each engine (DATA_DIR, INNODB_DATA_DIR), which it marks; close() removes what it made.
    """

    sizes_at_rest = True

    def __init__(self, settings, places, log):
        self._settings, self._places = settings, places
        self._directories = {engine: self._directory(engine) for engine in settings.engines}
        self._made = []
        self._sockets = None
        options = [o for engine in settings.engines for o in settings_of.server_options(settings, engine)]
        if places.mysqld:
            self.environment = given(places)
            self.plugin = self.environment.plugin_dir / PLUGIN
        else:
            self.environment, self.plugin = _make(places.server or host.host_server(), servers.providers(options),
                                                  "RocksDB" in settings.engines, "TidesDB" in settings.engines, log)
            self._check_visible()
        self._check_plugins(options)
        self.binaries = {"mariadbd": self.environment.mariadbd,
                         PLUGIN: self.plugin if "TidesDB" in settings.engines else None}

    def _directory(self, engine):
        if engine == "InnoDB" and self._places.innodb_data:
            return self._places.innodb_data
        return self._places.data

    def _check_visible(self):
        """A server in a root of its own sees the tree, the cache and /tmp."""
        for directory in self._directories.values():
            shared = [TREE, host.cache_dir(), Path("/tmp")]
            if self.environment.root and not any(directory.is_relative_to(place) for place in shared):
                raise Failed(f"DATA_DIR: {directory} is not to be seen from the root that this server runs in; one below "
                             f"{TREE} or /tmp is")

    def _check_plugins(self, options):
        there = self.environment.plugin_dir
        if "TidesDB" in self._settings.engines and not self.plugin.exists():
            raise Failed(f"PLUGIN_DIR: {there} has no {PLUGIN}; install it there, or leave MYSQLD out to have one built")
        for name in re.findall(r"^--plugin_load_add=(\S+)$", "\n".join(options), re.M):
            if not (there / name).exists():
                package = next(iter(servers.providers([f"--plugin_load_add={name}"])), "mariadb-plugin-rocksdb")
                raise Failed(f"{there} has no {name}; Debian's package is {package}")

    def prepare(self):
        """Takes the directories, refusing what is somebody else's, and removes an interrupted sitting's servers."""
        for directory in dict.fromkeys(self._directories.values()):
            existed = directory.exists()
            if existed and any(directory.iterdir()) and not (directory / MARK).exists():
                raise Failed(f"DATA_DIR: {directory} holds something that sqlbench did not make; name another one")
            directory.mkdir(parents=True, exist_ok=True)
            (directory / MARK).touch()
            self._made.append((directory, existed))
            if (directory / "run").exists():
                self._server(directory / "run", None, []).kill()
        self._sockets = tempfile.mkdtemp(prefix="sqlbench-")

    def _server(self, directory, plugin, options):
        # Not in DATA_DIR, whose path may be too long for a socket.
        socket = self._places.socket or (Path(self._sockets) / "mysqld.sock" if self._sockets else None)
        return _Server(self.environment, directory, plugin=plugin, options=options, socket=socket)

    @contextmanager
    def measured(self, engine):
        """A fresh Session on an engine; its files are gone afterwards."""
        base = self._directories[engine]
        template, directory = base / "template", base / "run"
        shutil.rmtree(directory, ignore_errors=True)
        if not (template / "data" / "mysql").exists():
            shutil.rmtree(template, ignore_errors=True)
            _Server(self.environment, template).initialise()
        directory.mkdir()
        # Copied, not made anew: it takes a second instead of five.
        subprocess.run(["cp", "-a", "--reflink=auto", "--sparse=auto", template / "data", directory / "data"], check=True)
        server = self._server(directory, self.plugin if engine == "TidesDB" else None,
                              settings_of.server_options(self._settings, engine))
        try:
            server.start()
            check_settings(server, settings_of.server_options(self._settings, engine))
            user = self._places.user
            if user != "root":
                server.sql(f"CREATE USER '{user}'@'localhost'; GRANT ALL ON *.* TO '{user}'@'localhost'")
            yield Session(server, server.data, self._settings, user)
        except Failed as error:
            raise Failed(f"{error}\nThe server's log ends with:\n{server.log_tail()}") from error
        finally:
            try:
                server.stop()
            except Failed:
                server.kill()
                raise
            finally:
                shutil.rmtree(directory, ignore_errors=True)

    def close(self):
        """Removes what this made and nothing else."""
        for directory, existed in self._made:
            for name in ("template", "run", MARK):
                path = directory / name
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
            if not existed:
                directory.rmdir()
        if self._sockets:
            shutil.rmtree(self._sockets, ignore_errors=True)


def _make(name, providers, rocksdb, tidesdb, log):
    """A server environment of the installer's, with what the engines want."""
    apt.install(packages.SYSBENCH, log)
    environment = servers.prepare(name, log, tests=rocksdb, more=providers)
    return environment, build_plugin.build(environment, log) if tidesdb else None


def check_settings(server, options):
    """What the server runs with is what it was told. Raises Failed naming what is not."""
    asked = dict(option[2:].split("=", 1) for option in options if "=" in option and "plugin_load_add" not in option
                 and "rocksdb_default_cf_options" not in option and "log_bin" not in option)
    rows = server.sql("SHOW GLOBAL VARIABLES")
    found = dict(line.split("\t", 1) for line in rows.splitlines() if "\t" in line)
    for name, value in asked.items():
        if _plain(value) != _plain(found.get(name, "nothing")):
            raise Failed(f"the server was told {name}={value} and runs with {found.get(name, 'no such variable')}")


def _plain(value):
    """Numbers with units, and switches, in one form."""
    number = re.fullmatch(r"(\d+)([KMG]?)", value.upper())
    if number:
        return str(int(number.group(1)) << {"": 0, "K": 10, "M": 20, "G": 30}[number.group(2)])
    return {"ON": "1", "OFF": "0"}.get(value.upper(), value.upper())


class RunningServer:
    """A server that somebody started. Nothing of it is changed but one database, which is made and dropped."""

    sizes_at_rest = False

    def __init__(self, settings, places, log):
        self._settings, self._log = settings, log
        client = places.mysql or shutil.which("mariadb") or shutil.which("mysql")
        if not client:
            raise Failed("MYSQL_BIN: there is no mariadb client; apt-get install mariadb-client")
        self._client = [str(client), "--no-defaults", f"--user={places.user}", f"--socket={places.socket}"]
        self.socket, self.user = places.socket, places.user
        self.binaries = {}

    def sql(self, statement):
        return output([*self._client, "--batch", "--skip-column-names", "-e", statement])

    def prepare(self):
        try:
            self.sql("SELECT 1")
        except Failed as error:
            raise Failed(f"SOCKET: nothing answers at {self.socket}; set MYSQLD to have a server started there\n"
                         f"{error}") from error
        engines = {line.split("\t")[0].lower(): line.split("\t")[1] for line in self.sql("SHOW ENGINES").splitlines()}
        for engine in self._settings.engines:
            if engines.get(engine.lower(), "NO") not in ("YES", "DEFAULT"):
                raise Failed(f"ENGINES: the server at {self.socket} has no {engine}")
        name = self._settings.database
        if self.sql(f"SELECT 1 FROM information_schema.tables WHERE table_schema = '{name}' LIMIT 1").strip():
            raise Failed(f"MYSQL_DB: the server at {self.socket} has tables in {name}; name a database that is not there")

    def differences(self):
        """Sentences: which of the asked settings this server does not have."""
        found = dict(line.split("\t", 1) for line in self.sql("SHOW GLOBAL VARIABLES").splitlines() if "\t" in line)
        said = []
        for engine in self._settings.engines:
            for option in settings_of.server_options(self._settings, engine):
                name, _, value = option[2:].partition("=")
                if name in found and name.startswith(engine.lower()) and _plain(value) != _plain(found[name]):
                    said.append(f"The server runs with {name}={found[name]}, not the asked {value}.")
        return said

    @contextmanager
    def measured(self, engine):
        directory = Path(self.sql("SELECT @@datadir").strip())
        try:
            yield Session(self, directory if os.access(directory, os.R_OK | os.X_OK) else None, self._settings, self.user)
        finally:
            self.sql(f"DROP DATABASE IF EXISTS `{self._settings.database}`")

    def close(self):
        pass


class Session:
    """A server that is up, for one measurement."""

    def __init__(self, server, data, settings, user):
        self._server, self.data, self._settings, self._user = server, data, settings, user

    def sql(self, statement):
        return self._server.sql(statement)

    def usage(self, engine):
        """What the engine takes of the disk now."""
        return disk.usage(engine, self.data, self._settings.database, disk.unflushed(engine, self.sql))

    def usage_at_rest(self, engine, again):
        """The same with the server stopped, where it is ours; again: started after that."""
        if not isinstance(self._server, Server):
            return self.usage(engine)
        in_memory = disk.unflushed(engine, self.sql)
        self._server.stop()
        found = disk.usage(engine, self.data, self._settings.database, in_memory)
        if again:
            self._server.start()
        return found

    def sysbench(self, workload, command, threads, rows, *more):
        """The command line of one of sysbench's tests on this server."""
        return ["sysbench", workload, "--db-driver=mysql", f"--mysql-socket={self._server.socket}",
                f"--mysql-user={self._user}", f"--mysql-db={self._settings.database}",
                f"--tables={self._settings.tables}", f"--table-size={rows}", f"--threads={threads}",
                f"--mysql-ignore-errors={settings_of.IGNORED_ERRORS}", *more, command]
