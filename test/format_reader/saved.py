"""A server's database as a fixture (test/compat/server-vN): its files, and the definitions and rows of its tables."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

from test.format_reader import wal
from test.format_reader.columns import Column
from test.format_reader.database import Database
from test.format_reader.rows import Definition, KeyPart

_SAID = "tables.json"
ENGINE_DIRECTORY = "#tidesdb"


def save(data, target, definitions, rows):
    """data: the datadir of a stopped server."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(data / "d", target / "d")
    shutil.copytree(data / ENGINE_DIRECTORY, target / ENGINE_DIRECTORY, ignore=shutil.ignore_patterns("LOCK", "LOG"))
    _cut_logs(target / ENGINE_DIRECTORY)
    said = {name: {"columns": [asdict(column) for column in definition.columns],
                   "primary": [[part.column.name, part.prefix, part.descending] for part in definition.primary],
                   "deleted_mark": definition.deleted_mark, "hidden_null_bits": definition.hidden_null_bits,
                   "rows": sorted(rows[name], key=repr)} for name, definition in definitions.items()}
    (target / _SAID).write_text(json.dumps(said, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def _cut_logs(directory):
    """Cuts preallocated segments after their last record, and removes those without records."""
    ends = {}
    for record in wal.replay(directory, Database(directory).state.first_segment):
        ends[record.segment] = record.end
    for number in wal.segments(directory):
        path = directory / f"{number:06}.wal"
        if number in ends:
            with open(path, "r+b") as file:
                file.truncate(ends[number])
        else:
            path.unlink()


def load(folder):
    """(the definitions by table, the rows by table)."""
    said = json.loads((Path(folder) / _SAID).read_text(encoding="utf-8"))
    definitions = {}
    for name, table in said.items():
        columns = [Column(**{**column, "digits": tuple(column["digits"])}) for column in table["columns"]]
        by_name = {column.name: column for column in columns}
        primary = [KeyPart(by_name[column], prefix, descending) for column, prefix, descending in table["primary"]]
        definitions[name] = Definition(columns, primary, table["deleted_mark"], table["hidden_null_bits"])
    return definitions, {name: table["rows"] for name, table in said.items()}
