"""The private server that histories are recorded on."""

import shutil
import tempfile

from installer.server_run import Server
from lab.base.watched import tied

_SMALL = ["--innodb-buffer-pool-size=64M", "--innodb-log-file-size=48M", "--performance-schema=OFF",
          "--innodb-flush-log-at-trx-commit=2", "--tidesdb-unified-memtable-sync-mode=NONE",
          # Small, so that a history's rows are flushed and merged while it runs.
          "--tidesdb-unified-memtable-write-buffer-size=64K"]


class IsolationServer(Server):
    """Owns: a temporary directory; use it as a context. The server ends when this program is killed.

    A killed process loses nothing that it has written, so commits need no sync.
    """

    def __init__(self, environment, plugin, options=()):
        super().__init__(environment, tempfile.mkdtemp(prefix="isolation-"), plugin=plugin, options=[*_SMALL, *options],
                         within=tied)

    def __enter__(self):
        try:
            self.initialise()
            self.start()
            self.sql("CREATE DATABASE IF NOT EXISTS test")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.kill()
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def runs(self):
        return self.pid() is not None
