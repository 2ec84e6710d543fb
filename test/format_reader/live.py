"""Reads a real server's database from its files alone, and compares its rows with SELECT."""

import random
import shutil
import subprocess
import tempfile

from installer.server_run import Server
from installer.shell import Failed, run
from lab.base.watched import tied
from test.format_reader import dictionary, saved
from test.format_reader.columns import of_schema
from test.format_reader.database import Database
from test.format_reader.rows import Definition, KeyPart, read_row
from test.format_reader.tables import TABLES, Table, literal

_OPTIONS = ["--tidesdb-unified-memtable-write-buffer-size=256K", "--tidesdb-max-memory-usage=64M",
            "--performance-schema=OFF", "--innodb-buffer-pool-size=32M",
            "--tidesdb-unified-memtable-sync-mode=NONE", "--max-allowed-packet=64M",
            "--default-time-zone=+00:00", "--sql-mode=", "--character-set-server=utf8mb4",
            "--collation-server=utf8mb4_general_ci"]

class Live:
    """A server with the tables, in a temporary directory; use it as a context."""

    def __init__(self, environment, plugin, rows, seed):
        self._folder = tempfile.TemporaryDirectory(prefix="format-")
        self.server = Server(environment, self._folder.name, plugin=plugin, options=_OPTIONS, within=tied)
        self.rows = rows
        self.random = random.Random(seed)
        self.definitions = {}

    def __enter__(self):
        try:
            self.server.initialise()
            self.server.start()
            self.server.sql("CREATE DATABASE d")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.server.kill()
        if self.server.process is not None and self.server.process.poll() is None:
            self.server.process.kill()
            self.server.process.wait()
        self._folder.cleanup()

    def sql(self, statements):
        return self.server.sql(f"USE d; {statements}")

    def _lines(self, statement):
        return [line.split("\t") for line in self.sql(statement).splitlines()]

    def make(self):
        for table in TABLES:
            self.sql(f"CREATE TABLE {table.name} ({table.columns}) {table.options} ENGINE=TidesDB")
            self.definitions[table.name] = self.describe(table)

    def describe(self, table):
        """The definition of a table, as the server describes it."""
        columns, name = {}, table.name
        for column, column_type, octets, collation, nullable, extra in self._lines(
                "SELECT COLUMN_NAME, COLUMN_TYPE, IFNULL(CHARACTER_OCTET_LENGTH, 0), IFNULL(COLLATION_NAME, ''),"
                f" IS_NULLABLE, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME = '{name}'"
                " ORDER BY ORDINAL_POSITION"):
            space = self._space_bytes(collation) if collation else 0
            columns[column] = of_schema(column, column_type, int(octets), bool(collation), nullable == "YES",
                                        "VIRTUAL" in extra, space)
        primary = [KeyPart(columns[column], part != "NULL", order == "D") for column, part, order in self._lines(
            "SELECT COLUMN_NAME, SUB_PART, COLLATION FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'd' AND"
            f" TABLE_NAME = '{name}' AND INDEX_NAME = 'PRIMARY' ORDER BY SEQ_IN_INDEX")]
        fixed = "ROW_FORMAT=DYNAMIC" not in self.sql(f"SHOW CREATE TABLE {name}") and not any(
            column.type.endswith(("blob", "text")) or column.type.startswith("var") for column in columns.values())
        return Definition(list(columns.values()), primary, fixed, table.hidden_null_bits)

    def _space_bytes(self, collation):
        charset = collation.partition("_")[0]
        return int(self.sql(f"SELECT LENGTH(WEIGHT_STRING(CONVERT(' ' USING {charset}) COLLATE {collation}))"))

    def fill(self, begin):
        """Inserts rows from that number on, then updates a third of them and deletes some."""
        for name in [table.name for table in TABLES if table.written]:
            definition = self.definitions[name]
            # All columns that can be written. Column c of no_key is generated.
            columns = [column for column in definition.columns
                       if not column.virtual and (name, column.name) != ("no_key", "c")]
            names = ", ".join(f"`{column.name}`" for column in columns)
            values = [", ".join(str(number) if column.name == "n" else literal(column, self.random) for column in columns)
                      for number in range(begin, begin + self.rows)]
            keys = {"n", *(part.column.name for part in definition.primary)}
            changed = next(column for column in columns if column.name not in keys and column.nullable)
            update = f"UPDATE IGNORE {name} SET `{changed.name}` = {literal(changed, self.random)} WHERE n % 3 = 1;"
            texts = [*(f"INSERT IGNORE INTO {name} ({names}) VALUES ({row});" for row in values), update,
                     f"DELETE FROM {name} WHERE n % 11 = 5;"]
            self._send(["SET NAMES utf8mb4;", "USE d;", "BEGIN;", *texts, "COMMIT;"])

    def _send(self, statements):
        """Sends statements as the client's input, because there may be many."""
        done = subprocess.run(self.server.client(), input="\n".join(statements).encode(), stderr=subprocess.PIPE)
        if done.returncode:
            raise Failed(done.stderr.decode(errors="replace"))

    def spill(self):
        """A transaction that does not fit in memory: it spills, and its files are ingested at its commit."""
        self.sql("SET tidesdb_bulk_staging_size = 1048576; INSERT INTO spilled SELECT seq, seq % 7, REPEAT(MD5(seq), 20)"
                 " FROM seq_1_to_8000; UPDATE spilled SET a = NULL WHERE n % 5 = 0")

    def two_phases(self):
        """XA transactions: one is committed, one is rolled back, and one is still prepared when the server is killed."""
        for number, end in enumerate(["XA COMMIT 'x0'", "XA ROLLBACK 'x1'", "DO 0"]):
            self.sql(f"XA START 'x{number}'; INSERT INTO packed (n, a) VALUES ({10**6 + number}, {number});"
                     f" XA END 'x{number}'; XA PREPARE 'x{number}'; {end}")

    def push_out(self):
        """Fills the memtable with a table that is dropped again, so that all earlier writes go to table files."""
        self.sql("CREATE TABLE filling (n INT PRIMARY KEY, a VARCHAR(1000)) ENGINE=TidesDB; INSERT INTO filling"
                 " SELECT seq, REPEAT('x', 900) FROM seq_1_to_1000; DROP TABLE filling")

    def selected(self):
        """By table, the rows that SELECT gives, in any order."""
        rows = {}
        for name, definition in self.definitions.items():
            columns = [column for column in definition.columns if not column.virtual]
            lines = self._lines(f"SELECT {', '.join(column.select() for column in columns)} FROM {name}")
            rows[name] = [[column.said(text) for column, text in zip(columns, line, strict=True)] for line in lines]
        return rows

    def tprocc(self, program, seconds):
        """Builds TPROC-C's tables for one warehouse, and runs two users for so many seconds."""
        for words in (["build", "-w", "1", "--engine", "TidesDB"],
                      ["run", "--vu", "2", "--rampup", "0", "--duration", seconds]):
            run([program, *words, "-S", self.server.socket, "--db", "d", "-q"])
        for name, in self._lines("SHOW TABLES"):
            self.definitions[name] = self.describe(Table(name, columns=""))

    def directory(self):
        return self.server.data / saved.ENGINE_DIRECTORY

    def compare_saved(self, folder):
        """Lets the server open a fixture instead of its own database. Returns how many rows were compared."""
        self.server.stop()
        aside = self.server.directory / "aside"
        aside.mkdir()
        for name in ("d", saved.ENGINE_DIRECTORY):
            (self.server.data / name).rename(aside / name)
            shutil.copytree(folder / name, self.server.data / name)
        self.server.start()
        self.definitions, wanted = saved.load(folder)
        count = compare(wanted, self.selected())
        for name in self.definitions:
            said = self.sql(f"CHECK TABLE {name} EXTENDED")
            if not said.rstrip().endswith("OK"):
                raise AssertionError(said)
        self.definitions = {}
        self.server.stop()
        for name in ("d", saved.ENGINE_DIRECTORY):
            shutil.rmtree(self.server.data / name)
            (aside / name).rename(self.server.data / name)
        aside.rmdir()
        self.server.start()
        return count


def read(directory, definitions):
    """(the database, by table its rows as read from the files)."""
    database = Database(directory)
    entries = dictionary.tables(database.state.catalog)
    rows = {}
    for name, definition in definitions.items():
        entry = entries[f"d/{name}"]
        if not entry.fixed_binary:
            definition = definition.with_addresses_as_texts()
        values = dict(database.rows(entry.values)) if entry.values else {}
        rows[name] = [read_row(definition, key, value, values) for key, value in database.rows(entry.family)]
        if values:
            raise AssertionError(f"{name}: no row refers to {len(values)} long values")
    return database, rows


def compare(wanted, found):
    """Raises AssertionError with the first rows that differ; returns how many rows were compared."""
    for name, rows in wanted.items():
        left, right = sorted(map(repr, rows)), sorted(map(repr, found[name]))
        if left != right:
            only = [row for row in left if row not in set(right)][:2], [row for row in right if row not in set(left)][:2]
            raise AssertionError(f"{name}: {len(left)} rows selected, {len(right)} read; on one side only: {only}")
    return sum(map(len, wanted.values()))
