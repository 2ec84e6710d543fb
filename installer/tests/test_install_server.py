"""What install.sh asks the installed server before it builds: the plugin directory, the option files, the login."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from installer.shell import Failed, Unavailable
from installer.steps import server as installed
from installer.steps.server import InstalledServer

DENIED = "mariadb ended with 1\nERROR 1698 (28000): Access denied for user 'root'@'localhost'"
NOBODY = "mariadb ended with 1\nERROR 2002 (HY000): Can't connect to local server through socket '/run/x.sock' (2)"


class Looked(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.base = Path(temporary.name)
        self.ours = self.base / "mariadb.conf.d"
        self.main = self.base / "my.cnf"
        self.main.write_text(f"[client]\n!includedir {self.ours}/\n")
        self.server = InstalledServer(self.base / "log")
        self.server.config = self.ours / "70-tidesdb.cnf"
        self.answer = "/opt/plugins/\n"
        self.pid = None
        self.options = "--port=3307\n"
        for target, name, value in [(installed, "_OPTION_FILES", [str(self.base / "none.cnf"), str(self.main)]),
                                    (installed, "output", lambda argv: self.options),
                                    (self.server, "sql", self.sql), (self.server, "pid", lambda: self.pid)]:
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def sql(self, _):
        if isinstance(self.answer, Failed):
            raise self.answer
        return self.answer

    def test_the_running_server_says_where_its_plugins_are(self):
        self.pid = os.getpid()
        self.server.look(must_answer=True)
        self.assertEqual(self.server.plugin, Path("/opt/plugins/ha_tidesdb.so"))

    def test_of_one_that_does_not_run_its_options_say_it(self):
        self.answer = Failed(NOBODY)
        self.server.look(must_answer=True)
        self.assertEqual(self.server.plugin, InstalledServer.plugin)
        self.options = "--plugin_dir=/first\n--port=3307\n--plugin-dir=/opt/other\n"
        self.server.look(must_answer=True)
        self.assertEqual(self.server.plugin, Path("/opt/other/ha_tidesdb.so"))

    def test_one_that_does_not_let_us_in_is_refused(self):
        for pid, said in [(os.getpid(), DENIED), (None, DENIED), (os.getpid(), NOBODY)]:
            self.pid, self.answer = pid, Failed(said)
            with self.assertRaises(Unavailable) as caught:
                self.server.look(must_answer=True)
            self.assertIn(said.splitlines()[1], str(caught.exception))
            self.assertIn(".my.cnf", str(caught.exception))
            self.server.look(must_answer=False)

    def test_one_that_does_not_read_our_options_is_refused(self):
        self.main.write_text("#!includedir nothing\n[mysqld]\n")
        with self.assertRaisesRegex(Unavailable, f'"!includedir {self.ours}/" to {self.main}'):
            self.server.look(must_answer=True)

    def test_the_option_file_that_it_was_started_with(self):
        other = self.base / "other.cnf"
        other.write_text("[mysqld]\n")
        with subprocess.Popen(["sh", "-c", "echo up; read -r line", "mariadbd", f"--defaults-file={other}"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            self.pid = process.pid
            with self.assertRaisesRegex(Unavailable, "other.cnf"):
                self.server.look(must_answer=True)
            process.communicate()


class Reads(unittest.TestCase):
    def test_what_included_files_include(self):
        with tempfile.TemporaryDirectory() as directory:
            base = Path(directory)
            ours = base / "ours"
            (base / "d").mkdir()
            (base / "link").symlink_to(ours)
            (base / "my.cnf").write_text(f"[mysqld]\n  !include {base}/my.cnf\n!include {base}/a.cnf\n")
            (base / "a.cnf").write_text(f"!includedir {base}/d\n")
            self.assertFalse(installed.reads(ours, [base / "my.cnf"]))
            (base / "d" / "b.txt").write_text(f"!includedir {base}/link\n")
            self.assertFalse(installed.reads(ours, [base / "my.cnf"]))
            (base / "d" / "b.cnf").write_text(f"!includedir {base}/link\n")
            self.assertTrue(installed.reads(ours, [base / "none.cnf", base / "my.cnf"]))


if __name__ == "__main__":
    unittest.main()
