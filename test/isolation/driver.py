"""Runs random transactions on several connections at once and records a history.

One thread sends the next statement of a random session and reads answers as they come, so statements can wait for each
other's locks.
"""

import random
import select
import time
from dataclasses import dataclass, replace

import pymysql
from pymysql.constants import COMMAND

from test.isolation.history import (ABORTED, COMMITTED, PLAIN, READ_COMMITTED, REPEATABLE_READ, UNKNOWN, History, Op, Row,
                                    Transaction)
from test.isolation.workload import TABLES, Workload, create, insert

_DUPLICATE, _TIMEOUT, _KILLED, _DEADLOCK, _CHANGED, _NO_SAVEPOINT = 1062, 1205, 1317, 1213, 1020, 1305
_STATEMENT_UNDONE = (_DUPLICATE, _TIMEOUT, _KILLED, _NO_SAVEPOINT)
_TRANSACTION_UNDONE = (_DEADLOCK, _CHANGED)
_LOST = (0, 1053, 1927, 2006, 2013, 2055)  # The connection is gone.
_ANSWER_S = 60  # No statement takes so long unless the server hangs.
_TABLE_HISTORIES = 200  # Histories in one table, before a new one is made.
_FINDING = ("read", "append", "set_k", "add_k", "set_id", "delete")
FAULTS = ("read committed", "split", "lost commit", "read uncommitted")


@dataclass(frozen=True)
class Setting:
    """How a history is run. disturbed: none, kill or crash. fault: one of FAULTS, planted in this driver.
    mixed: two sessions have the level, the others READ COMMITTED and REPEATABLE READ."""
    engine: str
    level: str
    locks: bool = True
    snapshot_isolation: bool = True
    workload: str = "mixed"
    disturbed: str = "none"
    fault: str = ""
    mixed: bool = False
    connections: int = 4
    transactions: int = 24

    def said(self):
        return (f"{self.engine}, {self.level}" + (", snapshot isolation off" if not self.snapshot_isolation else "")
                + (f", row locks {'on' if self.locks else 'off'}" if self.engine == "TidesDB" else "")
                + (", mixed levels" if self.mixed else "") + (f", {self.disturbed}" if self.disturbed != "none" else ""))


