"""A runner's own server: below a memory limit if requested, and sampled during a measurement.

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
# Options that appear under another name or in another form, and some of the seeds' that the server changes itself:
# it has as many cache instances as CPUs, and turns one undo tablespace into none.
_UNSHOWN = ("plugin_load_add", "rocksdb_default_cf_options", "log_bin", "table_open_cache_instances",
            "innodb_undo_tablespaces")
# TidesDB cuts these to fit its budget, and shows the cut values.
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
        raise Failed(f"{size}: must be a number of bytes, or a number with K, M or G")
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(size[-1].upper(), 1)
    return int(size.rstrip("KMGkmg")) * unit


def why_cut(name):
    """Advice if a variable differs from the given value; "" for one that is never cut."""
    return _NO_ROOM if name in _OF_THE_BUDGET else ""


def check_settings(server, options):
    """Checks that the server runs with the given options. Raises Failed naming one that differs."""
    given = (option[2:].split("=", 1) for option in options if "=" in option)
    asked = {name.replace("-", "_"): value for name, value in given}  # Of several the last, as for the server.
    found = variables_of(server)
    for name, value in asked.items():
        if name not in _UNSHOWN and plain(value) != plain(found.get(name, "nothing")):
            raise Failed(f"the server was given {name}={value} and runs with {found.get(name, 'no such variable')}"
                         + why_cut(name))


def variables_of(server):
    """SHOW GLOBAL VARIABLES by name."""
    rows = server.sql("SHOW GLOBAL VARIABLES")
    return dict(line.split("\t", 1) for line in rows.splitlines() if "\t" in line)


# The libraries of its loaded engines; built-in engines have the server's version.
VERSIONS = ("SELECT 'server', VERSION(); SELECT PLUGIN_LIBRARY, CONCAT(PLUGIN_NAME, ' ', PLUGIN_VERSION) FROM "
            "information_schema.PLUGINS WHERE PLUGIN_LIBRARY IS NOT NULL AND PLUGIN_TYPE = 'STORAGE ENGINE'")


def versions_of(server):
    """The versions of a running server ("server") and of its loaded engines, by their libraries."""
    return versions_in(line.split("\t") for line in server.sql(VERSIONS).splitlines())


def versions_in(rows):
    """The same from the answer to VERSIONS."""
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
        "(a memory cgroup; needs root); 0: none (the profile's)")


def add_settings(add):
    """A private server's options, for a runner that may also measure a server that runs already; see settle()."""
    add("--profile", choices=profiles.known(), help=f"the private server's settings ({profiles.DEFAULT})")
    add("--sync", choices=["FULL", "NONE"], help="the private server's commits: synced, or not (FULL, or the profile's)")
    add_memory_max(add)


def settle(args, starts):
    """Fills in the options of add_settings(). starts: the runner starts its servers; else raises Failed for given ones."""
    if not starts and not args.resume:  # --resume itself checks the options beside it.
        for name in ("profile", "sync", "memory_max"):
            if getattr(args, name) is not None:
                raise Failed(f"--{name.replace('_', '-')}: a server that runs already keeps its settings and has no limit; "
                             "--private-server starts a server of the runner")
    elif starts:
        args.profile, args.sync = args.profile or profiles.DEFAULT, args.sync or "FULL"


def memory_limit(asked, profile):
    """The limit of a run. asked: the user's value, if any; profile: used without one, or None.

    Raises Unavailable if the user's limit is impossible; a profile's limit is then left out with a message.
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
    """For the servers of these engines: the Environment, and the plugin if TidesDB is one of them.

    options: all options of any of the servers.
    """
    environment = servers.prepare(name, log, tests="RocksDB" in engines, more=servers.providers(options))
    return environment, build_plugin.build(environment, log) if "TidesDB" in engines else None


class PrivateServer(Server):
    """Owns: what a Server owns, and the cgroup from start() to stop(). It ends if this program is killed."""

    def __init__(self, environment, directory, limit=Limit(), **more):
        """limit: a Limit; more: as for Server."""
        super().__init__(environment, directory, within=tied, **more)
        self._limit, self._group, self._oom_kills = limit, None, 0

    def tool(self, name):
        return self.environment.tool(name) if isinstance(self.environment, GivenServer) else super().tool(name)

    def start(self, timeout_s=120):
        """Raises Failed with the log's tail, or naming an option without effect; then nothing stays running."""
        if self._limit.bytes:
            self._oom_kills = 0
            forget_files(self.data)  # Pages already in memory would be charged to us, not to the server.
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
        """Kills its remaining processes and removes its cgroup."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)  # It has its own session.
            self.process.wait()
        if self._group is not None:
            group, self._group, self.within = self._group, None, tied
            self._oom_kills = group.usage().oom_kills
            group.remove()

    def failed(self, error):
        """The error to raise for a user's error: that error, and the cause of the server's end.

        A kill at the limit comes first, because some callers keep only one line.
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
        """Removes its directory with all data. REQUIRES: it does not run."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def sampler(self, also=""):
        """A Sampler of this server, not started. also: as for StatusClient."""
        return Sampler(self.pid(), StatusClient(self.client("--unbuffered"), also=also), group=self._group)

    def memory(self):
        """By name, in bytes except the kills: usage of this server and its group so far."""
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
