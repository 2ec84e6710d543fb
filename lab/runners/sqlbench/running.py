"""A running server for sqlbench, which only makes and drops one database on it."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

from installer.shell import Failed, output
from lab.runners.sqlbench import places as places_of
from lab.runners.sqlbench import settings as settings_of
from lab.runners.sqlbench.target import Session
from lab.server import running_server
from lab.server.private_server import plain, variables_of

# The journal's key for the run's database on the server: its name and the server, or nothing.
DATABASE = "database"


class Running:
    """REQUIRES: take_database() before measured()."""

    def __init__(self, settings, places, _log):
        self._settings, self._journal = settings, None
        for name, value in (("MEMORY_MAX", settings.memory_max), ("PROFILE", settings.profile)):
            if value:
                raise Failed(f"{name}: a server that runs already keeps its settings and has no limit; set MYSQLD to have "
                             "one started")
        client = (places_of.program(places.mysql, "MYSQL_BIN") if places.mysql else
                  shutil.which("mariadb") or shutil.which("mysql"))
        if not client:
            raise Failed("MYSQL_BIN: there is no mariadb client; apt-get install mariadb-client")
        self._client = [str(client), "--no-defaults", f"--user={places.user}", f"--socket={places.socket}"]
        self.socket, self.user = places.socket, places.user
        self._seen = running_server.RunningServer(self.sql, [*self._client, "--batch", "--skip-column-names"],
                                                  socket=str(places.socket))

    @property
    def binaries(self):
        """Its programs by name, if they are visible."""
        return self._seen.binaries()

    def identity(self):
        """What must be the same when a run is resumed."""
        return self._seen.identity()

    def sql(self, statement):
        return output([*self._client, "--batch", "--skip-column-names", "-e", statement])

    def prepare(self):
        try:
            self.sql("SELECT 1")
        except Failed as error:
            raise Failed(f"SOCKET: nothing answers at {self.socket}; set MYSQLD to start a server there\n"
                         f"{error}") from error
        engines = {line.split("\t")[0].lower(): line.split("\t")[1] for line in self.sql("SHOW ENGINES").splitlines()}
        for engine in self._settings.engines:
            if engines.get(engine.lower(), "NO") not in ("YES", "DEFAULT"):
                raise Failed(f"ENGINES: the server at {self.socket} has no {engine}")

    def take_database(self, journal):
        """Makes sure that no database of that name exists: drops the one that a killed sitting of this run left.

        journal: the run's, if it has one already. Raises Failed for any other database.
        """
        self._journal, name = journal, self._settings.database
        found = self.sql(f"SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '{name}'")
        if not found.strip():
            return
        if journal is None or journal.result(DATABASE) != self._its_name():
            raise Failed(f"MYSQL_DB: the server at {self.socket} already has a database {name}; choose a new name")
        self._drop_database()

    def _its_name(self):
        """The database and the server, since a run may be resumed on another server of the same build."""
        return {"name": self._settings.database, "socket": str(self.socket),
                "server": self.sql("SELECT @@hostname, @@datadir").strip()}

    def create_database(self):
        # Recorded before it exists, so that a sitting killed in between leaves no unknown database.
        self._journal.finish(DATABASE, self._its_name())
        try:
            self.sql(f"CREATE DATABASE `{self._settings.database}`")
        except Failed:  # Somebody else has made one meanwhile.
            self._journal.finish(DATABASE, {})
            raise

    def _drop_database(self):
        self.sql(f"DROP DATABASE IF EXISTS `{self._settings.database}`")
        self._journal.finish(DATABASE, {})

    def _asked(self, engine):
        """(name, requested value, its own) of the requested settings that this server knows."""
        options = (option[2:].partition("=") for option in settings_of.server_options(self._settings, engine))
        found = variables_of(self)
        return [(name, value, found[name]) for name, _, value in options if name in found]

    def said(self):
        """Sentences: requested settings that this server does not have, and facts that are not visible."""
        return self._seen.unseen() + [
            f"The server runs with {name}={has}, not with the requested {value}." for engine in self._settings.engines
            for name, value, has in self._asked(engine) if name.startswith(engine.lower()) and plain(value) != plain(has)]

    def options(self, engine):
        """Its values of the requested settings, in the form of a command line."""
        return [f"--{name}={has}" for name, _, has in self._asked(engine)]

    def sampler(self):
        return self._seen.sampler()

    def memory(self):
        return self._seen.memory()

    @contextmanager
    def measured(self, engine):
        directory = Path(self.sql("SELECT @@datadir").strip())
        try:
            yield RunningSession(self, directory if os.access(directory, os.R_OK | os.X_OK) else None, self._settings,
                                 self.user)
        finally:
            if self._journal.result(DATABASE):
                self._drop_database()

    def close(self):
        pass


class RunningSession(Session):
    """A measurement on it, without stopping or starting it."""

    def create_database(self):
        self._server.create_database()

    def usage_at_rest(self, engine, again):
        return self.usage(engine)
