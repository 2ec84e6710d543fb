"""Additions to the tables of a case: a second connection that reads, triggers, other kinds of tables."""

from test.differential import queries
from test.differential.sql import Items, Statement


class Reader:
    """A second connection: it opens a snapshot, reads while the first one writes, and ends before DDL would wait for it."""

    def __init__(self):
        self.open = False

    def step(self, rng, tables):
        """Statements that open the snapshot, query it, or close it."""
        if not self.open:
            self.open = True
            if rng.random() < 0.5:
                return [self._said("START TRANSACTION WITH CONSISTENT SNAPSHOT")]
            # A query that cannot have rows may not take the snapshot; this one does.
            return [self._said("BEGIN"), Statement("select", f"SELECT * FROM {tables[0].name}", reader=True)]
        if rng.random() < 0.2:
            return self.close()
        table = rng.choice(tables)
        made = queries.plain(rng, tables) if rng.random() < 0.6 else Statement("select", f"SELECT * FROM {table.name}")
        if any(word in text for text in made.texts() for word in ("FOR UPDATE", "LOCK IN")):
            return []
        made.reader, made.kind = True, "select-snapshot"
        return [made]

    def close(self):
        if not self.open:
            return []
        self.open = False
        return [self._said("COMMIT")]

    @staticmethod
    def _said(text):
        return Statement("begin", text, reader=True)


def triggers(rng, table):
    """Statements that make a log table, and one or two triggers that write to it or change the new row."""
    made = [Statement("create", "CREATE TABLE log (n INT, what VARCHAR(10), id INT) ENGINE=TidesDB")]
    for event in rng.sample(["INSERT", "UPDATE", "DELETE"], rng.choice([1, 2])):
        row = "OLD" if event == "DELETE" else "NEW"
        if event != "DELETE" and rng.random() < 0.4:
            columns = [column for column in table.plain[1:] if not table.in_unique(column)]
            if columns:
                column = rng.choice(columns)
                made.append(
                    Statement(
                        "create",
                        f"CREATE TRIGGER b_{event.lower()} BEFORE {event} ON {table.name} FOR EACH ROW SET "
                        f"NEW.{column.name} = {column.value(rng)}",
                    )
                )
                continue
        made.append(
            Statement(
                "create",
                f"CREATE TRIGGER a_{event.lower()} AFTER {event} ON {table.name} FOR EACH ROW INSERT INTO log "
                f"VALUES (1, '{event}', {row}.id)",
            )
        )
    return made


class Period:
    """A separate table, p, with an application-time period. Its rows are cut into pieces, so no column is unique."""

    name, checksum = "p", True

    def __init__(self, rng):
        self.key = rng.choice(
            [
                "PRIMARY KEY (id, span WITHOUT OVERLAPS)",
                "UNIQUE (id, span WITHOUT OVERLAPS)",
                "KEY (id)",
                "UNIQUE (v, id, span WITHOUT OVERLAPS), KEY (s)",
                "PRIMARY KEY (id, s, e)",
            ]
        )

    def create(self):
        return [
            Statement(
                "create",
                f"CREATE TABLE p (id INT NOT NULL, v VARCHAR(10), s DATE NOT NULL, e DATE NOT NULL, PERIOD FOR span "
                f"(s, e), {self.key}) ENGINE=TidesDB",
            )
        ]

    def step(self, rng):
        begin, end = self._days(rng)
        draw, number = rng.random(), rng.randrange(1, 5)
        if draw < 0.4:
            rows = Items(
                [
                    f"({rng.randrange(1, 5)}, '{rng.choice('abc')}', '{day}', '{until}')"
                    for day, until in (self._days(rng) for _ in range(rng.choice([1, 1, 3])))
                ]
            )
            return [Statement("period-insert", [f"INSERT {rng.choice(['', '', 'IGNORE '])}INTO p VALUES ", rows])]
        if draw < 0.55:
            return [
                Statement(
                    "period-delete", f"DELETE FROM p FOR PORTION OF span FROM '{begin}' TO '{end}' WHERE id = {number}"
                )
            ]
        if draw < 0.75:
            return [
                Statement(
                    "period-update",
                    f"UPDATE p FOR PORTION OF span FROM '{begin}' TO '{end}' SET v = '{rng.choice('abc')}' "
                    f"WHERE id = {number}",
                )
            ]
        return [
            Statement("select", "SELECT * FROM p"),
            Statement("select", f"SELECT * FROM p WHERE id = {number} AND s < '{end}'"),
        ]

    @staticmethod
    def _days(rng):
        begin = rng.randrange(1, 25)
        return f"2000-01-{begin:02}", f"2000-01-{begin + rng.randrange(1, 7):02}"


