"""What a study is to do: tiers, threads, repetitions, sizes, and what each server is told. Pure.

Owns: the order of its measurements (units) and their names.
"""

import re
from dataclasses import asdict, dataclass

from installer.shell import Failed
from lab.record import turns
from lab.server import profiles
from lab.server.private_server import in_bytes, why_cut

_MEMTABLES = {"TidesDB": "tidesdb_unified_memtable_write_buffer_size", "RocksDB": "rocksdb_db_write_buffer_size"}
_LEAST_MEMTABLES = 4 << 20
# What MariaDB's options are called in MySQL 9; None: there is no such thing.
_IN_MYSQL = {"innodb_log_file_size": "innodb_redo_log_capacity", "innodb_snapshot_isolation": None}
# No port of its own, and not the directory that a package's server has for files.
_PRIVATE_MYSQL = ["--skip-mysqlx", "--secure-file-priv=NULL"]
_SIZE = re.compile(r"\d+[KMG]?", re.I)
_MB = 1 << 20
# The server's defaults, and its own connections.
_CONNECTIONS, _TABLES = 151, 2000
# oltp_read_write prepares nine statements a table and connection; the server's default of 16,382 ends at 90 threads.
_PREPARED_MAX = 1_000_000

# As seed 003 has it: what --profile seed-003 means besides its .cnf.
SEED_003 = {"tiers": "2G,12G,32G", "threads": "1,4,16,32,64,128,256,512", "tables": 20, "rows": 5_000_000,
            "warmup_read": 180, "warmup_write": 600, "seconds": 900, "pause": 10, "sync": "FULL"}
# Sizes for a small machine, minutes.
SMALL = {"tiers": "64M,256M", "threads": "1,4,16", "tables": 4, "rows": 200_000,
         "warmup_read": 5, "warmup_write": 10, "seconds": 30, "pause": 0, "sync": "NONE"}


@dataclass(frozen=True)
class Tier:
    """A cache, and "" or the limit of the server's memory with the page cache counted."""
    cache: str
    limit: str = ""

    @property
    def condition(self):
        return f"{self.cache} cache" + (f" within {self.limit}" if self.limit else "")


@dataclass(frozen=True)
class Wanted:
    """All that is asked for, but for the builds."""
    profile: str
    sync: str
    workload: str
    tiers: tuple
    threads: tuple
    repetitions: int
    tables: int
    rows: int
    warmup_read: int
    warmup_write: int
    seconds: int
    pause: int

    def plan(self):
        return asdict(self)


@dataclass(frozen=True)
class Unit:
    """One measurement."""
    repetition: int
    tier: Tier
    threads: int
    label: str

    @property
    def name(self):
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        return f"{self.label}, {self.tier.condition}, {threads}, repetition {self.repetition}"

    @property
    def stem(self):
        """Of its files, as seed 003 names them."""
        return f"{self.label}/run{self.repetition}_Tier{self.tier.cache}_RW_{self.threads}th"


def _scaled(size, scale):
    """A size in megabytes at least; as it was given where nothing is scaled."""
    if scale == 1:
        return size.upper()
    count = max(8, round(in_bytes(size) * scale / _MB))
    return f"{count // 1024}G" if count % 1024 == 0 else f"{count}M"


def tiers(text, scale=1.0):
    """Of "2G,12G:16G": caches, some with a limit of all memory."""
    found = []
    for word in text.replace(",", " ").split():
        cache, colon, limit = word.partition(":")
        if not _SIZE.fullmatch(cache) or (colon and not _SIZE.fullmatch(limit)):
            raise Failed(f"--tiers: {word} is not CACHE or CACHE:LIMIT, such as 2G or 2G:3G")
        found.append(Tier(_scaled(cache, scale), _scaled(limit, scale) if colon else ""))
    if not found or len({tier.cache for tier in found}) < len(found):
        raise Failed(f"--tiers: {text}: sizes are wanted, each one once (--scale may have made two the same)")
    return tuple(found)


def numbers(text, option):
    words = text.replace(",", " ").split()
    if not words or any(not word.isdigit() or int(word) < 1 for word in words):
        raise Failed(f"{option}: {text}: whole numbers from 1 are wanted, with commas between")
    return tuple(dict.fromkeys(map(int, words)))


