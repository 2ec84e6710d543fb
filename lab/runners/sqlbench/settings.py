"""The settings of a run of sqlbench, from environment variables; README.md lists them.

Owns: the meaning of each variable. server_options() gives the options of an engine's server.
"""

import re
from dataclasses import asdict, dataclass
from pathlib import Path

from installer.shell import Failed
from lab.base.arguments import SERVERS_DATABASES
from lab.runners.sqlbench import names
from lab.runners.sqlbench.variables import Variables
from lab.server import profiles
from lab.server.private_server import in_bytes

DEFAULT_WORKLOADS = ("oltp_point_select oltp_read_only oltp_write_only oltp_read_write oltp_insert oltp_update_index "
                     "oltp_update_non_index oltp_delete")
SCRIPTS = Path("/usr/share/sysbench")
_NO_WORKLOADS = ("oltp_common", "bulk_insert")  # Scripts of sysbench that are not workloads here.
# Those of sysbench 1.0.20, to report a wrong name before sysbench is installed or anything is built.
_SYSBENCH_S = (*DEFAULT_WORKLOADS.split(), "select_random_points", "select_random_ranges")
ENGINES = ("InnoDB", "TidesDB", "RocksDB")
PERCENTILES = (50, 75, 90, 95, 99, 99.9, 100)

# Names that look like an engine's settings but are places.
_NO_SETTINGS = ("TIDESDB_SERVER", "TIDESDB_CACHE_DIR", "TIDESDB_PLUGIN", "INNODB_DATA_DIR")
# As the library numbers them.
_SYNC_MODES = {"0": "NONE", "1": "FULL", "2": "INTERVAL"}
_TIDESDB_COMPRESSIONS = ("NONE", "SNAPPY", "LZ4", "ZSTD", "LZ4_FAST")
_ROCKSDB_COMPRESSIONS = {"NONE": "kNoCompression", "SNAPPY": "kSnappyCompression", "LZ4": "kLZ4Compression",
                         "ZSTD": "kZSTD"}
_INNODB_COMPRESSIONS = ("NONE", "ZLIB", "LZ4", "LZO", "LZMA", "BZIP2", "SNAPPY")


@dataclass(frozen=True)
class Settings:
    """REQUIRES: made by read(), which checks it."""
    engines: tuple
    workloads: tuple
    table_sizes: tuple
    tables: int
    thread_counts: tuple
    time_s: int
    warmup_s: int
    iterations: int
    report_interval_s: int
    tidesdb_sync: str
    tidesdb_btree: int
    tidesdb_compression: str
    tidesdb_flush_threads: int
    tidesdb_compact_threads: int
    tidesdb_block_cache: str
    tidesdb_max_sstables: int
    innodb_buffer_pool: str
    innodb_flush: int
    innodb_compression: str
    rocksdb_block_cache: str
    rocksdb_flush: int
    rocksdb_compression: str
    database: str
    memory_max: str  # Of each server, including its page cache; "": the profile's, or none.
    profile: str     # Of lab/profiles; "": the variables above are the servers' settings.
    sync: str        # FULL or NONE, with a profile.
    scale_down: str  # What table_sizes were divided by.

    def plan(self):
        """What must be the same for figures to belong to one run."""
        return asdict(self)


def _engines(variables):
    by_name = {name.lower(): name for name in ENGINES}
    words = variables.text("ENGINES", "InnoDB TidesDB").replace(",", " ").split()
    unknown = [word for word in words if word.lower() not in by_name]
    if unknown or not words:
        raise Failed(f"ENGINES={' '.join(words)}: known are {', '.join(ENGINES)}")
    return tuple(dict.fromkeys(by_name[word.lower()] for word in words))


def _workloads(variables, tables):
    words = tuple(dict.fromkeys(variables.text("WORKLOADS", DEFAULT_WORKLOADS).replace(",", " ").split()))
    installed = sorted(path.stem for path in SCRIPTS.glob("*.lua") if path.stem not in _NO_WORKLOADS)
    known = installed or sorted(_SYSBENCH_S)
    for word in words:
        if word not in known:
            raise Failed(f"WORKLOADS: {word} is not a test of this sysbench; known are {', '.join(known)}")
        if word.startswith("select_random_") and tables > 1:
            raise Failed(f"WORKLOADS: {word} works only on one table; TABLES is {tables}")
    return words