class Versioned:
    """A separate table, v, with system versioning. The clock is set, so that both engines write the same history."""

    name, checksum = "v", True

    _KEYS = [
        "PRIMARY KEY (id)",
        "PRIMARY KEY (id), KEY (a)",
        "PRIMARY KEY (id), UNIQUE (a, b)",
        "PRIMARY KEY (id DESC), KEY (b(2)), KEY (a, b)",
        "KEY (a DESC, id)",
        "UNIQUE (b) USING HASH, KEY (a)",
    ]

    def __init__(self, rng):
        self.key, self.clock, self.columns = rng.choice(self._KEYS), 1600000000, 0
        self.tail = rng.choice([""] * 3 + [" PARTITION BY SYSTEM_TIME (PARTITION h HISTORY, PARTITION c CURRENT)"])
        self.without = rng.choice(["", "", " WITHOUT SYSTEM VERSIONING"])

    def create(self):
        return [
            Statement("set", "SET system_versioning_alter_history = KEEP"),
            Statement(
                "create",
                f"CREATE TABLE v (id INT NOT NULL, a INT, b VARCHAR(90){self.without}, {self.key}) ENGINE=TidesDB "
                f"WITH SYSTEM VERSIONING{self.tail}",
            ),
        ]

    def step(self, rng):
        """Mostly a second later than the step before."""
        self.clock += rng.choice([0, 1, 1, 1, 5])
        made = self._change(rng) if rng.random() < 0.6 else self._read(rng)
        return [Statement("set", f"SET timestamp = {self.clock}.5"), made]

    def _change(self, rng):
        draw, where = rng.random(), f" WHERE {self._where(rng)}"
        if draw < 0.4:
            rows = Items([f"({self._row(rng)})" for _ in range(rng.choice([1, 2, 4]))])
            word = rng.choice(["INSERT", "INSERT IGNORE", "REPLACE", "REPLACE"])
            return Statement("insert-select", [f"{word} INTO v (id, a, b) VALUES ", rows])
        if draw < 0.7:
            sets = rng.choice(["a = a + 1", "b = CONCAT(b, 'x')", "b = REPEAT(b, 3), a = 2", "a = a", "id = id + 20"])
            return Statement("update-order", f"UPDATE v SET {sets}{where} ORDER BY id DESC")
        if draw < 0.85:
            return Statement("delete-order", f"DELETE FROM v{where}")
        if draw < 0.9:
            return Statement("delete-order", f"DELETE HISTORY FROM v BEFORE SYSTEM_TIME {self._time(rng)}")
        if draw < 0.97:
            self.columns += 1
            return Statement("alter", f"ALTER TABLE v ADD COLUMN c{self.columns} INT DEFAULT {self.columns}")
        return Statement("alter", "ALTER TABLE v FORCE")

    def _read(self, rng):
        times = rng.choice(
            [
                "ALL",
                "ALL",
                f"AS OF {self._time(rng)}",
                f"BETWEEN {self._time(rng)} AND {self._time(rng)}",
                f"FROM {self._time(rng)} TO {self._time(rng)}",
            ]
        )
        of = rng.choice(["", f" FOR SYSTEM_TIME {times}", f" FOR SYSTEM_TIME {times}"])
        return Statement("select", f"SELECT *, row_start, row_end FROM v{of} WHERE {self._where(rng)}")

    def _time(self, rng):
        return f"FROM_UNIXTIME({self.clock - rng.choice([0, 0, 1, 2, 5])}{rng.choice(['', '.5', '.6'])})"

    @staticmethod
    def _where(rng):
        number = rng.randrange(1, 8)
        return rng.choice(["1", f"id = {number}", f"a >= {number}", f"b LIKE '{rng.choice('abc')}%'", f"id < {number}"])

    @staticmethod
    def _row(rng):
        text = rng.choice("abc") * rng.choice([1, 2, 80])
        return f"{rng.randrange(1, 8)}, {rng.choice(['NULL', '1', '2', '5'])}, '{text}'"


class Sequence:
    """A sequence q, and a table w whose default draws from it."""

    name, checksum = "w", True

    def __init__(self, rng):
        step = rng.choice([1, 1, 3, -2])
        bounds = rng.choice(["", "", " MINVALUE -20 MAXVALUE 20", " MINVALUE 1 MAXVALUE 9 CYCLE"]) if step > 0 else ""
        self.options = f"{bounds} INCREMENT {step} {rng.choice(['CACHE 3', 'NOCACHE', 'CACHE 1000'])}"

    def create(self):
        return [
            Statement("create", f"CREATE SEQUENCE q{self.options} ENGINE=TidesDB"),
            Statement("create", "CREATE TABLE w (a BIGINT DEFAULT NEXTVAL(q), id INT) ENGINE=TidesDB"),
        ]

    def step(self, rng):
        number = rng.randrange(-5, 25)
        change = rng.choice(["RESTART", f"RESTART {number}", "INCREMENT 2", "NOCACHE", "CACHE 5"])
        kind, text = rng.choice(
            [("select", "SELECT NEXTVAL(q)")] * 4
            + [
                ("select", "SELECT NEXTVAL(q), PREVIOUS VALUE FOR q, NEXTVAL(q)"),
                ("select", f"SELECT SETVAL(q, {number}{rng.choice(['', ', 0', ', 1, 1'])})"),
                ("select", "SELECT * FROM q"),
                ("select", "SELECT * FROM w"),
                ("insert-select", "INSERT INTO w (id) VALUES (1), (2)"),
                ("insert-select", "INSERT INTO w SELECT NEXTVAL(q), 3"),
                ("alter", f"ALTER SEQUENCE q {change}"),
                ("alter", "FLUSH TABLES q"),
                ("check", "CHECK TABLE q"),
            ]
        )
        return [Statement(kind, text)]
