"""The options of each engine's server: the settings of a profile (lab/profiles/), and the durability of commits.

A profile also has defaults for a runner's command line: the groups [lab] and [RUNNER].
"""

import argparse
from pathlib import Path

from installer.shell import Failed
from lab.base.arguments import above_zero

PROFILES = Path(__file__).resolve().parents[1] / "profiles"
DEFAULT = "fair"
# Each engine's name for its cache.
CACHE = {"InnoDB": "innodb_buffer_pool_size", "TidesDB": "tidesdb_block_cache_size", "RocksDB": "rocksdb_block_cache_size"}

# By engine: options without and with synced commits. Every engine writes its log at each commit in any case: a killed
# server loses nothing, a power cut may lose the last second or more.
_SYNC = {
    "InnoDB": {"NONE": ["--innodb-flush-log-at-trx-commit=2"], "FULL": ["--innodb-flush-log-at-trx-commit=1"]},
    "TidesDB": {"NONE": ["--tidesdb-unified-memtable-sync-mode=NONE"],
                "FULL": ["--tidesdb-unified-memtable-sync-mode=FULL"]},
    "RocksDB": {"NONE": ["--rocksdb-flush-log-at-trx-commit=0", "--rocksdb-manual-wal-flush=OFF"],
                "FULL": ["--rocksdb-flush-log-at-trx-commit=1"]},
    # Keeps nothing: the limit of server and client, a ceiling for work that returns no rows.
    "BLACKHOLE": {"NONE": [], "FULL": []},
}
# InnoDB with all data in memory: the ceiling for work that returns rows. Not a separate engine.
IN_MEMORY = "InnoDB-in-memory"
_IN_MEMORY_OPTIONS = ["--innodb-buffer-pool-size=4G", "--innodb-log-file-size=2G", "--innodb-max-dirty-pages-pct=90",
                      "--innodb-max-dirty-pages-pct-lwm=0"]

NAMES = [*_SYNC, IN_MEMORY]


def known():
    """The names of all profiles."""
    return sorted(path.stem for path in PROFILES.glob("*.cnf"))


def engine_of(name):
    """As in ENGINE=."""
    return "InnoDB" if name == IN_MEMORY else name


def keeps_rows(name):
    """False: works that read their own writes, such as TPROC-C, cannot run on it."""
    return name != "BLACKHOLE"


def needs_plugin(name):
    return name == "TidesDB"


def read_profile(text, source):
    """The groups of a profile: for each its options in the form of the server's command line, in order.

    `!include NAME.cnf` includes another profile's groups.
    """
    groups = {}
    current = None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            current = groups.setdefault(line[1:-1], [])
            continue
        if line.startswith("!include "):
            other = PROFILES / line.split(maxsplit=1)[1]
            for group, included in read_profile(other.read_text(), other).items():
                groups.setdefault(group, []).extend(included)
            continue
        if current is None:
            raise Failed(f"{source}:{number}: {line!r} is in no [group]")
        key, _, value = (part.strip() for part in line.partition("="))
        current.append(f"--{key}={value}" if value else f"--{key}")
    return groups


def about(profile):
    """A profile's description, with what it makes unequal: its first comment, without the line about groups."""
    lines = []
    for line in (PROFILES / f"{profile}.cnf").read_text().splitlines():
        if not line.startswith("#") or line.startswith("# Groups:"):
            break
        lines.append(line[1:].strip())
    return " ".join(lines)


def _groups(profile):
    path = PROFILES / f"{profile}.cnf"
    if not path.exists():
        raise Failed(f"the profile {profile} is not known; known are {', '.join(known())}")
    return read_profile(path.read_text(), path)


def options(profile, name, sync):
    """All options of the server for this engine. A profile with its own `sync` also has its own settings for
    it."""
    groups = _groups(profile)
    engine = engine_of(name)
    aside = groups.get("aside", []) if engine != "InnoDB" else []
    memory = _IN_MEMORY_OPTIONS if name == IN_MEMORY else []
    commits = [] if sync == defaults(profile).get("sync") else _SYNC[engine][sync]
    return [*groups["server"], *aside, *groups.get(engine, []), *memory, *commits]


def defaults(profile, group="lab"):
    """By name, a runner's defaults with this profile: from [lab] for all, or from the runner's own group."""
    return dict(option[2:].split("=", 1) for option in _groups(profile).get(group, []))


def set_defaults(parser, argv, runner, names=None):
    """Makes the sizes of the command line's profile the parser's defaults.

    names: the parser's name by the profile's name of a size, if they differ.
    """
    wanted = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    wanted.add_argument("--profile", default=DEFAULT)
    profile = wanted.parse_known_args(argv)[0].profile
    if profile not in known():
        return  # The parser's own message is better.
    found = {"sync": defaults(profile)["sync"]} if "sync" in defaults(profile) else {}
    found |= {(names or {}).get(name, name): value for name, value in defaults(profile, runner).items()}
    parser.set_defaults(**{name.replace("-", "_"): value for name, value in found.items()})


def scaled_down(size, by):
    """A size of data scaled down for a small machine, at least 1."""
    return max(1, round(size / by))


def add_scale_down(add):
    """The option that every runner has. add: of an argparse group."""
    add("--scale-down", type=above_zero, default=1, metavar="N",
        help="for a small machine: divide rows and warehouses by N, also a profile's; caches and times stay "
             "(%(default)s)")
