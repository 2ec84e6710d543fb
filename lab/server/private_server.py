"""A server of a runner's own: below a memory limit where one is wanted, and sampled while it is measured.

    limit = memory_limit(args.memory_max, args.profile)
    server = PrivateServer(environment, directory, limit, plugin=..., options=...)
    server.start()
    with server.sampler() as sampler:
        ...
    found = server.memory()
    server.stop()
"""

import os
import re
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

from installer import build_plugin, servers
from installer.server_run import Server
from installer.shell import Failed, Unavailable
from lab.base.watched import tied
from lab.observe.sampler import Sampler, StatusClient
from lab.server import profiles
from lab.server.cgroup import MemoryGroup, forget_files
from lab.server.given_server import GivenServer

_NO_LIMIT = "0"
# Options that show themselves under another name or otherwise than they were given; and some of the seeds' that the server
# changes itself: as many cache instances as CPUs, and one undo tablespace is none.
_UNSHOWN = ("plugin_load_add", "rocksdb_default_cf_options", "log_bin", "table_open_cache_instances",
            "innodb_undo_tablespaces")
# TidesDB cuts them to what its budget has room for, and shows them so.
_OF_THE_BUDGET = ("tidesdb_block_cache_size", "tidesdb_unified_memtable_write_buffer_size")
_NO_ROOM = (": tidesdb_max_memory_usage, which is half of the machine's memory or of the server's limit (--memory-max) "
            "unless it is set, has no room for more (a cache may take fifteen sixteenths of it); make one of them "
            "larger, or the cache smaller")


@dataclass(frozen=True)
class Limit:
    """bytes: None without a limit. said: a sentence for the report."""
    bytes: int | None = None
    said: str = "Nothing limits a server's memory and its page cache."


def in_bytes(size):
    """"512M" as a number. Raises Failed."""
    if not re.fullmatch(r"\d+[KMGkmg]?", size):
        raise Failed(f"{size}: a number of bytes is wanted, or one with K, M or G")
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(size[-1].upper(), 1)
    return int(size.rstrip("KMGkmg")) * unit


def why_cut(name):
    """What to do where a variable is not what the server was told; "" for one that is never cut."""
    return _NO_ROOM if name in _OF_THE_BUDGET else ""


def check_settings(server, options):
    """What the server runs with is what it was told. Raises Failed naming what is not."""
    asked = dict(option[2:].split("=", 1) for option in options if "=" in option)
    found = variables_of(server)
    for name, value in asked.items():
        name = name.replace("-", "_")
        if name not in _UNSHOWN and plain(value) != plain(found.get(name, "nothing")):
            raise Failed(f"the server was told {name}={value} and runs with {found.get(name, 'no such variable')}"
                         + why_cut(name))


def variables_of(server):
    """By name, what SHOW GLOBAL VARIABLES says."""
    rows = server.sql("SHOW GLOBAL VARIABLES")
    return dict(line.split("\t", 1) for line in rows.splitlines() if "\t" in line)


# The libraries of the engines that it has loaded; what is built in has its version.
VERSIONS = ("SELECT 'server', VERSION(); SELECT PLUGIN_LIBRARY, CONCAT(PLUGIN_NAME, ' ', PLUGIN_VERSION) FROM "
            "information_schema.PLUGINS WHERE PLUGIN_LIBRARY IS NOT NULL AND PLUGIN_TYPE = 'STORAGE ENGINE'")


def versions_of(server):
    """What a running server says of itself ("server"), and of the engines it has loaded, by their libraries."""
    return versions_in(line.split("\t") for line in server.sql(VERSIONS).splitlines())


def versions_in(rows):
    """The same of the answer to VERSIONS."""
    return {row[0]: row[1] for row in rows if len(row) == 2}


def plain(value):
    """A variable's value: numbers with units, and switches, in one form."""
    value = {"ON": "1", "OFF": "0"}.get(value.upper(), value.upper())
    try:
        return float(in_bytes(value)) if value[-1:] in ("K", "M", "G") else float(value)
    except (Failed, ValueError):
        return value


def add_memory_max(add):
    """The option that every runner has. add: of an argparse group."""
    add("--memory-max", metavar="SIZE", help="a limit for each private server, its page cache counted, such as 512M "
        "(a memory cgroup; takes root); 0: none (the profile's)")


def add_settings(add):
    """What a private server is told, for a runner that may also measure a server that runs already: see settle()."""
    add("--profile", choices=profiles.known(), help=f"the private server's settings ({profiles.DEFAULT})")
    add("--sync", choices=["FULL", "NONE"], help="the private server's commits: synced, or not (FULL, or the profile's)")
    add_memory_max(add)