def units(wanted, labels):
    """All measurements in their order. A repetition's builds follow each other at a point, each first by turns."""
    of_one = [(tier, threads, label) for tier in wanted.tiers for threads in wanted.threads for label in labels]
    return [Unit(repetition, *unit) for repetition in range(1, wanted.repetitions + 1)
            for unit in turns.in_turn(of_one, repetition)]


def name_of(option):
    """Of --name=value, as SHOW VARIABLES has it."""
    return option.removeprefix("--").partition("=")[0].replace("-", "_")


def _with(options, more):
    """options, but for those that more says anew."""
    said = {name_of(option) for option in more}
    keeps = [option for option in options if name_of(option) not in said or name_of(option) == "plugin_load_add"]
    return [*keeps, *more]


def _for_mysql(options):
    found = []
    for option in options:
        name = name_of(option)
        renamed = _IN_MYSQL.get(name, name)
        if renamed is not None:
            found.append(f"--{renamed}=" + option.partition("=")[2] if name in _IN_MYSQL else option)
    return [*found, *_PRIVATE_MYSQL]


def _memtables(profile, engine, tier):
    """Memtables as small beside the cache of a tier as beside the profile's own: a small tier's would hold the data."""
    name, has = _MEMTABLES.get(engine), {name_of(option): option.partition("=")[2] for option in profile}
    if name not in has:
        return []
    kept = in_bytes(has[name]) * min(1, in_bytes(tier.cache) / in_bytes(has[profiles.CACHE[engine]]))
    return [f"--{name}={max(_LEAST_MEMTABLES, round(kept))}"]


def server_options(wanted, build, tier):
    """The command line of a build's server, but for paths. build: its engine, flavour and options."""
    most, profile = max(wanted.threads), profiles.options(wanted.profile, build.engine, wanted.sync)
    room = [f"--{profiles.CACHE[build.engine]}={tier.cache}", *_memtables(profile, build.engine, tier),
            f"--max_connections={max(_CONNECTIONS, most + 20)}",
            f"--table_open_cache={max(_TABLES, min(most * wanted.tables + 100, 64_000))}",
            f"--max_prepared_stmt_count={_PREPARED_MAX}"]
    options = _with(profile, room)
    return _with(_for_mysql(options) if build.flavour == "MySQL" else options, list(build.options))


def check_cache(build, tier, variables):
    """Raises Failed where the server's cache is not that of the tier; a build's own option= goes before it."""
    name = profiles.CACHE[build.engine]
    own = next((option.partition("=")[2] for option in build.options if name_of(option) == name), tier.cache)
    asked, found = in_bytes(own), variables.get(name, "")
    # InnoDB rounds to whole chunks.
    if not found.isdigit() or abs(int(found) - asked) > asked / 10:
        raise Failed(f"{build.label}: the server was told {name}={own} and runs with {found or 'no such variable'}"
                     + why_cut(name))


def disk_wanted_bytes(wanted, loads):
    """About what the data of all loads takes, with the copy that is measured, its logs and what grows."""
    rows = wanted.rows * wanted.tables * 260
    return round(rows * (loads + 1) * 1.5) + (loads + 1) * 300 * _MB


def unequal(wanted, builds, groups):
    """Sentences on what is not the same. builds: by label; groups: those that load."""
    of = builds.values()
    said = [f"Profile {wanted.profile}, its cache replaced by the tier's: {profiles.about(wanted.profile)}",
            limits(wanted.tiers)]
    for what, values in (("server", [f"{b.flavour} {b.version}" for b in of]), ("engine", [b.engine for b in of]),
                         ("options", [" ".join(b.options) or "none" for b in of]),
                         ("allocator", [b.preload.rsplit("/", 1)[-1] or "the program's own" for b in of])):
        if len(set(values)) > 1:
            said.append(f"Of the builds not the same: {what} ("
                        + ", ".join(f"{label}: {value}" for label, value in zip(builds, values)) + ").")
    if len(groups) > 1:
        said.append("Data: " + "; ".join(f"{group.label} loaded its own" for group in groups)
                    + ". How each load came to lie on disk is part of what is measured.")
    return said


def limits(tiers):
    """Which tiers have a limit of memory: none but a tier's own counts, whatever the profile says."""
    limited = [tier.condition for tier in tiers if tier.limit]
    if not limited:
        return "No server has a limit of memory, whatever the profile says of one: no tier names it."
    said = f"Limits of a server's memory, its page cache counted: {', '.join(limited)}"
    return said + ("." if len(limited) == len(tiers) else "; the other tiers have none.")
