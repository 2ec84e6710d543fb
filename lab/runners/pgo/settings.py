"""The settings of a study: tiers, threads, repetitions, sizes, and the options of each server. Pure.

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
# MariaDB's options under their names in MySQL 9; None: no such option.
_IN_MYSQL = {"innodb_log_file_size": "innodb_redo_log_capacity", "innodb_snapshot_isolation": None}
# No port, and not the file directory of a package's server.
_PRIVATE_MYSQL = ["--skip-mysqlx", "--secure-file-priv=NULL"]
_SIZE = re.compile(r"\d+[KMG]?", re.I)
_MB = 1 << 20
# The server's defaults, and its own connections.
_CONNECTIONS, _TABLES = 151, 2000
# oltp_read_write prepares nine statements per table and connection; the server's default of 16,382 allows 90 threads.
_PREPARED_MAX = 1_000_000

# Seed 003's values: what --profile seed-003 sets besides its .cnf.
SEED_003 = {"tiers": "2G,12G,32G", "threads": "1,4,16,32,64,128,256,512", "tables": 20, "rows": 5_000_000,
            "warmup_read": 180, "warmup_write": 600, "seconds": 900, "pause": 10, "sync": "FULL"}
# Sizes for a small machine, minutes.
SMALL = {"tiers": "64M,256M", "threads": "1,4,16", "tables": 4, "rows": 200_000,
         "warmup_read": 5, "warmup_write": 10, "seconds": 30, "pause": 0, "sync": "NONE"}


@dataclass(frozen=True)
class Tier:
    """A cache size, and "" or the limit of the server's memory including the page cache."""
    cache: str
    limit: str = ""

    @property
    def condition(self):
        return f"{self.cache} cache" + (f" within {self.limit}" if self.limit else "")


@dataclass(frozen=True)
class Wanted:
    """All that is asked for, except the builds."""
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
        """The stem of its files' names, as in seed 003."""
        return f"{self.label}/run{self.repetition}_Tier{self.tier.cache}_RW_{self.threads}th"


def _scaled(size, scale):
    """A size of at least one megabyte; unchanged if nothing is scaled."""
    if scale == 1:
        return size.upper()
    count = max(8, round(in_bytes(size) * scale / _MB))
    return f"{count // 1024}G" if count % 1024 == 0 else f"{count}M"


def tiers(text, scale=1.0):
    """The tiers of "2G,12G:16G": caches, some with a limit for all memory."""
    found = []
    for word in text.replace(",", " ").split():
        cache, colon, limit = word.partition(":")
        if not _SIZE.fullmatch(cache) or (colon and not _SIZE.fullmatch(limit)):
            raise Failed(f"--tiers: {word} is not CACHE or CACHE:LIMIT, such as 2G or 2G:3G")
        found.append(Tier(_scaled(cache, scale), _scaled(limit, scale) if colon else ""))
    if not found or len({tier.cache for tier in found}) < len(found):
        raise Failed(f"--tiers: {text}: must be different sizes (--scale may have made two equal)")
    return tuple(found)


def numbers(text, option):
    words = text.replace(",", " ").split()
    if not words or any(not word.isdigit() or int(word) < 1 for word in words):
        raise Failed(f"{option}: {text}: must be whole numbers from 1, separated by commas")
    return tuple(dict.fromkeys(map(int, words)))


def units(wanted, labels):
    """All measurements in their order. At a point a repetition's builds follow each other and take turns being first."""
    of_one = [(tier, threads, label) for tier in wanted.tiers for threads in wanted.threads for label in labels]
    return [Unit(repetition, *unit) for repetition in range(1, wanted.repetitions + 1)
            for unit in turns.in_turn(of_one, repetition)]


def name_of(option):
    """The name of --name=value, as in SHOW VARIABLES."""
    return option.removeprefix("--").partition("=")[0].replace("-", "_")


def _with(options, more):
    """options, with those in more replaced."""
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
    """Memtables in the profile's proportion to the cache: otherwise those of a small tier would hold all the data."""
    name, has = _MEMTABLES.get(engine), {name_of(option): option.partition("=")[2] for option in profile}
    if name not in has:
        return []
    kept = in_bytes(has[name]) * min(1, in_bytes(tier.cache) / in_bytes(has[profiles.CACHE[engine]]))
    return [f"--{name}={max(_LEAST_MEMTABLES, round(kept))}"]


def server_options(wanted, build, tier):
    """The command line of a build's server, without paths. build: its engine, flavour and options."""
    most, profile = max(wanted.threads), profiles.options(wanted.profile, build.engine, wanted.sync)
    room = [f"--{profiles.CACHE[build.engine]}={tier.cache}", *_memtables(profile, build.engine, tier),
            f"--max_connections={max(_CONNECTIONS, most + 20)}",
            f"--table_open_cache={max(_TABLES, min(most * wanted.tables + 100, 64_000))}",
            f"--max_prepared_stmt_count={_PREPARED_MAX}"]
    options = _with(profile, room)
    return _with(_for_mysql(options) if build.flavour == "MySQL" else options, list(build.options))


def check_cache(build, tier, variables):
    """Raises Failed if the server's cache is not that of the tier; a build's own option= overrides the tier."""
    name = profiles.CACHE[build.engine]
    own = next((option.partition("=")[2] for option in build.options if name_of(option) == name), tier.cache)
    asked, found = in_bytes(own), variables.get(name, "")
    # InnoDB rounds to whole chunks.
    if not found.isdigit() or abs(int(found) - asked) > asked / 10:
        raise Failed(f"{build.label}: the server was given {name}={own} and runs with {found or 'no such variable'}"
                     + why_cut(name))


def disk_wanted_bytes(wanted, loads):
    """About the size of all loads, with the measured copy, its logs and growth."""
    rows = wanted.rows * wanted.tables * 260
    return round(rows * (loads + 1) * 1.5) + (loads + 1) * 300 * _MB


def unequal(wanted, builds, groups):
    """Sentences about differences. builds: by label; groups: those that load."""
    of = builds.values()
    said = [f"Profile {wanted.profile}, its cache replaced by the tier's: {profiles.about(wanted.profile)}",
            limits(wanted.tiers)]
    for what, values in (("server", [f"{b.flavour} {b.version}" for b in of]), ("engine", [b.engine for b in of]),
                         ("options", [" ".join(b.options) or "none" for b in of]),
                         ("allocator", [b.preload.rsplit("/", 1)[-1] or "the program's own" for b in of])):
        if len(set(values)) > 1:
            said.append(f"The builds differ in {what} ("
                        + ", ".join(f"{label}: {value}" for label, value in zip(builds, values)) + ").")
    if len(groups) > 1:
        said.append("Data: " + "; ".join(f"{group.label} loaded its own" for group in groups)
                    + ". Each load's layout on disk is part of its figures.")
    return said


def limits(tiers):
    """Which tiers have a memory limit: only a tier's own limit counts, not the profile's."""
    limited = [tier.condition for tier in tiers if tier.limit]
    if not limited:
        return "No server has a memory limit: no tier names one, and the profile's does not count."
    said = f"Limits of a server's memory, including its page cache: {', '.join(limited)}"
    return said + ("." if len(limited) == len(tiers) else "; the other tiers have none.")
