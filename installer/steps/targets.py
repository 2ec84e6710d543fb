"""Whether the files can be put where they are to go: checked before the long steps."""

import os
import shutil

from installer.shell import Failed


def check(directory, need, what):
    """Raises Failed unless the directory exists or can be made, and has room for that many bytes. what: names it."""
    check_all([(directory, need, what)])


def check_all(wanted):
    """As check() for each, by its arguments; directories on one disk share its room."""
    disks = {}
    for directory, need, what in wanted:
        there = next(path for path in [directory, *directory.parents] if os.path.lexists(path))
        if not there.is_dir():
            raise Failed(f"{what} {directory}: {there} is not a directory")
        if not os.access(there, os.W_OK | os.X_OK):
            raise Failed(f"{what} {directory}: {there} is not writable")
        if need:
            disks.setdefault(there.stat().st_dev, []).append((there, need, f"{what} {directory}"))
    for on_disk in disks.values():
        need, free = sum(need for _, need, _ in on_disk), shutil.disk_usage(on_disk[0][0]).free
        if free < need:
            names = ", ".join(name for _, _, name in on_disk)
            raise Failed(f"{names}: needs {need >> 20} MiB, and {free >> 20} MiB are free")
