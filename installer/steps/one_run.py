"""One run of install.sh at a time: the lock is on the directory of its records, and is held for the whole run."""

import fcntl
import os
from contextlib import contextmanager, suppress
from pathlib import Path

from installer.shell import Failed
from installer.steps.record import DIRECTORY


@contextmanager
def lock(directory=DIRECTORY):
    """Raises Failed while another run holds it. One that was killed holds it no more."""
    handle = _open(directory)
    try:
        yield
    finally:
        with suppress(OSError):  # It holds a record.
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
        os.close(handle)  # The run before had left nothing, and has removed the directory.


def _holder(handle):
    """", as PID", of who has locked it; "" where that is not to be seen, as in another container."""
    inode = str(os.fstat(handle).st_ino)
    with suppress(OSError):
        for line in Path("/proc/locks").read_text().splitlines():
            _, kind, *fields = line.split()
            if kind == "FLOCK" and fields[3].rpartition(":")[2] == inode and int(fields[2]) > 0:
                return f", as {fields[2]}"
    return ""
