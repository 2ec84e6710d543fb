"""Where a server from source is built and put: what can be refused of these places, before the first long step."""

import os
import shutil

from installer.shell import TREE, Failed

STAMP = ".tidesdb-build"
_STAMP_TEXT = "A build directory of TidesDB's install.sh --mariadb-version: it removes here what it builds anew.\n"

# A tree, its stage and its plugin's build, with room for links.
TREE_BYTES = 3 << 30
SOURCES_BYTES = 1 << 30
# The server's files beside those that they replace, and its first data.
PREFIX_BYTES = 1 << 30
LIBRARY_BYTES = 256 << 20


def claim(build, ours=TREE / "build"):
    """Makes a build directory that has no sources yet, or takes it up. Raises Failed when it is something else.

    Much is removed in it, by names that others use too: download, library, plain. So one that is not empty wants our
    mark, or the place of the usual one, below ours: earlier versions left no mark before the sources were there.
    """
    check([(build, SOURCES_BYTES, "--build-dir")])
    stamp = build / STAMP
    if stamp.exists():
        return
    if build.exists() and not build.is_relative_to(ours) and set(os.listdir(build)) - {"lost+found"}:
        raise Failed(f"{build} holds something that is no build of install.sh's; say an empty or a new --build-dir")
    build.mkdir(parents=True, exist_ok=True)
    stamp.write_text(_STAMP_TEXT)


def needs(paths, trees, replaced, library_prefix):
    """[(directory, bytes that are to come there, the option that names it)]. trees: those that the run wants, by name.

    replaced: is the installed server another one than what comes? Else it may be all there.
    """
    fresh = sum(not (paths.build / name / "build.ninja").exists() for name in trees)
    sources = 0 if paths.sources.exists() else SOURCES_BYTES
    replaced = replaced or fresh > 0
    found = [(paths.build, fresh * TREE_BYTES + sources, "--build-dir"),
             (paths.prefix, replaced * PREFIX_BYTES, "--mariadb-prefix")]
    return [*found, (library_prefix, replaced * LIBRARY_BYTES, "--tidesdb-prefix")] if library_prefix else found


def check(wanted):
    """wanted: as of needs(). Raises Failed when a directory of them cannot be made or written, or has not the room."""
    disks = {}
    for directory, size, option in wanted:
        there = next(path for path in [directory, *directory.parents] if os.path.lexists(path))
        if not there.is_dir() or not os.access(there, os.W_OK):
            why = "cannot be written" if there.is_dir() else "is no directory"
            raise Failed(f"{directory} cannot be filled: {there} {why}; say another place with {option}")
        disks.setdefault(there.stat().st_dev, []).append((there, directory, size, option))
    for on_disk in disks.values():
        need, free = sum(size for _, _, size, _ in on_disk), shutil.disk_usage(on_disk[0][0]).free
        if free < need:
            what = " and ".join(f"{_gib(size)} in {directory}" for _, directory, size, _ in on_disk if size)
            named = " or ".join(option for _, _, size, option in on_disk if size)
            raise Failed(f"it takes {what}, and {_gib(free)} are free there; say another place with {named}")


def _gib(size):
    return f"{size / (1 << 30):.1f} GiB"
