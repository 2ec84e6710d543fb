"""A folder for what must not lie deep, such as a server's socket: in /tmp, and gone afterwards.

    with Scratch() as folder:
        server = PrivateServer(..., socket=folder / "mysqld.sock")

Of an owner that was killed (kill -9) the next one removes it, whichever runner that is.
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "lab-"
_OWNER = "owner"  # Locked while the owner lives. Not its pid: that may be another's by then.


class Scratch:
    """Use it as a context, or close it. Owns: the folder at path."""

    def __init__(self):
        remove_left_over()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        new = self.path / "new"
        self._owner = open(new, "w")
        fcntl.flock(self._owner, fcntl.LOCK_EX)
        os.rename(new, self.path / _OWNER)  # Locked already when others see it.

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)
        self._owner.close()

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        self.close()


def remove_left_over():
    """The folders of owners that live no more."""
    for owner in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_OWNER}"):
        try:
            with open(owner) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(owner.parent, ignore_errors=True)
        except OSError:  # It lives, or is another user's.
            pass