def _profile(variables):
    """Its name and the sync mode. Raises Failed for variables that do not go with a profile."""
    name = variables.text("PROFILE", "")
    if not name:
        if variables.text("SYNC", ""):
            raise Failed("SYNC: needs PROFILE; without one use TIDESDB_SYNC_MODE, INNODB_FLUSH and ROCKSDB_FLUSH")
        return "", ""
    if name not in profiles.known():
        raise Failed(f"PROFILE={name}: known are {', '.join(profiles.known())}")
    given = [one for one in variables.names() if re.match("(TIDESDB|INNODB|ROCKSDB)_", one) and one not in _NO_SETTINGS]
    if given:
        raise Failed(f"{given[0]}: PROFILE={name} already sets the servers' options; give only one of them")
    return name, variables.choice("SYNC", profiles.defaults(name).get("sync", "FULL"), ("FULL", "NONE"))


def read(environment):
    """The settings of an environment. Raises Failed with the name of a variable that is wrong."""
    names.check(environment)
    profile, sync_of_all = _profile(Variables(environment))
    variables = Variables({**(profiles.defaults(profile, "sqlbench") if profile else {}), **environment})
    scale_down = variables.text("SCALE_DOWN", "1")
    if not re.fullmatch(r"\d+(\.\d+)?", scale_down) or not float(scale_down):
        raise Failed(f"SCALE_DOWN={scale_down}: must be a number above zero")
    tables = variables.number("TABLES", 1, 1)
    sync = variables.choice("TIDESDB_SYNC_MODE", "0", (*_SYNC_MODES, *_SYNC_MODES.values()))
    block_cache = variables.size("TIDESDB_BLOCK_CACHE", "268435456")
    flush = variables.number("INNODB_FLUSH", 0)
    rocksdb_flush = variables.number("ROCKSDB_FLUSH", flush)
    for name, value in (("INNODB_FLUSH", flush), ("ROCKSDB_FLUSH", rocksdb_flush)):
        if value > 2:
            raise Failed(f"{name}={value}: must be 0, 1 or 2, as for innodb_flush_log_at_trx_commit")
    compression = variables.choice("TIDESDB_COMPRESSION", "LZ4", _TIDESDB_COMPRESSIONS)
    rocksdb_default = "LZ4" if compression == "LZ4_FAST" else compression
    database = variables.text("MYSQL_DB", "sbtest")
    if not re.fullmatch(r"\w{1,64}", database) or database.lower() in SERVERS_DATABASES:
        raise Failed(f"MYSQL_DB={database}: must be a name of letters, digits and _, and not one of the server's databases")
    return Settings(
        engines=_engines(variables), workloads=_workloads(variables, tables),
        table_sizes=tuple(profiles.scaled_down(rows, float(scale_down))
                          for rows in variables.numbers("TABLE_SIZES", "10000")), tables=tables,
        thread_counts=variables.numbers("THREAD_COUNTS", "1"), time_s=variables.number("TIME", 60, 1),
        warmup_s=variables.number("WARMUP", 10), iterations=variables.number("ITERATIONS", 1, 1),
        report_interval_s=variables.number("REPORT_INTERVAL", 10),
        tidesdb_sync=_SYNC_MODES.get(sync, sync), tidesdb_btree=variables.switch("TIDESDB_USE_BTREE", "0"),
        tidesdb_compression=compression, tidesdb_flush_threads=variables.number("TIDESDB_FLUSH_THREADS", 2, 1),
        tidesdb_compact_threads=variables.number("TIDESDB_COMPACT_THREADS", 2, 1), tidesdb_block_cache=block_cache,
        tidesdb_max_sstables=variables.number("TIDESDB_MAX_SSTABLES", 256, 1),
        innodb_buffer_pool=variables.size("INNODB_BUFFER_POOL", "256M"), innodb_flush=flush,
        innodb_compression=variables.choice("INNODB_COMPRESSION", "NONE", _INNODB_COMPRESSIONS),
        rocksdb_block_cache=variables.size("ROCKSDB_BLOCK_CACHE", block_cache),
        rocksdb_flush=rocksdb_flush,
        rocksdb_compression=variables.choice("ROCKSDB_COMPRESSION", rocksdb_default, tuple(_ROCKSDB_COMPRESSIONS)),
        database=database, memory_max=variables.size("MEMORY_MAX", "0") if variables.text("MEMORY_MAX", "") else "",
        profile=profile, sync=sync_of_all, scale_down=scale_down)


def server_options(settings, engine):
    """The command line of the server for this engine, without paths."""
    if settings.profile:
        return [*profiles.options(settings.profile, engine, settings.sync), *_connections(settings)]
    return [*_common(settings), *([] if engine == "InnoDB" else _ASIDE), *_OF[engine](settings)]


_CONNECTIONS = 151  # The server's default.
# InnoDB beside another engine: only for the server's own tables.
_ASIDE = ["--innodb_buffer_pool_size=16M", "--innodb_log_file_size=16M"]


