"""The memory allocator of the whole server process: its package, its library, and which one a process has."""

import re
from pathlib import Path

from installer.shell import Failed, Unavailable, output, run
from installer.steps import config, dependencies

# The newest first; each release has only some of them.
PACKAGES = {"jemalloc": ["libjemalloc2"],
            "mimalloc": ["libmimalloc3", "libmimalloc2.0"],
            "tcmalloc": ["libtcmalloc-minimal4t64", "libtcmalloc-minimal4"]}

# "(deleted)": after a package upgrade a process keeps the library that it has mapped.
_LIBRARY = re.compile(r"/lib(jemalloc|mimalloc|tcmalloc)(?:_minimal)?\.so\.[\d.]+(?: \(deleted\))?$")


def choose_package(name, known):
    """The first package of that allocator that is available, by known(name)."""
    for package in PACKAGES[name]:
        if known(package):
            return package
    raise Unavailable(f"none of these packages is available here: {', '.join(PACKAGES[name])}")


def find_library(paths):
    """The library to preload, among the paths of a package."""
    found = sorted(path for path in paths if _LIBRARY.search(path))
    if not found:
        raise Failed("the allocator's package does not contain its library")
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
    """Writes the configuration for that library (None: the system's); True if a file changed. Applies at the server's
    next start."""
    if preload is None:
        changed = record.remove(server.allocator_config, restart=True)
        return record.remove(server.allocator_unit, restart=True) or changed
    changed, mark = False, config.MARK.encode()
    for path, text in ((server.allocator_config, config.allocator_config(preload)),
                       (server.allocator_unit, config.allocator_unit(preload))):
        changed = record.put(path, text.encode(), mark=mark, restart=True) or changed
    return changed


def library(record, name, log, skip_deps):
    """The path of the library to preload, None for the system's; installs its package if need be."""
    if name in (None, "system"):
        return None
    try:
        package = choose_package(name, _known)
    except Unavailable:  # This machine has never read its package lists.
        run(["apt-get", "update"], log=log)
        package = choose_package(name, _known)
    dependencies.require(record, [package], log, skip_deps)
    return find_library(output(["dpkg", "-L", package]).splitlines())


def _known(package):
    """Is it installed or available?"""
    return "Package:" in output(["sh", "-c", 'apt-cache show "$1" 2>/dev/null || true', "sh", package])
