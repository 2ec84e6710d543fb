"""sqlbench's own servers, fresh for each measurement. running.py handles a server that runs already."""

import fcntl
import re
import shutil
import subprocess
from contextlib import contextmanager

from installer import host, servers
from installer.shell import Failed
from lab.record import provenance
from lab.runners.sqlbench import places as places_of
from lab.runners.sqlbench import settings as settings_of
from lab.server import disk
from lab.server.given_server import GivenServer, plugin_dir_of
from lab.server.private_server import PrivateServer, environment_of, memory_limit, versions_of
from lab.study import room
from lab.study.scratch import Scratch
from lab.works import sysbench_run

MARK = ".sqlbench"
PLUGIN = "ha_tidesdb.so"


def given(places):
    """The server named by MYSQLD and related variables."""
    mysqld = places_of.program(places.mysqld, "MYSQLD")
    basedir = places_of.there(places.build, "BUILD_DIR") if places.build else mysqld.parent.parent
    plugins = places_of.there(places.plugins or plugin_dir_of(mysqld, basedir), "PLUGIN_DIR")
    return GivenServer(mysqld, basedir, plugins, places_of.program(places.mysql, "MYSQL_BIN") if places.mysql else None)


class OwnServers:
    """Starts a server for each measurement, with nothing left of the one before.

    Owns: the directory of each engine (DATA_DIR, INNODB_DATA_DIR), which it marks; close() removes what it made.
    """

    def __init__(self, settings, places, log):
        self._settings, self._places = settings, places
        self._directories = {engine: self._directory(engine) for engine in settings.engines}
        self._made, self._locks = [], []
        self._limit = memory_limit(settings.memory_max, settings.profile)
        self._sockets = None
        options = [o for engine in settings.engines for o in settings_of.server_options(settings, engine)]
        if places.mysqld:
            self.environment = given(places)
            self.plugin = self.environment.plugin_dir / PLUGIN
        else:
            self.environment, self.plugin = environment_of(places.server or host.host_server(), settings.engines, options,
                                                           log)
        self._check_plugins(options)
        self.binaries = {"mariadbd": self.environment.mariadbd,
                         PLUGIN: self.plugin if "TidesDB" in settings.engines else None}

    def identity(self):
        """What must be the same when a run is resumed."""
        return provenance.sums(self.binaries, {engine: self.options(engine) for engine in self._settings.engines})

    def _directory(self, engine):
        if engine == "InnoDB" and self._places.innodb_data:
            return self._places.innodb_data
        return self._places.data

    def _check_plugins(self, options):
        there = self.environment.plugin_dir
        if "TidesDB" in self._settings.engines and not self.plugin.exists():
            raise Failed(f"PLUGIN_DIR: {there} has no {PLUGIN}; install it there, or leave out MYSQLD to build one")
        for name in re.findall(r"^--plugin_load_add=(\S+)$", "\n".join(options), re.M):
            if not (there / name).exists():
                package = next(iter(servers.providers([f"--plugin_load_add={name}"])), "mariadb-plugin-rocksdb")
                raise Failed(f"{there} has no {name}; Debian's package is {package}")

    def prepare(self):
        """Takes the directories, refuses those of others, and removes an interrupted sitting's servers."""
        self._sockets = Scratch()
        for directory in dict.fromkeys(self._directories.values()):
            variable = "DATA_DIR" if directory == self._places.data else "INNODB_DATA_DIR"
            existed = directory.exists()
            places_of.make(directory, variable)
            if existed and any(directory.iterdir()) and not (directory / MARK).exists():
                raise Failed(f"{variable}: {directory} holds something that sqlbench did not make; choose another one")
            self._lock(directory, variable)
            self._made.append((directory, existed))
            if (directory / "run").exists():
                self._server(directory / "run", None, []).kill()
                shutil.rmtree(directory / "run", ignore_errors=True)
            rows = max(self._settings.table_sizes) * self._settings.tables
            room.require(directory, 2 * room.SERVER + rows * room.SYSBENCH_ROW,
                         "use SCALE_DOWN to make it smaller, or DATA_DIR (and INNODB_DATA_DIR) to put it elsewhere")

    def _lock(self, directory, variable):
        """Marks it, so that another sqlbench leaves it alone while this process lives."""
        file = open(directory / MARK, "a", encoding="utf-8")
        self._locks.append(file)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Failed(f"{variable}: another sqlbench works in {directory}; choose another one") from error

    def take_database(self, journal):
        """Does nothing: each server is new, and has only the measured database."""

    def said(self):
        """Sentences that hold for all of them."""
        return [self._limit.said]

    def options(self, engine):
        """The command line of this engine's server."""
        return settings_of.server_options(self._settings, engine)

    def _server(self, directory, plugin, options):
        # Not in DATA_DIR, whose path may be too long for a socket.
        socket = self._places.socket or self._sockets.path / "mysqld.sock"
        return PrivateServer(self.environment, directory, self._limit, plugin=plugin, options=options, socket=socket)

    @contextmanager
    def measured(self, engine):
        """A fresh Session on an engine; removes its files afterwards."""
        base = self._directories[engine]
        template, directory = base / "template", base / "run"
        shutil.rmtree(directory, ignore_errors=True)
        if not (template / "data" / "mysql").exists():
            shutil.rmtree(template, ignore_errors=True)
            self._server(template, None, []).initialise()
        directory.mkdir()
        # Copied instead of made again: one second instead of five.
        subprocess.run(["cp", "-a", "--reflink=auto", "--sparse=auto", template / "data", directory / "data"], check=True)
        server = self._server(directory, self.plugin if engine == "TidesDB" else None,
                              settings_of.server_options(self._settings, engine))
        try:
            yield self._started(server)
        except Failed as error:
            raise server.failed(error) from error
        finally:
            try:
                server.stop()
            finally:  # Also after a second Ctrl-C, and for a server that has no pid file yet.
                server.end()
                shutil.rmtree(directory, ignore_errors=True)

    def _started(self, server):
        server.start()
        user = self._places.user
        if user != "root":
            server.sql(f"CREATE USER '{user}'@'localhost'; GRANT ALL ON *.* TO '{user}'@'localhost'")
        return Session(server, server.data, self._settings, user)

    def close(self):
        """Removes only what this made."""
        for directory, existed in self._made:
            for name in ("template", "run", MARK):
                path = directory / name
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
            if not existed:
                directory.rmdir()
        for file in self._locks:
            file.close()
        if self._sockets:
            self._sockets.close()


class Session:
    """A running server for one measurement."""

    def __init__(self, server, data, settings, user):
        self._server, self.data, self._settings, self._user = server, data, settings, user

    def sql(self, statement):
        return self._server.sql(statement)

    def create_database(self):
        self.sql(f"CREATE DATABASE `{self._settings.database}`")

    def sampler(self):
        """A Sampler of the server, not begun yet."""
        return self._server.sampler()

    def memory(self):
        """The peak of this server and its group, in bytes."""
        return self._server.memory()

    def versions(self):
        return versions_of(self._server)

    def usage(self, engine):
        """The engine's disk usage now."""
        return disk.usage(engine, self.data, self._settings.database, disk.unflushed(engine, self.sql))

    def usage_at_rest(self, engine, again):
        """The same with the server stopped; again: started after that."""
        in_memory = disk.unflushed(engine, self.sql)
        self._server.stop()
        found = disk.usage(engine, self.data, self._settings.database, in_memory)
        if again:
            self._server.start()
        return found

    def sysbench(self, workload, command, threads, rows, *more):
        """The command line of one of sysbench's tests on this server."""
        return sysbench_run.command(self._server.socket, workload, command, threads, rows, *more, user=self._user,
                                    tables=self._settings.tables, database=self._settings.database)
