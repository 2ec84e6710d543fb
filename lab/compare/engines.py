"""What each engine's server is told, so that the engines are compared alike.

The memory is that of the described system's benchmark reports (64 MB of cache, 64 MB of write
buffer); what an engine does with the page cache is its own business and is said in the report.
"""

from dataclasses import dataclass

# For every server.
SERVER = ["--performance-schema=OFF", "--skip-log-bin", "--max-connections=200", "--table-open-cache=2000",
          "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci",
          "--innodb-snapshot-isolation=ON"]

# A server that does not measure InnoDB still has one, for its own tables.
_INNODB_ASIDE = ["--innodb-buffer-pool-size=16M", "--innodb-log-file-size=16M"]


@dataclass(frozen=True)
class Engine:
    """An engine under measurement."""
    name: str            # As in ENGINE=name.
    settings: tuple      # Options of the server, the same in both sync modes.
    sync: dict           # "NONE" and "FULL" to options: nothing synced by a commit, and each commit synced.
    needs_plugin: bool = False


ENGINES = {engine.name: engine for engine in [
    Engine("InnoDB",
           ("--innodb-buffer-pool-size=64M", "--innodb-log-file-size=64M", "--innodb-log-buffer-size=64M",
            "--innodb-flush-method=O_DIRECT", "--innodb-doublewrite=0", "--innodb-io-capacity=10000",
            "--innodb-io-capacity-max=20000", "--innodb-adaptive-hash-index=0"),
           {"NONE": ("--innodb-flush-log-at-trx-commit=0",), "FULL": ("--innodb-flush-log-at-trx-commit=1",)}),
    Engine("TidesDB",
           ("--tidesdb-block-cache-size=64M", "--tidesdb-unified-memtable-write-buffer-size=64M",
            "--tidesdb-default-compression=NONE", *_INNODB_ASIDE),
           {"NONE": ("--tidesdb-unified-memtable-sync-mode=NONE",),
            "FULL": ("--tidesdb-unified-memtable-sync-mode=FULL",)}, needs_plugin=True),
    Engine("RocksDB",
           ("--plugin-load-add=ha_rocksdb.so", "--rocksdb-block-cache-size=64M",
            "--rocksdb-db-write-buffer-size=64M",
            "--rocksdb-default-cf-options=write_buffer_size=64m;compression=kNoCompression;"
            "block_based_table_factory={filter_policy=bloomfilter:10:false;cache_index_and_filter_blocks=1}",
            *_INNODB_ASIDE),
           {"NONE": ("--rocksdb-flush-log-at-trx-commit=0",), "FULL": ("--rocksdb-flush-log-at-trx-commit=1",)}),
    # Keeps nothing: what server and client alone can do, a ceiling for work that returns no rows.
    Engine("BLACKHOLE", ("--plugin-load-add=ha_blackhole.so", *_INNODB_ASIDE), {"NONE": (), "FULL": ()}),
]}


def options(name, sync):
    """All options of the server that measures this engine."""
    engine = ENGINES[name]
    return [*SERVER, *engine.settings, *engine.sync[sync]]
