"""A server from source as a process: how the start script and the installer recognise it, and which server they ask."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

from installer.shell import Failed, output, run
from installer.source import options, service
from installer.source.server import SourceServer

# Answers like the client whose name it has, and records how it was called.
_CLIENT = """#!/bin/sh
echo "${0##*/} $*" >>"${0%/*/*}/asked"
"""

# Runs until it is ended, with the name and the command line of a server.
_PROGRAM = """#!/bin/bash
prefix=${0%/*/*}
echo $$ >"$prefix/run/mysqld.pid"
exec -a "$0" "$prefix/stand-in/mariadbd" 600
"""


class Prefix(unittest.TestCase):
    def setUp(self):
        temporary = TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.base = Path(temporary.name)
        self.paths = options.Paths(self.base / "m", self.base / "b")
        for name in ("bin", "etc", "log", "run", "sbin", "stand-in"):
            (self.paths.prefix / name).mkdir(parents=True)
        for name in ("mariadb", "mariadb-admin", "mariadb-upgrade"):
            self.script(self.paths.prefix / "bin" / name, _CLIENT)
        self.script(self.paths.prefix / "sbin" / "mariadbd", _PROGRAM)
        shutil.copy(shutil.which("sleep"), self.paths.prefix / "stand-in" / "mariadbd")
        self.script(self.paths.control, service.control(self.paths, None))
        self.server = SourceServer(self.paths, self.base / "install.log")

    @staticmethod
    def script(path, text):
        path.write_text(text)
        path.chmod(0o755)

    def foreign(self):
        """Somebody else's server, whose pid is in our pid file since a reboot."""
        program = self.base / "other" / "mariadbd"
        program.parent.mkdir()
        shutil.copy(shutil.which("sleep"), program)
        process = subprocess.Popen([program, "600"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        service.pid_file(self.paths).write_text(f"{process.pid}\n")
        return process

    def asked(self):
        return (self.paths.prefix / "asked").read_text().splitlines()


class Asking(Prefix):
    def test_only_this_server_is_asked(self):
        """The user's ~/.my.cnf names the distribution's server, which would otherwise be asked, changed and upgraded."""
        self.server.sql("SELECT 1")
        self.server.upgrade()
        mine = f"--defaults-file={self.paths.config} --host=localhost"
        self.assertEqual(self.asked(), [f"mariadb {mine} --batch --skip-column-names -e SELECT 1",
                                        f"mariadb-upgrade {mine}"])

    def test_another_server_under_the_number_that_was_left(self):
        other = self.foreign()
        self.assertIsNone(self.server.pid())
        service.pid_file(self.paths).write_text("none\n")
        self.assertIsNone(self.server.pid())
        self.assertIsNone(other.poll())

    def test_what_is_no_servers_data(self):
        self.server.check_data()
        self.paths.data.mkdir()
        self.server.check_data()
        (self.paths.data / "thesis.txt").touch()
        with self.assertRaises(Failed):
            self.server.check_data()
        (self.paths.data / "mysql").mkdir()
        self.server.check_data()


@unittest.skipIf(Path("/run/systemd/system").is_dir(), "the start script hands over to systemd")
@unittest.skipUnless(shutil.which("bash") and shutil.which("setsid"), "no stand-in for a server")
class StartScript(Prefix):
    def control(self, command):
        return output([self.paths.control, command]).strip()

    def test_start_and_stop(self):
        self.assertRegex(self.control("start"), r"runs as \d+")
        self.addCleanup(run, [self.paths.control, "stop"])
        pid = self.server.pid()
        self.assertIn(f"already runs as {pid}", self.control("start"))
        self.assertEqual(self.asked(), [
            f"mariadb-admin --defaults-file={self.paths.config} --host=localhost --no-beep --connect-timeout=5 ping"])
        self.replace()
        self.assertEqual(self.control("status"), f"runs as {pid}")
        self.assertEqual(self.server.pid(), pid)
        self.assertNotIn(f"runs as {pid}", self.control("restart"))
        self.assertEqual(self.control("stop"), "stopped")
        self.assertIsNone(self.server.pid())

    def replace(self):
        """Another version is put while it runs: the kernel then calls the program "... (deleted)"."""
        for name in ("sbin", "stand-in"):
            program = self.paths.prefix / name / "mariadbd"
            copy = shutil.copy(program, program.with_name("new"))
            os.replace(copy, program)

    def test_another_server_under_the_number_that_was_left(self):
        other = self.foreign()
        with self.assertRaises(Failed) as caught:
            self.control("status")
        self.assertIn("ended with 3", str(caught.exception))
        self.assertEqual(self.control("stop"), "does not run")
        self.assertIsNone(other.poll())
        self.addCleanup(run, [self.paths.control, "stop"])
        self.assertRegex(self.control("start"), r"^runs as (?!%d$)\d+$" % other.pid)

    def test_one_whose_end_nobody_asks_for_has_ended(self):
        """This happens below run-tests, which adopts orphans, and in containers whose first process does not reap them."""
        server = subprocess.Popen([self.paths.prefix / "sbin" / "mariadbd"])
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        while not self.server.pid():
            os.sched_yield()
        stop = subprocess.run([self.paths.control, "stop"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((stop.stdout.strip(), stop.returncode), ("stopped", 0))
        self.assertIsNone(self.server.pid())

    def test_without_a_server(self):
        service.pid_file(self.paths).write_text("999999999\n")  # Higher than any pid.
        with self.assertRaises(Failed) as caught:
            run([self.paths.control, "status"])
        self.assertIn("ended with 3", str(caught.exception))
        self.assertIn("does not run", str(caught.exception))
        self.assertNotIn("/proc", str(caught.exception))
        with self.assertRaises(Failed):
            self.control("begin")


if __name__ == "__main__":
    unittest.main()