class Session:
    """A connection, its transaction, and the statement that has no answer yet."""

    def __init__(self, driver, number):
        self.driver, self.number, self.connection = driver, number, None
        self.script = self.transaction = self.pending = None
        self.place = 0
        self.killed = False  # Since its statement was sent.

    def connect(self):
        driver = self.driver
        self.connection, self.server_start = driver.connect(), driver.server_start
        self._set()

    def _set(self):
        with self.connection.cursor() as cursor:
            for statement in self.driver.session_settings(self):
                cursor.execute(statement)

    def settle(self):
        """Between histories: sets what the next one needs, on a new connection if this one is broken."""
        try:
            self._set()
        except pymysql.err.Error:  # It was killed while idle.
            self.connection._force_close()
            self.connect()

    @property
    def socket(self):
        return self.connection._sock

    def send(self, statement):
        self.pending, self.sent_at, self.killed = statement, self.driver.now(), False
        try:
            self.connection._execute_command(COMMAND.COM_QUERY, statement)
        except pymysql.err.Error as error:
            self.answered(error)

    def receive(self):
        """Reads the answer, which has arrived."""
        try:
            self.connection._read_query_result()
            self.answered(None)
        except pymysql.err.Error as error:
            self.answered(error)

    def begin(self, script):
        self.script, self.place = script, 0
        self.transaction = Transaction(self.driver.next_number(), self.number, self.driver.level_of(self),
                                       autocommit=script.autocommit, start=self.driver.now())
        self.savepoint = 0  # Statements that remain after ROLLBACK TO.
        self.state = "op" if script.autocommit else "begin"

    def step(self):
        """Sends the next statement."""
        if self.state == "begin":
            self.send("BEGIN")
        elif self.state == "op":
            if self.place == 0:
                self.transaction.start = self.driver.now()
            if self.script.autocommit:
                self.transaction.commit_start = self.driver.now()
            self.send(self.script.ops[self.place].sql)
        elif self.state == "split":
            self.send("COMMIT")
        elif self.state == "split begin":
            self.send("BEGIN")
        elif self.state == "end":
            self.transaction.commit_start = self.driver.now()
            self.send("ROLLBACK" if self.driver.loses_commit() else "COMMIT")
        else:
            self.send("ROLLBACK")

    def answered(self, error):
        self.pending = None
        code = error.args[0] if error and error.args and isinstance(error.args[0], int) else 0 if error else None
        if code is not None and (code in _LOST or isinstance(error, pymysql.err.InterfaceError)):
            self._lost(code)
            return
        getattr(self, "_after_" + self.state.replace(" ", "_"))(code, error)

    def _finish(self, outcome, why=""):
        self.transaction.outcome, self.transaction.why = outcome, why or self.transaction.why
        if outcome == COMMITTED:
            self.transaction.commit_end = self.driver.now()
        self.driver.history.transactions.append(self.transaction)
        self.transaction = self.script = None

    def _maybe_done(self, op):
        """Records an autocommit statement without an answer. It counts as done if somebody sees its effect."""
        self.transaction.ops.append(replace(op, affected=-1, start=self.sent_at, end=self.driver.now()))

    def _lost(self, code):
        was = self.state
        self.driver.gone(self)
        committing = was in ("end", "split") or was == "op" and self.script.autocommit
        if committing and was == "op":
            self._maybe_done(self.script.ops[self.place])
        self._finish(UNKNOWN if committing else ABORTED, f"connection lost ({code}) in {was}")

    def _after_begin(self, code, error):
        if code is None:
            self.state = "op"
        elif code != _KILLED:
            self.driver.unexpected(error, "BEGIN")

    def _after_op(self, code, error):
        op = self.script.ops[self.place]
        if code is None and self.killed and op.kind in _FINDING and not self.connection._result.affected_rows:
            # With any engine, the server may answer a killed statement with no rows and no error, if the KILL came in the
            # optimizer or in a wait for a lock.
            code = _KILLED
        if code is None and op.kind == "savepoint":
            self.savepoint = len(self.transaction.ops)
        elif code is None and op.kind == "rollback to":
            del self.transaction.ops[self.savepoint:]
        elif code is None:
            if op.mode == PLAIN and self.transaction.snapshot is None:
                self.transaction.snapshot = self.sent_at
            self.transaction.ops.append(self._recorded(op))
        elif code not in _STATEMENT_UNDONE + _TRANSACTION_UNDONE:
            self.driver.unexpected(error, op.sql)
        if self.script.autocommit:
            outcome = COMMITTED if code is None else UNKNOWN if code == _KILLED else ABORTED
            if outcome == UNKNOWN:
                self._maybe_done(op)
            self._finish(outcome, f"error {code}" if code else "")
            return
        if code is not None:
            self.transaction.why += f"error {code} of {op.sql}; "
        self.place += 1
        # After a KILL it is unknown what was undone: with any engine, 1317 may also be a deadlock that undid the whole
        # transaction.
        goes_on = code is None or code in _STATEMENT_UNDONE and code != _KILLED and self.driver.random.random() < 0.5
        if not goes_on:
            self.transaction.why, self.state = f"error {code}", "undo"
        elif self.place < len(self.script.ops):
            self.state = "split" if self.driver.splits() else "op"
        else:
            self.state = "end" if self.script.ends == "COMMIT" else "undo"

    def _after_split(self, code, error):
        self.state = "split begin" if code is None else "undo"

    def _after_split_begin(self, code, error):
        self.state = "op"

    def _after_end(self, code, error):
        if code is None:
            self._finish(COMMITTED)
        elif code == _KILLED:
            self._finish(UNKNOWN, "COMMIT was killed")
            self._reset()
        else:
            if code not in _TRANSACTION_UNDONE:
                self.driver.unexpected(error, "COMMIT")
            self._finish(ABORTED, f"error {code} at COMMIT")
            self._reset()

    def _reset(self):
        """Closes the connection, which ends whatever a failed COMMIT left open."""
        self.driver.gone(self)
        self.connection.close()

    def _after_undo(self, code, error):
        if code == _KILLED:
            return
        if code is not None:
            self.driver.unexpected(error, "ROLLBACK")
        self._finish(ABORTED, self.transaction.why or "ROLLBACK")

    def _recorded(self, op):
        result = self.connection._result
        op = replace(op, start=self.sent_at, end=self.driver.now(), affected=result.affected_rows)
        if result.rows is not None and op.kind in ("read", "delete"):
            op.rows = [self._row(fields, op) for fields in result.rows]
            op.affected = len(op.rows)
            if op.limit and len(op.rows) == op.limit:
                op.lo, op.hi = (op.rows[-1].id, op.hi) if op.descending else (op.lo, op.rows[-1].id)
        if op.kind == "upsert":
            inserted = op.affected == 1
            op = replace(op, kind="insert", token=0) if inserted else replace(op, kind="append", inserted=[], affected=1)
            if not inserted and self.driver.history.table == "unique":
                op.by, op.hi = "either", op.value
        return op

    def _row(self, fields, op):
        id_, k, tag = map(int, fields[:3])
        if op.covered:
            return Row(id_, k, (tag,))
        tokens = tuple(map(int, fields[4].split(".")))
        if int(fields[3]) != len(tokens) or tag != tokens[-1]:
            self.driver.problem("counter", f"T{self.transaction.number} `{op.sql}` read n={fields[3]} and tag={tag} "
                                           f"beside the list {tokens}")
        return Row(id_, k, tokens)


