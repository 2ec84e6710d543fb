"""What stands beside the tables of a case: a second connection that reads, triggers, a table with a period."""

from test.differential import queries
from test.differential.sql import Items, Statement


class Reader:
    """A second connection: it opens a snapshot, reads while the first one writes, and ends before DDL would wait for it."""

    def __init__(self):
        self.open = False

    def step(self, rng, tables):
        """Statements: the snapshot, a query in it, or its end."""
        if not self.open:
            self.open = True
            if rng.random() < 0.5:
                return [self._said("START TRANSACTION WITH CONSISTENT SNAPSHOT")]
            # A query that cannot have rows need not take the snapshot: this one does.
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
    """Statements that make a log table and a trigger or two that write it, or change what is written."""
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
    """A table of its own, p, with an application-time period; its rows are cut in pieces, so that no column is unique."""

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
