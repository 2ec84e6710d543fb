"""Whether what is built can be put where it is to go: asked before the long steps."""

import os
import shutil

from installer.shell import Failed


def check(directory, need, what):
    """Raises Failed unless the directory is there, or can be made, and takes that many bytes. what: names it."""
    there = next(path for path in [directory, *directory.parents] if os.path.lexists(path))
    if not there.is_dir():
        raise Failed(f"{what} {directory}: {there} is no directory")
    if not os.access(there, os.W_OK | os.X_OK):
        raise Failed(f"{what} {directory}: {there} cannot be written to")
    free = shutil.disk_usage(there).free
    if free < need:
        raise Failed(f"{what} {directory}: {need >> 20} MiB are wanted there, and {free >> 20} MiB are free")
