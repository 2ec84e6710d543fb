"""The installed server as a process: where its files are, how to restart it with and without systemd, queries."""

import os
import re
import subprocess
import time
from pathlib import Path

from installer import build_plugin
from installer.shell import Failed, Step, Unavailable, clean_environment, output, run

_OPTION_FILES = ["/etc/my.cnf", "/etc/mysql/my.cnf"]  # What Debian's server reads.


def reads(directory, files):
    """Do these option files, or the files that they include, include that directory?"""
    left, seen = [Path(file) for file in files], set()
    while left:
        file = left.pop()
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        for kind, name in re.findall(r"(?m)^[ \t]*!(include|includedir)[ \t]+(.*\S)", file.read_text(errors="replace")):
            if kind == "include":
                left.append(Path(name))
            elif os.path.realpath(name) == os.path.realpath(directory):
                return True
            else:
                left += Path(name).glob("*.cnf")
    return False


class InstalledServer:
    """Debian's and Ubuntu's package mariadb-server."""
    config = Path("/etc/mysql/mariadb.conf.d/70-tidesdb.cnf")
    allocator_config = Path("/etc/mysql/mariadb.conf.d/70-tidesdb-allocator.cnf")
    allocator_unit = Path("/etc/systemd/system/mariadb.service.d/tidesdb-allocator.conf")
    plugin = Path("/usr/lib/mysql/plugin/ha_tidesdb.so")

    def __init__(self, log):
        self.log = log
        self.systemd = Path("/run/systemd/system").is_dir()

    def look(self, must_answer):
        """Finds its plugin directory, and checks that it lets us in (must_answer) and reads our options. Runs before
        any build or restart. Raises Unavailable."""
        self.plugin = self._plugin_directory(must_answer) / self.plugin.name
        files, directory = self._option_files(), self.config.parent
        if not reads(directory, files):
            raise Unavailable(f"the server does not read {directory}, where the options for TidesDB go: add the line "
                              f"\"!includedir {directory}/\" to {files[-1]}")

    def _plugin_directory(self, must_answer):
        """As the running server says; for a stopped one, as its options say."""
        try:
            return Path(self.sql("SELECT @@plugin_dir").strip())
        except Failed as error:
            nobody_there = self.pid() is None and re.search(r"ERROR 200[23]\b", str(error))
            if must_answer and not nobody_there:
                raise Unavailable("the running server does not answer us, so it could not be checked after its restart: "
                                  f"{str(error).splitlines()[-1]}\nLet root in by the socket (IDENTIFIED VIA "
                                  "unix_socket), or put user, password and socket into [client] of /root/.my.cnf. With "
                                  "--no-restart no answer is needed.") from error
        told = re.findall(r"(?m)^--plugin[-_]dir=(.+)", output(["my_print_defaults", "--mysqld"]))
        return Path(told[-1]) if told else self.plugin.parent

    def _option_files(self):
        pid = self.pid()
        words = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0") if pid else []
        own = [word.partition("=")[2] for word in words if word.startswith("--defaults-file=")]
        return own or _OPTION_FILES

    def pid(self):
        """The running server's pid, or None; without systemd, a server that does not answer counts as stopped."""
        if self.systemd:
            pid = int(output(["systemctl", "show", "--property", "MainPID", "--value", "mariadb"]).strip() or 0)
            return pid or None
        try:
            datadir, pid_file = self.sql("SELECT @@datadir, @@pid_file").strip().split("\t")
            pid = int((Path(datadir) / pid_file).read_text())
            name = Path(f"/proc/{pid}/comm").read_text().strip()
        except (Failed, OSError, ValueError):
            return None
        return pid if name == "mariadbd" else None

    def restart(self, timeout_s=120):
        """Restarts the server, or starts it, and waits until it answers."""
        with Step("Restarting the server"):
            self.read_units()
            if self.systemd:
                run(["systemctl", "restart", "mariadb"], log=self.log)
            elif Path("/etc/init.d/mariadb").exists():
                run(["/etc/init.d/mariadb", "restart"], log=self.log)
            else:
                raise Failed("neither systemd nor /etc/init.d/mariadb: restart the server yourself, after --no-restart")
            deadline = time.monotonic() + timeout_s
            while not self.answers():
                if time.monotonic() > deadline:
                    raise Failed(f"the server does not answer after its restart; see {self.log} and its own log")
                time.sleep(0.5)

    def read_units(self):
        """Makes systemd see an added or removed drop-in; otherwise the next restart still uses the old state."""
        if self.systemd:
            run(["systemctl", "daemon-reload"], log=self.log)

    def answers(self):
        done = subprocess.run(self._client("SELECT 1"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, env=clean_environment())
        return done.returncode == 0

    def sql(self, statements):
        """Runs statements as the caller's account (root by the socket). Raises Failed on an error."""
        return output(self._client(statements))

    def check_engine(self):
        """Writes and reads a table, and returns the plugin's version. Raises Failed if that fails."""
        build_plugin.check_rows(self.sql)
        return self.sql("SELECT PLUGIN_AUTH_VERSION FROM information_schema.PLUGINS "
                        "WHERE PLUGIN_NAME = 'TidesDB' AND PLUGIN_STATUS = 'ACTIVE'").strip()

    def tables(self):
        """The number of TidesDB's tables."""
        return int(self.sql("SELECT COUNT(*) FROM information_schema.TABLES WHERE ENGINE = 'TidesDB'"))

    @staticmethod
    def _client(statements):
        return ["mariadb", "--batch", "--skip-column-names", "-e", statements]