def _common(settings):
    binary_log = ["--log_bin=binlog", "--server_id=1", "--binlog_format=ROW", "--sync_binlog=1"]
    return ["--performance_schema=OFF", *_connections(settings),
            *(binary_log if settings.innodb_flush == 1 else ["--skip-log-bin"])]


def _connections(settings):
    most = max(settings.thread_counts) + 20
    return [f"--max_connections={most}"] if most > _CONNECTIONS else []


def _innodb(settings):
    options = [f"--innodb_buffer_pool_size={settings.innodb_buffer_pool}",
               f"--innodb_flush_log_at_trx_commit={settings.innodb_flush}"]
    if settings.innodb_compression == "NONE":
        return options
    algorithm = settings.innodb_compression.lower()
    provider = [] if algorithm == "zlib" else [f"--plugin_load_add=provider_{algorithm}.so"]
    # Every new table is PAGE_COMPRESSED=1.
    return [*options, *provider, f"--innodb_compression_algorithm={algorithm}", "--innodb_compression_default=ON"]


def _tidesdb(settings):
    return [f"--tidesdb_block_cache_size={settings.tidesdb_block_cache}",
            f"--tidesdb_max_open_sstables={settings.tidesdb_max_sstables}",
            f"--tidesdb_flush_threads={settings.tidesdb_flush_threads}",
            f"--tidesdb_compaction_threads={settings.tidesdb_compact_threads}",
            f"--tidesdb_default_compression={settings.tidesdb_compression}",
            f"--tidesdb_default_use_btree={'ON' if settings.tidesdb_btree else 'OFF'}",
            f"--tidesdb_default_sync_mode={settings.tidesdb_sync}",
            # The log's own mode: the table's does not apply to it.
            f"--tidesdb_unified_memtable_sync_mode={settings.tidesdb_sync}"]


def _rocksdb(settings):
    return ["--plugin_load_add=ha_rocksdb.so", f"--rocksdb_block_cache_size={settings.rocksdb_block_cache}",
            f"--rocksdb_flush_log_at_trx_commit={settings.rocksdb_flush}",
            f"--rocksdb_default_cf_options=compression={_ROCKSDB_COMPRESSIONS[settings.rocksdb_compression]};"
            "block_based_table_factory={filter_policy=bloomfilter:10:false;cache_index_and_filter_blocks=1}"]


_OF = {"InnoDB": _innodb, "TidesDB": _tidesdb, "RocksDB": _rocksdb}


def unequal(settings):
    """Sentences about what these settings make unequal."""
    if settings.profile:
        return [f"Profile {settings.profile}: {profiles.about(settings.profile)}"]
    said = []
    synced = {"InnoDB": settings.innodb_flush == 1, "TidesDB": settings.tidesdb_sync == "FULL",
              "RocksDB": settings.rocksdb_flush == 1}
    caches = {"InnoDB": settings.innodb_buffer_pool, "TidesDB": settings.tidesdb_block_cache,
              "RocksDB": settings.rocksdb_block_cache}
    packed = {"InnoDB": settings.innodb_compression, "TidesDB": settings.tidesdb_compression,
              "RocksDB": settings.rocksdb_compression}

    def each(values, text):
        of = {engine: values[engine] for engine in settings.engines}
        if len(set(of.values())) > 1:
            said.append(text + ": " + ", ".join(f"{engine} {value}" for engine, value in of.items()) + ".")

    each({engine: "synced" if yes else "not synced" for engine, yes in synced.items()}, "Durability of a commit")
    each({engine: f"{in_bytes(size) / (1 << 20):.0f} MB" for engine, size in caches.items()}, "Cache")
    each(packed, "Compression")
    flush = {"InnoDB": settings.innodb_flush, "RocksDB": settings.rocksdb_flush}
    late = [engine for engine in settings.engines if flush.get(engine) == 0]
    if late and set(settings.engines) > set(late):
        said.append("A killed server loses commits, because it writes its log only once a second, of "
                    f"{' and '.join(late)} ({', '.join(f'{engine.upper()}_FLUSH=0' for engine in late)}). "
                    + ("TidesDB writes its own at each commit and loses none." if "TidesDB" in settings.engines else ""))
    if set(settings.engines) & {"TidesDB", "RocksDB"} and "InnoDB" in settings.engines:
        said.append("TidesDB and RocksDB have write buffers beside their caches and read through the page cache; InnoDB's "
                    "buffer pool is both, and it reads with O_DIRECT.")
    if settings.innodb_flush == 1:
        said.append("With INNODB_FLUSH=1 every engine's server writes a binary log (ROW, sync_binlog=1).")
    return said
