"""Two connections to one server, one for each engine, and what a statement gave on each."""

import pymysql
import pymysql.cursors

from differential.compare import Outcome
from differential.tables import ENGINE

OURS, THEIRS = "TidesDB", "InnoDB"
LOST = (2006, 2013, 2014, 0)


class Lost(Exception):
    """The server is gone, or gives no answer."""


class Session:
    """A connection. engine: what tables are made with. Owns: a second connection, reader, once it is asked for."""

    def __init__(self, socket, engine, database):
        self.engine, self.database, self.socket = engine, database, socket
        self.connection, self._reader, self._settings = None, None, []

    def begin(self, settings):
        """An empty database, and a connection with these settings."""
        self.close()
        self._settings = settings
        self._open([f"DROP DATABASE IF EXISTS {self.database}", f"CREATE DATABASE {self.database}", *self._own(settings)])

    @property
    def reader(self):
        """What reads beside this one, never serializable: it takes no locks."""
        if self._reader is None:
            self._reader = Session(self.socket, self.engine, self.database)
            settings = [setting.replace("SERIALIZABLE", "REPEATABLE READ") for setting in self._settings]
            self._reader._open(self._own(settings))
        return self._reader

    def _own(self, settings):
        return [f"USE {self.database}", *settings]

    def _open(self, statements):
        try:
            self.connection = pymysql.connect(unix_socket=self.socket, user="root", charset="utf8mb4", conv={}, use_unicode=False,
                                              autocommit=True, read_timeout=120)
        except (pymysql.err.MySQLError, OSError) as error:
            raise Lost(str(error)) from error
        for statement in statements:
            outcome = self.run(statement)
            if outcome.error:
                raise ValueError(f"{statement}: {outcome.text}")

    def close(self):
        for one in (self._reader, self.connection):
            try:
                if one is not None:
                    one.close()
            except (pymysql.err.MySQLError, OSError):
                pass
        self._reader = self.connection = None

    def send(self, text):
        if self.engine != OURS:
            text = text.replace(ENGINE, f"ENGINE={self.engine}")
        try:
            self.connection._execute_command(pymysql.constants.COMMAND.COM_QUERY, text.encode("utf-8"))
        except (pymysql.err.MySQLError, OSError) as error:
            raise Lost(str(error)) from error

    def receive(self):
        """The outcome of what was sent, without warnings' texts."""
        try:
            self.connection._read_query_result()
        except pymysql.err.MySQLError as error:
            number = error.args[0] if error.args else 0
            if number in LOST:
                raise Lost(str(error)) from error
            return Outcome(error=number, text=str(error.args[1]) if len(error.args) > 1 else str(error))
        except OSError as error:
            raise Lost(str(error)) from error
        result = self.connection._result
        rows = list(result.rows) if result.rows is not None else None
        return Outcome(0, "", rows, result.affected_rows if rows is None else len(rows), result.insert_id or 0,
                       [0] * result.warning_count, result.message or b"")

    def run(self, text):
        self.send(text)
        return self.receive()

    def warnings(self):
        """The codes of the last statement's warnings."""
        return sorted(int(row[1]) for row in self.run("SHOW WARNINGS").rows or [])


def both(ours, theirs, text):
    """Runs a statement in both; the server works on the two at once. Returns their outcomes."""
    ours.send(text)
    theirs.send(text)
    outcomes = [ours.receive(), theirs.receive()]
    if any(outcome.warnings for outcome in outcomes) and not any(outcome.error for outcome in outcomes):
        for session, outcome in zip((ours, theirs), outcomes):
            outcome.warnings = session.warnings()
    return outcomes
