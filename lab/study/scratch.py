"""A temporary folder in /tmp for things that need a short path, such as a server's socket.

    with Scratch() as folder:
        server = PrivateServer(..., socket=folder / "mysqld.sock")

If its owner is killed (kill -9), the next run of any runner removes it.
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "lab-"
_OWNER = "owner"  # Locked while the owner lives. A pid would not do: it may be reused.


class Scratch:
    """Use it as a context, or close it. Owns: the folder at path."""

    def __init__(self):
        remove_left_over()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        new = self.path / "new"
        self._owner = open(new, "w")
        fcntl.flock(self._owner, fcntl.LOCK_EX)
        os.rename(new, self.path / _OWNER)  # Already locked when others see it.

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)
        self._owner.close()

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        self.close()


def remove_left_over():
    """Removes the folders of dead owners."""
    for owner in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_OWNER}"):
        try:
            with open(owner) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(owner.parent, ignore_errors=True)
        except OSError:  # It lives, or is another user's.
            pass
