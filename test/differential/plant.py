"""Planted faults: a test checks that the fuzzer finds them.

Each one imitates a fault of an engine by an extra statement on TidesDB's side. The engines themselves are unchanged.
"""


class LostRow:
    """After every DELETE or UPDATE of several rows, one more row is gone."""

    def behind(self, session, statement, outcome):
        if statement.kind in ("update", "delete") and not outcome.error and outcome.affected > 1:
            table = statement.texts()[0].replace("DELETE FROM ", "UPDATE ").split()[1]
            session.run(f"DELETE FROM {table} ORDER BY id DESC LIMIT 1")


class Uncommitted:
    """ROLLBACK keeps the changes that it should undo."""

    def behind(self, session, statement, outcome):
        if statement.kind == "begin":
            session.run("COMMIT")


class OtherCollation:
    """The first text column of each table compares by bytes."""

    def behind(self, session, statement, outcome):
        text = statement.texts()[0]
        if not text.startswith("CREATE TABLE t") or outcome.error:
            return
        table = text.split()[2]
        for name, kind, nullable, default in session.run(
            "SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT FROM information_schema.COLUMNS WHERE "
            f"TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}' AND COLLATION_NAME LIKE '%\\_ci' AND "
            "DATA_TYPE = 'varchar' AND EXTRA = '' LIMIT 1"
        ).rows:
            more = (" NULL" if nullable == b"YES" else " NOT NULL") + (f" DEFAULT {default.decode()}" if default else "")
            as_bytes = "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
            session.run(f"ALTER TABLE {table} MODIFY {name.decode()} {kind.decode()} {as_bytes}{more}")


FAULTS = {"lost-row": LostRow, "uncommitted": Uncommitted, "other-collation": OtherCollation}
