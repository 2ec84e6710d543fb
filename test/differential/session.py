"""A connection for one engine, and a way to run statements on several connections at once."""

import re

import pymysql
import pymysql.cursors

from test.differential.compare import Outcome
from test.differential.predicates import THEIRS_BY_ROW
from test.differential.tables import ENGINE, OURS_ALONE

OURS, THEIRS = "TidesDB", "InnoDB"
LOST = (2006, 2013, 2014, 0)
BYTES_MAX = 60000
_AN_OURS_ALONE = re.compile(re.escape(OURS_ALONE) + r"\(\d+\)")


class Lost(Exception):
    """The server is gone, or gives no answer."""


class Session:
    """A connection. engine: the engine of its tables. Owns: a second connection, reader, opened when first used."""

    def __init__(self, socket, engine, database):
        self.engine, self.database, self.socket = engine, database, socket
        self.connection, self._reader, self._settings = None, None, []

    def begin(self, settings):
        """Opens a connection with these settings and an empty database."""
        self.close()
        self._settings = settings
        self._open([f"DROP DATABASE IF EXISTS {self.database}", f"CREATE DATABASE {self.database}", *self._own(settings)])

    @property
    def reader(self):
        """A second connection that only reads. It is never serializable, so it takes no locks."""
        if self._reader is None:
            self._reader = Session(self.socket, self.engine, self.database)
            settings = [setting.replace("SERIALIZABLE", "REPEATABLE READ") for setting in self._settings]
            self._reader._open(self._own(settings))
        return self._reader

    def _own(self, settings):
        return [f"USE {self.database}", *settings]

    def _open(self, statements):
        try:
            self.connection = pymysql.connect(
                unix_socket=self.socket,
                user="root",
                charset="utf8mb4",
                conv={},
                use_unicode=False,
                autocommit=True,
                read_timeout=120,
            )
        except (pymysql.err.MySQLError, OSError) as error:
            raise Lost(str(error)) from error
        for statement, outcome in zip(statements, exchange((self, statements))[0]):
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
            text = text.replace(ENGINE, f"ENGINE={self.engine}").replace(THEIRS_BY_ROW, " + 0")
            text = _AN_OURS_ALONE.sub("", text)
        try:
            self.connection._execute_command(pymysql.constants.COMMAND.COM_QUERY, text.encode("utf-8"))
        except (pymysql.err.MySQLError, OSError) as error:
            raise Lost(str(error)) from error

    def receive(self):
        """The outcome of the next statement that was sent; its warnings are one zero each."""
        self.connection._next_seq_id = 1  # Each answer numbers its packets anew.
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
        return Outcome(
            0,
            "",
            rows,
            result.affected_rows if rows is None else len(rows),
            result.insert_id or 0,
            [0] * result.warning_count,
            result.message or b"",
        )

    def run(self, text):
        self.send(text)
        return self.receive()


def exchange(*asked):
    """Sends each session its texts, then reads all outcomes: sessions work in parallel, with few round trips.

    asked: pairs (session, texts). Returns a list of outcomes for each.
    REQUIRES: the texts of a session are at most BYTES_MAX, which the socket can hold: a server that is busy sending does
    not read.
    """
    for session, texts in asked:
        for text in texts:
            session.send(text)
    return [[session.receive() for _ in texts] for session, texts in asked]
