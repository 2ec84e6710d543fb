"""python3 -m test.format_reader: dumps a database's files, or compares their rows with SELECT on a real server."""

import argparse
import sys
from pathlib import Path

from installer import servers
from test.format_reader import dictionary, live, saved, wal
from test.format_reader.database import Database

_COMPAT = Path(__file__).resolve().parent.parent / "compat"


def _dump(args):
    database = Database(args.directory)
    state = database.state
    print(f"{database.manifest_path.name}: flushed up to {state.flushed_sequence}, log from segment {state.first_segment}")
    for number, options in sorted(state.families.items()):
        print(f"family {number} {options['name'].decode()!r}: {options}")
        for level, file in database.files(number):
            table = database.table(file)
            entries = list(table.entries())
            print(f"  level {level} {table.path.name}: {file.bytes} bytes, {len(entries)} entries, {file.properties}")
            for entry in entries if args.entries else []:
                print(f"    {entry.key.hex()} {entry.sequence} {entry.type} {entry.value.hex()}")
    for name, entry in dictionary.tables(state.catalog).items():
        print(f"table {name}: {entry}, {len(database.rows(entry.family))} rows")
    for record in wal.replay(database.directory, state.first_segment):
        print(f"log {record.segment}:{record.offset}: kind {record.kind}, sequence {record.sequence}"
              + (f", {record.body}" if args.entries else ""))


def _server(args):
    return live.Live(servers.prepare(args.server, args.log), args.plugin, args.rows, args.seed)


def _fixture(args):
    """The fixture of the newest formats, as test/compat/README.md says."""
    with _server(args) as server:
        server.make()
        server.fill(1)
        server.sql("ANALYZE TABLE numbers")
        server.push_out()
        server.server.stop()
        server.server.start()
        server.fill(1 + args.rows)
        rows = server.selected()
        server.server.stop()
        saved.save(server.server.data, args.target, server.definitions, rows)


def _live(args):
    with _server(args) as server:
        for folder in sorted(_COMPAT.glob("server-v*")):
            print(f"{folder.name}: {server.compare_saved(folder)} rows are unchanged")
        server.make()
        total = 0
        for number, end in enumerate([server.server.stop, server.server.kill]):
            server.fill(1 + number * args.rows)
            server.sql(f"CREATE TABLE made_{number} (n INT) ENGINE=TidesDB")
            if number == 1:
                server.spill()
                server.two_phases()
            wanted = server.selected()
            end()
            database, found = live.read(server.directory(), server.definitions)
            if len(database.prepared) != number:
                raise AssertionError(f"{len(database.prepared)} prepared transactions are undecided, expected {number}")
            files = sum(len(database.files(family)) for family in database.state.families)
            total += live.compare(wanted, found)
            print(f"after {end.__name__}: {sum(map(len, wanted.values()))} rows of {len(wanted)} tables equal SELECT's; "
                  f"{files} table files, {database.records} log records")
            server.server.start()
    print(f"{total} rows compared")


def _tprocc(args):
    with _server(args) as server:
        server.tprocc(args.tpcc, args.seconds)
        wanted = server.selected()
        server.server.kill()
        database, found = live.read(server.directory(), server.definitions)
        count = live.compare(wanted, found)
        files = sum(len(database.files(family)) for family in database.state.families)
        print(f"after TPROC-C: {count} rows of {len(wanted)} tables equal SELECT's; {files} table files, "
              f"{database.records} log records")


def main():
    parser = argparse.ArgumentParser(prog="python3 -m test.format_reader", description=__doc__)
    commands = parser.add_subparsers(required=True)
    dump = commands.add_parser("dump", help="print what the files hold")
    dump.add_argument("directory", type=Path, help="of a closed database")
    dump.add_argument("--entries", action="store_true", help="print every entry and operation too")
    dump.set_defaults(run=_dump)
    compared = commands.add_parser("live", help="fill tables on a private server, and compare")
    compared.set_defaults(run=_live)
    fixture = commands.add_parser("fixture", help="make the fixture of the newest formats (test/compat/README.md)")
    fixture.add_argument("target", type=Path)
    fixture.set_defaults(run=_fixture)
    tprocc = commands.add_parser("tprocc", help="build a TPROC-C database on a private server, kill it, and compare")
    tprocc.add_argument("--tpcc", type=Path, required=True, help="the tpcc program")
    tprocc.add_argument("--seconds", type=int, default=10, help="how long TPROC-C runs after the load")
    tprocc.set_defaults(run=_tprocc)
    for command in (compared, fixture, tprocc):
        command.add_argument("--server", default="debian12")
        command.add_argument("--plugin", type=lambda name: Path(name).resolve(), required=True)
        command.add_argument("--rows", type=int, default=300, help="rows written to each table, twice")
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--log", type=Path, default=Path("/dev/null"))
    args = parser.parse_args()
    args.run(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
