"""A server from source as a process: its account, its data, its start, queries."""

import os
import shutil
from pathlib import Path

from installer import server_run
from installer.shell import Failed, Step, output, run
from installer.source import service
from installer.steps.server import InstalledServer

ACCOUNT = "mysql"


class SourceServer(InstalledServer):
    """Owns: data/, run/ and log/ of the prefix."""
    unit = Path("/etc/systemd/system") / f"{service.UNIT}.service"

    def __init__(self, paths, log):
        super().__init__(log)
        self.paths = paths

    def make_account(self):
        """True if it had to be made."""
        if ACCOUNT in {line.partition(":")[0] for line in output(["getent", "passwd"]).splitlines()}:
            return False
        run(["useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent",
             "--shell", "/usr/sbin/nologin", ACCOUNT], log=self.log)
        return True

    def _has_data(self):
        return (self.paths.data / "mysql").exists()

    def check_data(self):
        """Raises Failed if the place of the data holds something else."""
        if not self._has_data() and self.paths.data.exists() and any(self.paths.data.iterdir()):
            raise Failed(f"{self.paths.data} holds something other than a server's data; move it away")

    def initialise(self):
        """Makes the server's directories, and its data if there is none. root logs in by the socket, as in Debian."""
        for name in ("run", "log"):
            path = self.paths.prefix / name
            path.mkdir(parents=True, exist_ok=True)
            shutil.chown(path, ACCOUNT, ACCOUNT)
        if self._has_data():
            return
        # Made aside, so that an unfinished directory is never mistaken for a finished one.
        unfinished = self.paths.prefix / "data.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        with Step("Making the server's data directory"):
            run([self.paths.prefix / "bin" / "mariadb-install-db", "--no-defaults", f"--basedir={self.paths.prefix}",
                 f"--datadir={unfinished}", f"--user={ACCOUNT}", "--auth-root-authentication-method=socket",
                 "--auth-root-socket-user=root", "--skip-test-db"], log=self.log)
            unfinished.rename(self.paths.data)

    def pid(self):
        try:
            pid = int(service.pid_file(self.paths).read_text())
            program = Path(os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]))
        except (OSError, ValueError):
            return None
        return pid if program in service.programs(self.paths) else None

    def restart(self, timeout_s=0):
        """Restarts the server, or starts it, and waits until it answers."""
        with Step("Starting the server"):
            if self.systemd:
                run(["systemctl", "daemon-reload"], log=self.log)
                run(["systemctl", "enable", service.UNIT], log=self.log)
            run([self.paths.control, "restart"], log=self.log)

    def stop(self, disable=False):
        if self.systemd and disable:
            run(["systemctl", "disable", "--now", service.UNIT], log=self.log)
        elif self.pid() is not None:
            run([self.paths.control, "stop"], log=self.log)

    def upgrade(self):
        """Upgrades the system tables to this version. The data name the version of the last upgrade."""
        with Step("Upgrading the system tables if needed"):
            run(self._asks("mariadb-upgrade"), log=self.log)

    def _client(self, statements):
        return self._asks("mariadb", "--batch", "--skip-column-names", "-e", statements)

    def _asks(self, program, *more):
        """A command line that asks this server, even if ~/.my.cnf or the environment names another."""
        return [self.paths.prefix / "bin" / program, f"--defaults-file={self.paths.config}", "--host=localhost", *more]


def choose_port(other_server):
    """The first free port from 3306 on. other_server: a server that is stopped now may need 3306 later."""
    for port in range(3307 if other_server else 3306, 3406):
        if server_run.is_free(port):
            return port
    raise Failed("no port from 3306 to 3405 is free; choose one with --port")
