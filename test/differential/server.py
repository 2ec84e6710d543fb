"""A private server with both engines, in memory if possible. It is removed afterwards."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from installer.server_run import Server
from lab.base.watched import tied

_MEMORY, _PREFIX, _OWNER = Path("/dev/shm"), "differential-", "owner"
_OPTIONS = [
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-doublewrite=0",
    "--innodb-buffer-pool-size=64M",
    "--innodb-log-file-size=16M",
    "--innodb-file-per-table=0",
    "--sync-frm=0",
    "--tidesdb-unified-memtable-sync-mode=NONE",
    # Small, so that flushes and compactions run all the time and rows are read from files.
    "--tidesdb-block-cache-size=1M",
    "--tidesdb-unified-memtable-write-buffer-size=64K",
    "--tidesdb-max-memory-usage=32M",
    "--tidesdb-default-klog-value-threshold=64",
    "--performance-schema=OFF",
    "--query-cache-type=DEMAND",  # A case may turn it on.
    "--query-cache-size=4M",
    "--innodb-lock-wait-timeout=5",
    "--max-allowed-packet=16M",
]


def _directory():
    """A new directory, and an open file whose lock marks it as in use. Removes directories that killed runners left."""
    base = _MEMORY if os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    for owner in base.glob(f"{_PREFIX}*/{_OWNER}"):
        try:
            with open(owner) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(owner.parent, ignore_errors=True)
        except OSError:  # It is in use.
            pass
    directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    new = open(directory / "new", "w")
    fcntl.flock(new, fcntl.LOCK_EX)
    os.rename(directory / "new", directory / _OWNER)  # It is locked before others see it.
    return directory, new


class FuzzedServer(Server):
    """Use it as a context. Owns: its directory."""

    def __init__(self, environment, plugin, options=()):
        directory, self._owner = _directory()
        super().__init__(environment, directory, plugin=plugin, options=[*_OPTIONS, *options], within=tied)
        self._new = self.directory / "new"

    def __enter__(self):
        try:
            self.initialise()
            shutil.copytree(self.data, self._new)
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
        self._owner.close()

    def again(self):
        """After a crash or a hang: starts a new server with empty data."""
        self.kill()
        shutil.rmtree(self.data, ignore_errors=True)
        shutil.copytree(self._new, self.data)
        self.start()