def settle(args, starts):
    """Fills in what add_settings() adds. starts: the runner starts its servers; else Raises Failed for what was asked."""
    if not starts and not args.resume:  # --resume itself says what may stand beside it.
        for name in ("profile", "sync", "memory_max"):
            if getattr(args, name) is not None:
                raise Failed(f"--{name.replace('_', '-')}: a server that runs already keeps its settings and has no limit; "
                             "--private-server starts one of the runner's own")
    elif starts:
        args.profile, args.sync = args.profile or profiles.DEFAULT, args.sync or "FULL"


def memory_limit(asked, profile):
    """The limit of a run. asked: what its person said, or nothing; profile: where it comes from then, or None.

    Raises Unavailable when a limit was asked for and cannot be had; a profile's is left out then, and that is said.
    """
    wanted = asked or (profiles.defaults(profile).get("memory_max", _NO_LIMIT) if profile else _NO_LIMIT)
    size = in_bytes(wanted)
    if size == 0:
        return Limit()
    try:
        with MemoryGroup("check", size):
            pass
    except Unavailable as error:
        if asked:
            raise
        return Limit(said=f"The profile's limit of {wanted} for each server, with its page cache, is left out: {error}.")
    return Limit(size, f"Each server is in a memory cgroup of {wanted}, its page cache counted.")


def environment_of(name, engines, options, log):
    """What the servers of these engines are made from: the Environment, and TidesDB's plugin where that is one of them.

    options: all that any of the servers is told.
    """
    environment = servers.prepare(name, log, tests="RocksDB" in engines, more=servers.providers(options))
    return environment, build_plugin.build(environment, log) if "TidesDB" in engines else None


class PrivateServer(Server):
    """Owns: besides a Server's things the cgroup, from start() to stop(). It ends when this program is killed."""

    def __init__(self, environment, directory, limit=Limit(), **more):
        """limit: a Limit; more: as of Server."""
        super().__init__(environment, directory, within=tied, **more)
        self._limit, self._group, self._oom_kills = limit, None, 0

    def tool(self, name):
        return self.environment.tool(name) if isinstance(self.environment, GivenServer) else super().tool(name)

    def start(self, timeout_s=120):
        """Raises Failed with the log's tail, or naming an option that did not take; leaves nothing running then."""
        if self._limit.bytes:
            self._oom_kills = 0
            forget_files(self.data)  # What is in memory already would be on our account, not the server's.
            self._group = MemoryGroup(self.directory.name, self._limit.bytes)
            self._group.__enter__()
            self.within = lambda argv: tied(self._group.command(argv))
        try:
            super().start(timeout_s)
            check_settings(self, self.options)
        except Failed as error:
            self.end()
            raise Failed(f"{self._killed()}{error}") from error
        except BaseException:
            self.end()
            raise

    def stop(self, timeout_s=120):
        try:
            super().stop(timeout_s)
        finally:
            self.end()

    def end(self):
        """Whatever still runs of it is killed; its cgroup is removed."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)  # It has a session of its own.
            self.process.wait()
        if self._group is not None:
            group, self._group, self.within = self._group, None, tied
            self._oom_kills = group.usage().oom_kills
            group.remove()

    def failed(self, error):
        """What is raised for an error of one that uses this server: that, and what the server's end says of it.

        That its limit killed it comes first: where one line is kept, it is this.
        """
        killed = self._killed()
        if killed and str(error).startswith(killed):
            return error
        tail = self.log_tail()
        of_log = "" if str(error).rstrip().endswith(tail.rstrip()) else f"\nThe server's log ends with:\n{tail}"
        return Failed(f"{killed}{error}{of_log}")

    def _killed(self):
        kills = self._group.usage().oom_kills if self._group is not None else self._oom_kills
        return (f"The server was killed at its memory limit of {self._limit.bytes >> 20} MB, its page cache counted; "
                "give it more: --memory-max (sqlbench.sh: MEMORY_MAX), or --tiers CACHE:LIMIT\n" if kills else "")

    def remove(self):
        """Its data, and whatever else is in its directory. REQUIRES: it does not run."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def sampler(self, also=""):
        """A Sampler of this server, not begun yet. also: as of StatusClient."""
        return Sampler(self.pid(), StatusClient(self.client("--unbuffered"), also=also), group=self._group)

    def memory(self):
        """By name, in bytes but for the kills: what this server and its group had so far."""
        pid = self.pid()
        if pid is None:
            return {}
        found = re.search(r"^VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M)
        memory = {"resident_peak": int(found.group(1)) << 10} if found else {}
        if self._group:
            used = self._group.usage()
            memory |= {"limit": used.limit, "group_peak": used.peak, "page_cache": used.page_cache,
                       "oom_kills": used.oom_kills}
        return memory
