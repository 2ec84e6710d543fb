"""A private MariaDB server: its own datadir, socket, pid file and log, all in one directory."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from installer import host
from installer.shell import Failed, clean_environment, output, run, uninterrupted

# A socket's path may have at most 107 bytes; a deep checkout can exceed that.
_SOCKET_PATH_MAX = 107
# What stands in the lines of an error log that tell why the server crashed; how far before the signal they are looked for,
# since a server that ran for long has many other errors; and the most that are shown.
_OF_CRASH = ("[ERROR]", "got signal", "ssertion", ".so(", "mariadbd(", "CHECK")
_BEFORE_SIGNAL = 15
_CRASH_LINES_MAX = 30


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class Server:
    """Owns: everything in directory (data/, plugins/, tmp/, mysqld.{sock,pid,err}), and the process.

    The account root has no password on the socket.
    """

    def __init__(self, environment, directory, plugin=None, options=(), port=None, config=None, within=None,
                 socket=None):
        """plugin: the path of a ha_tidesdb.so to load. port: None for none. config: a my.cnf to read.

        within: wraps the command line that starts the server, such as a MemoryGroup's command.
        socket: its path, if not in directory.
        """
        self.environment = environment
        self.directory = Path(directory).resolve()
        self.data = self.directory / "data"
        self.socket = Path(socket) if socket else self.directory / "mysqld.sock"
        self.pid_file = self.directory / "mysqld.pid"
        self.error_log = self.directory / "mysqld.err"
        self.plugin = Path(plugin) if plugin else None
        self.options = list(options)
        self.port = port
        self.config = config
        self.within = within or (lambda argv: argv)
        self.process = None
        if len(str(self.socket)) > _SOCKET_PATH_MAX:
            raise Failed(f"{self.socket} is too long for a socket's name "
                         f"({_SOCKET_PATH_MAX} bytes at most); use a shorter path")

    def tool(self, name):
        return self.environment.basedir / "bin" / name

    def inside(self, argv, cwd=None):
        """The command line that runs argv in the server's root, with all of the server's directories visible."""
        needs = [self.directory, self.socket.parent, *([self.plugin.parent] if self.plugin else [])]
        return self.environment.command(argv, cwd, needs)

    def initialise(self):
        """Makes the datadir if there is none. Makes it aside, so that an unfinished one is never mistaken for a datadir."""
        if (self.data / "mysql").exists():
            return
        unfinished = self.directory / "data.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        run(self.inside(
            [self.tool("mariadb-install-db"), "--no-defaults", f"--basedir={self.environment.basedir}",
             f"--datadir={unfinished}", f"--tmpdir={self._temporary()}", f"--user={user()}",
             "--auth-root-authentication-method=normal", "--skip-test-db", "--force"]),
            log=self.directory / "install-db.log")
        unfinished.rename(self.data)

    def _temporary(self):
        """The directory of temporary tables. Never shared with another server: a starting server empties it."""
        directory = self.directory / "tmp"
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def _plugin_dir(self):
        """The server's plugins and ours side by side; a server has one plugin directory."""
        directory = self.directory / "plugins"
        directory.mkdir(exist_ok=True)
        for path in [*self.environment.plugin_dir.glob("*.so"), *([self.plugin] if self.plugin else [])]:
            link = directory / path.name
            if link.is_symlink() and os.readlink(link) == str(path):
                continue
            link.unlink(missing_ok=True)
            link.symlink_to(path)
        return directory

    def command_line(self):
        defaults = f"--defaults-file={self.config}" if self.config else "--no-defaults"
        argv = [self.environment.mariadbd, defaults, f"--basedir={self.environment.basedir}",
                f"--datadir={self.data}", f"--socket={self.socket}", f"--pid-file={self.pid_file}",
                f"--log-error={self.error_log}", f"--tmpdir={self._temporary()}",
                f"--plugin-dir={self._plugin_dir()}", f"--user={user()}"]
        argv += ["--skip-networking"] if self.port is None else [
            f"--port={self.port}", "--bind-address=127.0.0.1"]
        if self.plugin:
            argv.append("--plugin-load-add=ha_tidesdb.so")
        return [str(a) for a in argv] + self.options

    def start(self, timeout_s=120):
        """Starts the server and waits until it answers. Raises Failed with its log's tail."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self.pid_file.unlink(missing_ok=True)
        with open(self.directory / "mysqld.out", "ab") as out, uninterrupted():
            self.process = subprocess.Popen(
                self.within(self.inside(self.command_line(), cwd=self.directory)), stdout=out, stderr=out,
                stdin=subprocess.DEVNULL, env=clean_environment(), start_new_session=True)
        deadline = time.monotonic() + timeout_s
        while not self.answers():
            if self.process.poll() is not None:
                raise Failed(f"the server ended at once; see {self.error_log}\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise Failed(f"the server does not answer; see {self.error_log}\n{self.log_tail()}")
            time.sleep(0.2)

    def answers(self):
        done = subprocess.run(self.client_command("SELECT 1"), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=clean_environment())
        return done.returncode == 0

    def client(self, *more):
        """The command line of the client; without a statement it reads them from its input."""
        return self.inside([self.tool("mariadb"), "--no-defaults", "-uroot", f"--socket={self.socket}", "--batch",
                            "--skip-column-names", *more])

    def client_command(self, statement, *more):
        return self.client(*more, "-e", statement)

    def sql(self, statement):
        """Runs statements as root and returns the rows as text. Raises Failed on an error."""
        return output(self.client_command(statement))

    def pid(self):
        """The running server's pid, or None. Trusts the pid file only if the process is this server."""
        try:
            pid = int(self.pid_file.read_text())
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError):
            return None
        return pid if f"--datadir={self.data}".encode() in arguments else None

    def stop(self, timeout_s=120):
        """Shuts the server down in order, if it is running."""
        pid = self.pid()
        if pid is None:
            return
        os.kill(pid, signal.SIGTERM)
        self._wait_gone(pid, timeout_s)

    def kill(self):
        """kill -9, as a crash of the process."""
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            self._wait_gone(pid, 30)

    def _wait_gone(self, pid, timeout_s):
        deadline = time.monotonic() + timeout_s
        while True:
            if self.process is not None:
                self.process.poll()  # Takes the exit status, if it is our child.
            if not _runs(pid):
                if self.process is not None:
                    self.process.poll()
                return
            if time.monotonic() > deadline:
                raise Failed(f"the server {pid} does not end; see {self.error_log}")
            time.sleep(0.05)

    def log_tail(self, lines=15):
        """The end of the error log; after a crash the lines that tell of it."""
        if not self.error_log.exists():
            return ""
        said = self.error_log.read_text(errors="replace").splitlines()
        return "\n".join(of_crash(said)[:_CRASH_LINES_MAX] or said[-lines:])


def of_crash(said):
    """Of an error log's lines, if its last start ended in a crash: the errors just before, and the stack."""
    start = max((i for i, line in enumerate(said) if " as process " in line), default=0)
    signal_at = next((i for i in range(start, len(said)) if "got signal" in said[i]), None)
    if signal_at is None:
        return []
    return [line for line in said[max(start, signal_at - _BEFORE_SIGNAL):] if any(mark in line for mark in _OF_CRASH)]


def user():
    return "root" if host.is_root() else os.environ.get("USER") or str(os.geteuid())


def _runs(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        # A killed process is a zombie before its other threads have ended, and these still hold its locks.
        return state != "Z" or len(list(Path(f"/proc/{pid}/task").iterdir())) > 1
    except OSError:
        return False
