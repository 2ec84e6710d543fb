"""One run of install.sh at a time: it holds a lock on the directory of its records until it ends."""

import fcntl
import os
from contextlib import contextmanager, suppress
from pathlib import Path

from installer.shell import Failed
from installer.steps.record import DIRECTORY


@contextmanager
def lock(directory=DIRECTORY):
    """Raises Failed while another run holds the lock. A killed run no longer holds it."""
    handle = _open(directory)
    try:
        yield
    finally:
        with suppress(OSError):  # Fails if it holds a record.
            directory.rmdir()
        os.close(handle)


def _open(directory):
    while True:
        directory.mkdir(parents=True, exist_ok=True)
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.stat(directory), os.fstat(handle)):
                return handle
        except FileNotFoundError:
            pass
        except BlockingIOError as error:
            raise Failed(f"another ./install.sh runs{_holder(handle)}: wait until it has ended") from error
        os.close(handle)  # The run before left no record and removed the directory.


def _holder(handle):
    """", as PID" of the holder of the lock; "" if it is not visible, as in another container."""
    inode = str(os.fstat(handle).st_ino)
    with suppress(OSError):
        for line in Path("/proc/locks").read_text().splitlines():
            _, kind, *fields = line.split()
            if kind == "FLOCK" and fields[3].rpartition(":")[2] == inode and int(fields[2]) > 0:
                return f", as {fields[2]}"
    return ""
