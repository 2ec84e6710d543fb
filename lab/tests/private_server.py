"""A MariaDB server of a test's own: its datadir and socket in a new directory, no port, no shared files."""

import os
import shutil
import signal
import subprocess
import tempfile
import time


def _find(name, *others):
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/bin"])
    for candidate in (name, *others):
        found = shutil.which(candidate, path=path)
        if found:
            return found
    return None


def available():
    """True when a server is installed."""
    return _find("mariadbd", "mysqld") is not None and _find("mariadb-install-db", "mysql_install_db") is not None


class PrivateServer:
    """Use it as a context: the server runs inside, and nothing of it is left after."""

    def __init__(self, options=()):
        # A short path: a socket's must fit in 107 bytes.
        self.root = tempfile.mkdtemp(prefix="tpcc-test-", dir=os.environ.get("TMPDIR", "/tmp"))
        self.datadir = os.path.join(self.root, "data")
        self.socket = os.path.join(self.root, "mysqld.sock")
        self.log = os.path.join(self.root, "error.log")
        self.options = list(options)
        self.process = None

    def __enter__(self):
        try:
            self._install()
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        self.kill(signal.SIGKILL)
        shutil.rmtree(self.root, ignore_errors=True)

    def _user(self):
        return ["--user=root"] if os.geteuid() == 0 else []

    def _install(self):
        command = [_find("mariadb-install-db", "mysql_install_db"), "--no-defaults", *self._user(),
                   "--datadir=" + self.datadir, "--auth-root-authentication-method=normal",
                   "--skip-test-db", "--skip-name-resolve"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError("mariadb-install-db: " + done.stdout + done.stderr)

    def start(self, timeout_s=60):
        command = [_find("mariadbd", "mysqld"), "--no-defaults", *self._user(),
                   "--datadir=" + self.datadir, "--socket=" + self.socket, "--skip-networking",
                   "--pid-file=" + os.path.join(self.root, "mysqld.pid"), "--log-error=" + self.log,
                   "--innodb-buffer-pool-size=128M", "--innodb-log-file-size=96M",
                   "--performance-schema=OFF", *self.options]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + timeout_s
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                with open(self.log, encoding="utf-8", errors="replace") as log:
                    raise RuntimeError("the server does not start:\n" + log.read()[-3000:])
            time.sleep(0.1)

    def _answers(self):
        command = [_find("mariadb-admin", "mysqladmin"), "--no-defaults", "-uroot", "-S", self.socket, "ping"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def kill(self, number=signal.SIGKILL):
        """Ends the server by a signal and waits for its end."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait()
        self.process = None

    def sql(self, statements, database="tpcc"):
        """Runs statements and returns the rows as lists of texts."""
        command = [_find("mariadb", "mysql"), "--no-defaults", "-uroot", "-S", self.socket, "-N", "-B", database]
        done = subprocess.run(command, input=statements, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines()]
