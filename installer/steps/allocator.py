"""The memory allocator of the whole server process: its package, its library, and which one a process has."""

import re
from pathlib import Path

from installer.shell import Failed, Unavailable, output, run
from installer.steps import config, dependencies

# The newest first; releases differ in which one they have.
PACKAGES = {"jemalloc": ["libjemalloc2"],
            "mimalloc": ["libmimalloc3", "libmimalloc2.0"],
            "tcmalloc": ["libtcmalloc-minimal4t64", "libtcmalloc-minimal4"]}

# Deleted: a process goes on with the library that it has mapped when the package is upgraded.
_LIBRARY = re.compile(r"/lib(jemalloc|mimalloc|tcmalloc)(?:_minimal)?\.so\.[\d.]+(?: \(deleted\))?$")


def choose_package(name, known):
    """The first package of that allocator that known (a function of a name) says is to be had."""
    for package in PACKAGES[name]:
        if known(package):
            return package
    raise Unavailable(f"none of {', '.join(PACKAGES[name])} is to be had here")


def find_library(paths):
    """The library to preload, among the paths of a package."""
    found = sorted(path for path in paths if _LIBRARY.search(path))
    if not found:
        raise Failed("the allocator's package holds no library of it")
    return min(found, key=len)


def in_maps(text):
    """Which allocator a process has, by its /proc/PID/maps."""
    for line in text.splitlines():
        fields = line.split(None, 5)
        found = _LIBRARY.search(fields[5]) if len(fields) == 6 else None
        if found:
            return found.group(1)
    return "system"


def of_process(pid):
    return in_maps(Path(f"/proc/{pid}/maps").read_text())


def set_up(record, server, preload):
    """Makes the configuration for that library, None for the system's; True if a file changed. The server's next start
    takes it."""
    if preload is None:
        changed = record.remove(server.allocator_config, restart=True)
        return record.remove(server.allocator_unit, restart=True) or changed
    changed, mark = False, config.MARK.encode()
    for path, text in ((server.allocator_config, config.allocator_config(preload)),
                       (server.allocator_unit, config.allocator_unit(preload))):
        changed = record.put(path, text.encode(), mark=mark, restart=True) or changed
    return changed


def library(record, name, log, skip_deps):
    """The path of what is to be preloaded, None for the system's; its package is installed if need be."""
    if name in (None, "system"):
        return None
    try:
        package = choose_package(name, _known)
    except Unavailable:  # A machine whose package lists were never read.
        run(["apt-get", "update"], log=log)
        package = choose_package(name, _known)
    dependencies.require(record, [package], log, skip_deps)
    return find_library(output(["dpkg", "-L", package]).splitlines())


def _known(package):
    """Is it installed, or to be had?"""
    return "Package:" in output(["sh", "-c", 'apt-cache show "$1" 2>/dev/null || true', "sh", package])
