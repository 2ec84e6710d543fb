"""Which environment variables are sqlbench's, and which look like misspellings of them.

A misspelled variable would leave a setting at its default, and the figures would not match the request.
"""

import difflib
import re

from installer.shell import Failed

OURS = frozenset("""ENGINES WORKLOADS TABLE_SIZES TABLES THREAD_COUNTS TIME WARMUP ITERATIONS REPORT_INTERVAL OUTPUT_DIR
    TIDESDB_SYNC_MODE TIDESDB_COMPRESSION TIDESDB_USE_BTREE TIDESDB_FLUSH_THREADS TIDESDB_COMPACT_THREADS
    TIDESDB_BLOCK_CACHE TIDESDB_MAX_SSTABLES INNODB_BUFFER_POOL INNODB_FLUSH INNODB_COMPRESSION ROCKSDB_BLOCK_CACHE
    ROCKSDB_FLUSH ROCKSDB_COMPRESSION TIDESDB_SERVER MYSQLD BUILD_DIR PLUGIN_DIR MYSQL_BIN DATA_DIR INNODB_DATA_DIR SOCKET
    MYSQL_USER MYSQL_DB MEMORY_MAX PROFILE SYNC SCALE_DOWN FRESH PLOT""".split())
# With an engine's prefix, but read by other parts of this project.
_OTHERS = frozenset("""TIDESDB_CACHE_DIR TIDESDB_PLUGIN TIDESDB_SEED TIDESDB_SCREENSHOTS TIDESDB_QUICKSTART_DIR
    TIDESDB_SERVER_HEADERS TIDESDB_LAB_PASSWORD TIDESDB_TEST_OWN_MOUNTS INNODB_PARTITION_THRESHOLD""".split())
# Names that others use, too different for a typing error.
_MEANT = {"THREADS": "THREAD_COUNTS", "ROWS": "TABLE_SIZES", "DURATION": "TIME", "MYSQL_SOCKET": "SOCKET"}
_ENGINE_S = re.compile("(TIDESDB|INNODB|ROCKSDB)_")
_SHORTEST = 5  # Too many shorter names are one letter away: TERM, TIMES, SYNC.


def apart(one, other):
    """The number of letters to insert, delete or replace (Levenshtein)."""
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for to, wanted in enumerate(other, 1):
            before, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, before + (letter != wanted))
    return row[-1]


def _meant(name):
    """The closest of our names; None: none is close."""
    if name in _MEANT:
        return _MEANT[name]
    near = [(apart(name, ours), ours) for ours in sorted(OURS) if len(ours) >= _SHORTEST]
    distance, ours = min(near)
    return ours if distance <= (1 if len(ours) < 9 else 2) else None


def check(environment):
    """Raises Failed naming an unknown variable, and the one that was probably meant."""
    for name in sorted(environment):
        if name in OURS or name in _OTHERS or not environment[name].strip():
            continue
        meant = _meant(name)
        if meant is None and _ENGINE_S.match(name):
            meant = next(iter(difflib.get_close_matches(name, OURS, 1)), None)
            if meant is None:
                raise Failed(f"{name}: is not a variable of sqlbench.sh and would have no effect; unset it")
        if meant:
            raise Failed(f"{name}: is not a variable of sqlbench.sh; did you mean {meant}? "
                         "(unset it if it belongs to another program)")
