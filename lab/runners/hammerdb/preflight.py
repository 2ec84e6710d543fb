"""Checks before a long run that this machine has what it needs."""

import os
import resource
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from installer import host
from installer.shell import Failed, clean_environment
from lab.runners.hammerdb import real, server

OPEN_FILES_MIN = 65536
DISK_GB_PER_WAREHOUSE = 0.2  # 200 GB per thousand: data, redo and temporary files of one engine.
_OK, _WARN, _FAIL = "ok", "warning", "FAIL"


@dataclass(frozen=True)
class Finding:
    level: str
    name: str
    text: str

    def __str__(self):
        return f"{self.level:8} {self.name}: {self.text}"


def _read(path):
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def may_act_as_root():
    """Root, or sudo without a password."""
    if host.is_root():
        return True
    if shutil.which("sudo") is None:
        return False
    return subprocess.run(["sudo", "-n", "true"], stdin=subprocess.DEVNULL, capture_output=True,
                          env=clean_environment(), check=False).returncode == 0


def _programs(args, log):
    if args.harness and not (args.harness.is_file() and os.access(args.harness, os.X_OK)):
        yield Finding(_FAIL, "harness", f"{args.harness} is not a program that can be run")
    if args.hammerdb_dir:
        try:
            yield Finding(_OK, "HammerDB", real.version(args.hammerdb_dir))
        except Failed as error:
            yield Finding(_FAIL, "HammerDB", str(error))
    else:
        yield Finding(_OK, "HammerDB", "not asked for: the built-in generator")
    if not args.no_perf:
        why = server.provide_perf(log)
        yield Finding(_FAIL, "perf", f"{why}; --no-perf leaves it out") if why else Finding(_OK, "perf", "is installed")


def _server(args):
    if args.private_server is not None:
        yield Finding(_OK, "server", "a private one for each iteration")
        return
    if shutil.which(args.mariadb_bin, path=clean_environment()["PATH"]) is None:
        yield Finding(_FAIL, "client", f"{args.mariadb_bin} is missing: apt-get install mariadb-client, or --mariadb-bin")
        return
    running = server.Running(args)
    try:
        running.check(args.engine_names)
        yield Finding(_OK, "server", f"{running.connection.value('SELECT VERSION()')} at {running.connection.address()}, "
                                     f"with {', '.join(args.engine_names)}")
    except Failed as error:
        yield Finding(_FAIL, "server", str(error))
    if not args.no_restart and not may_act_as_root():
        yield Finding(_FAIL, "restart", "neither root nor sudo without a password; --no-restart leaves it out")


def _place_of_data(args):
    """The directory of the server's data; None if it is not visible."""
    if args.private_server is not None:
        return args.output_dir if args.output_dir.exists() else Path()
    try:
        return server.Running(args).server.data
    except (Failed, OSError):  # No server; another finding says so.
        return None


def _disk(args):
    needed = f"{args.warehouses * DISK_GB_PER_WAREHOUSE:,.0f} GB may be needed"
    place = _place_of_data(args)
    if place is None:
        return Finding(_WARN, "disk", f"the server's data directory is not visible from here; {needed}")
    free = shutil.disk_usage(place).free / 1e9
    level = _OK if free >= args.warehouses * DISK_GB_PER_WAREHOUSE else _WARN
    return Finding(level, "disk", f"{free:,.0f} GB are free on the data's disk, {needed}")


def _machine(args):
    yield _disk(args)
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    enough = files == resource.RLIM_INFINITY or files >= OPEN_FILES_MIN
    yield Finding(_OK if enough else _WARN, "open files", f"{files}" if enough else
                  f"the limit is {files}, needed are {OPEN_FILES_MIN}: ulimit -n {OPEN_FILES_MIN}")
    governor = _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    yield Finding(_WARN if governor not in ("", "performance") else _OK, "CPU governor", governor or "not shown here")
    pages = _read("/sys/kernel/mm/transparent_hugepage/enabled")
    yield Finding(_WARN if "[always]" in pages else _OK, "transparent huge pages", pages or "not shown here")
    nodes = len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) or 1
    yield Finding(_WARN if nodes > 1 else _OK, "NUMA nodes", f"{nodes}" + (", memory may be far" if nodes > 1 else ""))
    if not args.no_drop_cache and not (may_act_as_root() and _can_drop()):
        yield Finding(_FAIL, "page cache", "cannot be dropped here (needs root and a writable "
                                           "/proc/sys/vm/drop_caches); --no-drop-cache leaves it out")


def _can_drop():
    path = "/proc/sys/vm/drop_caches"
    if not host.is_root():
        return Path(path).exists()
    try:
        with open(path, "w"):
            return True
    except OSError:
        return False


def look(args, log):
    """All findings. log: for the installation of packages."""
    return [*_programs(args, log), *_server(args), *_machine(args)]


def failed(findings):
    return any(finding.level == _FAIL for finding in findings)
