"""A private server with both engines, in memory where there is room, and gone afterwards."""

import os
import shutil
import tempfile
from pathlib import Path

from installer.server_run import Server

_MEMORY = Path("/dev/shm")
_OPTIONS = ["--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--innodb-buffer-pool-size=64M",
            "--innodb-log-file-size=16M", "--innodb-file-per-table=0", "--sync-frm=0", "--tidesdb-unified-memtable-sync-mode=NONE",
            "--tidesdb-block-cache-size=16M", "--tidesdb-unified-memtable-write-buffer-size=2M", "--tidesdb-max-memory-usage=256M",
            "--performance-schema=OFF", "--query-cache-type=0", "--innodb-lock-wait-timeout=5", "--max-allowed-packet=16M"]


def _tied(argv):
    """It ends when its runner does, however that ends."""
    return ["setpriv", "--pdeathsig", "KILL", "--", *map(str, argv)]


class FuzzedServer(Server):
    """Use it as a context. Owns: its directory."""

    def __init__(self, environment, plugin, options=()):
        base = _MEMORY if os.access(_MEMORY, os.W_OK) else None
        super().__init__(environment, tempfile.mkdtemp(prefix="differential-", dir=base), plugin=plugin,
                         options=[*_OPTIONS, *options], within=_tied)

    def __enter__(self):
        try:
            self.initialise()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def again(self):
        """After a crash, or when it hangs: a new server, its data gone."""
        self.kill()
        shutil.rmtree(self.data, ignore_errors=True)
        self.initialise()
        self.start()
