"""A database's directory: its contents at the newest commit, from manifest, table files and log."""

from pathlib import Path

from test.format_reader import manifest, wal
from test.format_reader.table import PUT, Table


class Database:
    """Reads a directory that no engine has open, and changes nothing in it."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.manifest_path = manifest.current(self.directory)
        self.state = manifest.load(self.manifest_path)
        self.prepared = {}  # By id, (name, (kind, body)) of undecided prepared transactions.
        self.records = 0  # How many log records were replayed.
        self._logged = {}  # By family, (key, sequence, type, value) of each.
        self._ingested = []  # (family, file), with global sequences.
        self._replay()

    def _replay(self):
        for record in wal.replay(self.directory, self.state.first_segment):
            self.records += 1
            kind, body = record.kind, record.body
            if kind == wal.PREPARE:
                self.prepared[body[0]] = body[1:]
            elif kind in (wal.COMMIT, wal.ROLLBACK):
                _, (kind, body) = self.prepared.pop(record.body, (b"", (None, None)))
                if record.kind == wal.ROLLBACK:
                    continue
            # Commits up to flushed_sequence are in table files already.
            if record.sequence > self.state.flushed_sequence:
                self._take(kind, body, record.sequence)

    def _take(self, kind, body, sequence):
        if kind == wal.BATCH:
            for family, operation, key, value in body:
                self._logged.setdefault(family, []).append((key, sequence, operation, value))
        elif kind == wal.INGEST:
            for family, file in body:
                file.global_sequence = sequence
                self._ingested.append((family, file))

    def files(self, family):
        """(level, file) of each table file."""
        return [(level, file) for (of, level, _), file in sorted(self.state.files.items()) if of == family] + [
            (0, file) for of, file in self._ingested if of == family]

    def table(self, file):
        return Table(self.directory / f"{file.number:06}.tdb", file.global_sequence)

    def versions(self, family):
        """(key, sequence, type, value) of every version, in no order."""
        yield from self._logged.get(family, [])
        for _, file in self.files(family):
            for entry in self.table(file).entries():
                yield entry.key, entry.sequence, entry.type, entry.value

    def family_id(self, name):
        return next(number for number, options in self.state.families.items() if options["name"] == name)

    def rows(self, family):
        """(key, value) of all keys that exist at the newest commit, in order."""
        newest = {}
        for key, sequence, operation, value in self.versions(family):
            found = newest.get(key)
            if found is None or (sequence, operation) > found[:2]:
                newest[key] = (sequence, operation, value)
        return [(key, value) for key, (_, operation, value) in sorted(newest.items()) if operation == PUT]
