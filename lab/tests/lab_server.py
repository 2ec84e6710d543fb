"""The private server that a test of the lab runs against."""

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE))

from installer import servers  # noqa: E402
from installer.server_run import Server  # noqa: E402

_INSTALLED = Path("/usr/sbin/mariadbd")


def environment():
    """TIDESDB_SERVER names one that `python3 -m installer servers` made; else the installed one; or None."""
    name = os.environ.get("TIDESDB_SERVER")
    if name:
        return servers.existing(name)
    if _INSTALLED.exists():
        return servers.Environment("installed", "", "", Path("/"), Path("/nonexistent"), None)
    return None


class LabServer(Server):
    """A server in a new temporary directory. Use it as a context: nothing of it is left after."""

    def __init__(self, where, options=()):
        # Small, and its commits survive a killed process without a sync each.
        small = ["--innodb-buffer-pool-size=128M", "--innodb-log-file-size=96M", "--performance-schema=OFF",
                 "--innodb-flush-log-at-trx-commit=2"]
        # Not in the tree: a socket's path must be short.
        super().__init__(where, tempfile.mkdtemp(prefix="lab-test-"), plugin=os.environ.get("TIDESDB_PLUGIN"),
                         options=[*small, *options])

    def __enter__(self):
        try:
            self.initialise()
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        self.kill()
        # A server that did not get as far as its pid file.
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def value(self, statement):
        """The only value of a statement, as text."""
        return self.sql(statement).strip()
