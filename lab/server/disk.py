"""An engine's disk usage: its rows, and separately its log, undo, and rows not flushed yet.

Counts allocated blocks, and so leaves out the holes that page compression punches.
"""

from dataclasses import asdict, dataclass

_BLOCK = 512
_UNFLUSHED = {"TidesDB": "Tidesdb_memtable_bytes", "RocksDB": "Rocksdb_memtable_total"}


@dataclass(frozen=True)
class Usage:
    """In bytes."""
    files: int      # Files with rows: .ibd files, table files.
    unflushed: int  # Rows that only the log holds, as the engine counts them in its write buffer.
    log: int        # Files of the log, including preallocated space.
    undo: int       # InnoDB's system and undo tablespaces.

    def minus(self, before):
        """The growth since then; a log is preallocated at the start, so it counts in full."""
        return Usage(*(max(0, now - then) for now, then in
                       ((self.files, before.files), (self.unflushed, before.unflushed), (self.log, 0),
                        (self.undo, before.undo))))

    def phases(self, name):
        """By phase, as in the CSV. The phase itself is the size of rows; its parts follow."""
        return {name: self.files + self.unflushed, **{f"{name}_{part}": size for part, size in asdict(self).items()}}


def _allocated(paths):
    total = 0
    for path in paths:
        try:
            total += path.stat().st_blocks * _BLOCK
        except FileNotFoundError:  # A running server deletes files.
            pass
    return total


def _innodb(data, database):
    return (_allocated((data / database).glob("*.ibd")), _allocated(data.glob("ib_logfile*")),
            _allocated([*data.glob("ibdata*"), *data.glob("undo0*")]))


def _tidesdb(data, _):
    paths = {path for path in (data / "#tidesdb").rglob("*") if path.is_file()}
    logs = {path for path in paths if path.suffix == ".wal" or path.name.startswith("uwal_")}
    return _allocated(paths - logs), _allocated(logs), 0


def _rocksdb(data, _):
    # Not its MANIFEST, which is preallocated at 4 MB and cut at the next start.
    return _allocated((data / "#rocksdb").glob("*.sst")), _allocated((data / "#rocksdb").glob("*.log")), 0


_OF = {"InnoDB": _innodb, "TidesDB": _tidesdb, "RocksDB": _rocksdb}


def unflushed(engine, sql):
    """From the server's own counter; 0 for an engine without one."""
    name = _UNFLUSHED.get(engine)
    rows = sql(f"SHOW GLOBAL STATUS LIKE '{name}'").split() if name else []
    return int(rows[1]) if len(rows) == 2 and rows[1].isdigit() else 0


def usage(engine, data, database, in_memory):
    """The usage of this engine below the server's data directory; None if that cannot be read."""
    if data is None:
        return None
    files, log, undo = _OF[engine](data, database)
    # MyRocks flushes when it stops, and then has no log.
    return Usage(files, min(in_memory, log), log, undo)
