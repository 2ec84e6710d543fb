"""The private server that a test of the lab runs against.

Environment: TPCC and IIBENCH are the programs, TIDESDB_SERVER a server that `python3 -m installer servers` made (else the
installed one is used), TIDESDB_PLUGIN a plugin to load into it.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE))

from installer import servers  # noqa: E402
from installer.server_run import Server  # noqa: E402
from installer.shell import Failed  # noqa: E402

TPCC = os.environ.get("TPCC", str(TREE / "build" / "release" / "lab" / "tpcc"))
IIBENCH = os.environ.get("IIBENCH", str(TREE / "build" / "release" / "lab" / "iibench"))
# The exit codes of tpcc and iibench.
OK, FAILED, INCONSISTENT, UNEXPECTED_ERRORS, SERVER_LOST = range(5)

_INSTALLED = Path("/usr/sbin/mariadbd")

_SYNC_OPTIONS = {
    ("innodb", "FULL"): ["--innodb-flush-log-at-trx-commit=1"],
    ("innodb", "NONE"): ["--innodb-flush-log-at-trx-commit=2"],
    ("tidesdb", "FULL"): ["--tidesdb-unified-memtable-sync-mode=FULL"],
    ("tidesdb", "NONE"): ["--tidesdb-unified-memtable-sync-mode=NONE"],
}


def sync_options(engine, sync):
    """What the server is told, so that a commit survives a power cut (FULL) or a killed process alone (NONE)."""
    found = _SYNC_OPTIONS.get((engine.lower(), sync))
    if found is None:
        known = ", ".join(f"{engine} {sync}" for engine, sync in _SYNC_OPTIONS)
        sys.exit(f"no options are known for engine {engine} with sync {sync}; known are {known}")
    return found


def environment():
    """Where the server comes from; None when there is none."""
    name = os.environ.get("TIDESDB_SERVER")
    if name:
        return servers.existing(name)
    if _INSTALLED.exists():
        return servers.Environment("installed", "", "", Path("/"), Path("/nonexistent"), None)
    return None


def error_codes(returncode, said):
    """What a client with --force saw of errors, from its standard error."""
    codes = [int(code) for code in re.findall(r"^ERROR (\d+)", said, re.M)]
    if returncode != 0 and not codes:
        raise Failed(f"the client ended with {returncode}: {said}")
    return codes


class LabServer(Server):
    """A server in a new temporary directory. Use it as a context: nothing of it is left after."""

    def __init__(self, where, options=(), within=None):
        # Small, and its commits survive a killed process without a sync each.
        small = ["--innodb-buffer-pool-size=128M", "--innodb-log-file-size=96M", "--performance-schema=OFF",
                 "--innodb-flush-log-at-trx-commit=2"]
        # Not in the tree: a socket's path must be short.
        super().__init__(where, tempfile.mkdtemp(prefix="lab-test-"), plugin=os.environ.get("TIDESDB_PLUGIN"),
                         options=[*small, *options], within=within)

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

    def tpcc(self, name, *options):
        """The command line of one of the generator's commands against this server; it runs on this machine."""
        return [TPCC, name, "-S", str(self.socket), *options]

    def iibench(self, name, *options):
        """The same of the insert benchmark."""
        return [IIBENCH, name, "-S", str(self.socket), *options]

    def reading_client(self, *options):
        """The command line of a client that reads statements from its input."""
        return self.client_command("", *options)[:-2]  # Without -e and its statement.

    def errors_of(self, statements):
        """Runs statements in one session that goes on after errors; returns the errors' codes.

        They come on its input: the client leaves out the rest of a -e after an error, --force or not.
        """
        client = subprocess.run(self.reading_client("--force"), input=statements, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, check=False)
        return error_codes(client.returncode, client.stderr)

    def value(self, statement):
        """The only value of a statement, as text."""
        return self.sql(statement).strip()