class Driver:
    """Owns: the connections to one server, and a table for each engine and kind. server: see server.py."""

    def __init__(self, server):
        self.server, self._tables, self._sessions, self._admin = server, {}, [], None
        self._disturbed = False  # Whether the last history may have killed connections.
        self._kept = None  # The setting of the sessions.
        self.server_start = 0  # The number of starts: each numbers its connections anew.

    def connect(self):
        return pymysql.connect(unix_socket=str(self.server.socket), user="root", database="test", conv={}, autocommit=None)

    def admin(self, statement):
        if self._admin is None:
            self._admin = self.connect()
            self._admin.autocommit(True)
        with self._admin.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    def now(self):
        return round(time.monotonic() - self._zero, 7)

    def next_number(self):
        self._number += 1
        return self._number

    def problem(self, name, text):
        self.history.problems.append([name, text])

    def unexpected(self, error, statement):
        self.problem("unexpected error", f"{statement}: {error}")

    def gone(self, session):
        """Notes that a session's connection is lost, or will be closed."""
        self.lost.append(session)
        if session.server_start == self.server_start:
            self._ended.append(session.connection.thread_id())

    def splits(self):
        return self.setting.fault == "split" and self.random.random() < 0.5

    def loses_commit(self):
        return self.setting.fault == "lost commit" and self.random.random() < 0.1

    def level_of(self, session):
        """Its own level, "" if it is the history's."""
        return (READ_COMMITTED, REPEATABLE_READ)[session.number % 2] if self.setting.mixed and session.number > 1 else ""

    def session_settings(self, session):
        setting = self.setting
        level = {"read committed": READ_COMMITTED, "read uncommitted": "READ UNCOMMITTED"}.get(
            setting.fault, self.level_of(session) or setting.level)
        wanted = int(setting.snapshot_isolation)
        return [f"SET SESSION TRANSACTION ISOLATION LEVEL {level}",
                f"SET SESSION tidesdb_snapshot_isolation={wanted}, innodb_snapshot_isolation={wanted}, "
                "tidesdb_lock_wait_timeout_ms=5000, innodb_lock_wait_timeout=5"]

    def run(self, setting, seed):
        """One history."""
        self.setting, self.random = setting, random.Random(seed)
        self._zero, self._number, self.lost, self._ended = time.monotonic(), 0, [], []
        self.history = History(setting.engine, setting.level, setting.locks, setting.snapshot_isolation, seed,
                               setting.workload, self.random.choice(TABLES), setting.disturbed)
        table = self._table(setting.engine, self.history.table)
        workload = Workload(setting.workload, self.random, table, self.history.table)
        self.history.initial = workload.initial()
        for statement in (f"DELETE FROM {table}", insert(table, self.history.initial), self._global_setting()):
            self.admin(statement)
        self._settle_sessions()
        scripts = [workload.script() for _ in range(setting.transactions)]
        self._work(scripts)
        self._final(table)
        return self.history

    def _table(self, engine, kind):
        key = (engine, kind)
        name, used = self._tables.get(key, (None, 0))
        if name is None or used >= _TABLE_HISTORIES:
            name, used = f"t_{engine.lower()}_{kind}", 0
            self.admin(create(name, engine, kind))
        self._tables[key] = (name, used + 1)
        return name

    def _settle_sessions(self):
        kept = replace(self.setting, engine="", workload="", disturbed="", locks=True)
        while len(self._sessions) < self.setting.connections:
            self._sessions.append(Session(self, len(self._sessions)))
        for session in self._sessions:
            if session.connection is None or session.connection._sock is None:
                session.connect()
            elif kept != self._kept or self._disturbed:
                session.settle()
        self._kept, self._disturbed = kept, self.setting.disturbed != "none"

    def _work(self, scripts):
        sessions = self._sessions[:self.setting.connections]
        crash_after = self.random.randint(3, 3 * len(scripts)) if self.setting.disturbed == "crash" else None
        steps, scripts = 0, scripts[::-1]
        while True:
            self._revive()
            idle = [session for session in sessions if session.pending is None and (session.transaction or scripts)]
            if not idle and not any(session.pending for session in sessions):
                break
            if idle:
                session = self.random.choice(idle)
                if session.transaction is None:
                    session.begin(scripts.pop())
                session.step()
                steps += 1
            if steps == crash_after:
                crash_after = None
                self.server.kill()
                self._admin, self._ended, self.server_start = None, [], self.server_start + 1
            elif self.setting.disturbed == "kill" and self.random.random() < 0.05:
                self._kill(sessions)
            self._receive(sessions, wait=not idle)

    def _receive(self, sessions, wait):
        """Reads the answers that have arrived. wait: for the first one; else for a random short time, to vary the order."""
        waiting = {session.socket: session for session in sessions if session.pending is not None}
        if not waiting:
            return
        patience = _ANSWER_S if wait else self.random.choice((0, 0, 0.0003, 0.002))
        ready = select.select(list(waiting), [], [], patience)[0]
        if wait and not ready:
            self.problem("no answer", "; ".join(f"T{s.transaction.number}: {s.pending}" for s in waiting.values()))
            for session in waiting.values():
                session.connection._force_close()
                session.answered(pymysql.err.InterfaceError(0, "no answer in time"))
            return
        for socket in ready:
            waiting[socket].receive()

    def _revive(self):
        """Replaces lost connections, and starts the server if it is down."""
        while self.lost:
            if not self.server.runs():
                # All connections are lost then; each reports it once.
                for session in self._sessions:
                    if session.pending is not None:
                        session.connection._sock.settimeout(10)
                        session.receive()
                self._start()
            session = self.lost.pop()
            session.connect()

    def _global_setting(self):
        return f"SET GLOBAL tidesdb_pessimistic_locking={int(self.setting.locks)}"

    def _start(self):
        """After a crash."""
        self.server.start()
        self.admin(self._global_setting())

    def _kill(self, sessions):
        victim = self.random.choice(sessions)
        if victim.connection._sock is None:
            return
        what = self.random.choice(("QUERY ", "QUERY ", "CONNECTION "))
        victim.killed = True
        self.history.kills.append([self.now(), victim.number, what.strip()])
        try:
            self.admin(f"KILL {what}{victim.connection.thread_id()}")
        except pymysql.err.Error as error:
            if error.args[0] != 1094:  # The connection has ended already.
                raise

    def _wait_for_ended(self):
        """Waits for killed connections: their clients get an answer before the server ends the COMMIT or rollback."""
        ended = ",".join(map(str, self._ended))
        deadline = time.monotonic() + _ANSWER_S
        while ended and self.admin(f"SELECT 1 FROM information_schema.PROCESSLIST WHERE ID IN ({ended}) LIMIT 1"):
            if time.monotonic() > deadline:
                self.problem("no answer", f"one of the killed connections {ended} does not end")
                return
            time.sleep(0.001)

    def _final(self, table):
        """Reads the final rows, and checks that every index gives the same ones."""
        if not self.server.runs():
            self._start()
        self._wait_for_ended()
        op = Op("read", PLAIN, sql="the end")
        reader = Session(self, 0)
        reader.transaction = Transaction(0, 0)
        found = self.admin(f"SELECT id,k,tag,n,list FROM {table} FORCE INDEX(PRIMARY)")
        self.history.final = rows = [reader._row(fields, op) for fields in found]
        for index in ("k", "kt") if self.history.table == "covering" else ("k",):
            for columns in ("id,k,tag,n,list", "id,k,tag" if index == "kt" else "id,k"):
                found = self.admin(f"SELECT {columns} FROM {table} FORCE INDEX({index}) WHERE k>-100000")
                expected = sorted((row.id, row.k, row.tokens[-1]) for row in rows)
                width = min(3, columns.count(",") + 1)
                if sorted(tuple(map(int, fields[:width])) for fields in found) != [row[:width] for row in expected]:
                    self.problem("index differs", f"{columns} by {index}: {found}; by PRIMARY: {expected}")
        self.history.statements = [create(table, self.setting.engine, self.history.table)]
