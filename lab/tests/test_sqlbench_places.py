"""Tests of sqlbench.sh: where its files are, who owns a database, its messages when it ends early or cannot draw."""

import contextlib
import io
import os
import subprocess
import sys
import unittest
from unittest import mock

from installer.shell import Failed, Unavailable
from lab.base import debian
from lab.reports import plotly
from lab.runners.sqlbench import places, running, settings, study, target
from lab.runners.sqlbench import __main__ as sqlbench
from lab.study.journal import Journal
from lab.tests.cases import folder
from lab.tests.test_sqlbench import FakeServer, GoesOn

# A client and its server in one; folders are databases.
_CLIENT = """#!/bin/sh
for statement; do :; done
name=$(echo "$statement" | sed -n "s/.*[\\`'=]\\([a-z_]*\\)[\\`'].*/\\1/p")
case "$statement" in
    *"@@hostname, @@datadir"*) printf 'here\\t/var/lib/mysql\\n' ;;
    *SCHEMATA*) [ ! -d "DATABASES/$name" ] || echo 1 ;;
    "CREATE DATABASE"*) mkdir "DATABASES/$name" 2>/dev/null || { echo "ERROR 1007 database exists" >&2; exit 1; } ;;
    "DROP DATABASE"*) rm -rf "DATABASES/$name" ;;
    *pid_file*) printf '/none/\\tx.pid\\tx\\n' ;;
    "SHOW ENGINES") printf 'InnoDB\\tDEFAULT\\n' ;;
    *@@datadir*) echo /none/ ;;
esac
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.base = folder(self)
        self.databases = self.base / "databases"
        self.databases.mkdir()
        self.client = self.base / "client"
        self.client.write_text(_CLIENT.replace("DATABASES", str(self.databases)))
        self.client.chmod(0o755)


class Together(unittest.TestCase):
    def test_what_would_have_no_effect_is_refused(self):
        yours = {"MYSQLD": "/x/bin/mariadbd"}
        for variables, said in (({"MYSQL_BIN": "/x"}, "^MYSQL_BIN: goes with MYSQLD"),
                                ({"BUILD_DIR": "/x"}, "^BUILD_DIR: goes with MYSQLD"),
                                ({"SOCKET": "/x", "DATA_DIR": "/y"}, "^DATA_DIR: is for servers that sqlbench starts"),
                                ({"SOCKET": "/x", "INNODB_DATA_DIR": "/y"}, "^INNODB_DATA_DIR: is for"),
                                ({"SOCKET": "/x", "TIDESDB_SERVER": "debian12"}, "^TIDESDB_SERVER: is for servers"),
                                ({"SOCKET": "/x", "PLUGIN_DIR": "/y"}, "^PLUGIN_DIR: goes with MYSQLD"),
                                ({**yours, "TIDESDB_SERVER": "debian12"}, "^TIDESDB_SERVER: .* MYSQLD is your own")):
            with self.assertRaisesRegex(Failed, said):
                places.read(variables)
        places.read({**yours, "SOCKET": "/tmp/x", "MYSQL_BIN": "/x", "DATA_DIR": "/tmp/y", "INNODB_DATA_DIR": "/tmp/z"})
        self.assertTrue(places.read({"SOCKET": "/x", "MYSQL_BIN": "/x"}).running)


class Wrong(Case):
    def test_a_place_that_is_none_is_one_sentence_before_anything_is_built(self):
        for name in ("OUTPUT_DIR", "DATA_DIR", "INNODB_DATA_DIR"):
            for below in ("", "/below"):
                with self.assertRaisesRegex(Failed, f"^{name}=.*: .*/client is a file, not a folder"):
                    places.read({name: f"{self.client}{below}"})
        with mock.patch("os.access", return_value=False), self.assertRaisesRegex(Failed, "^OUTPUT_DIR=.*may not write in"):
            places.read({})
        with self.assertRaisesRegex(Failed, "^DATA_DIR=.*: File name too long"):
            places.make(self.base / ("x" * 300), "DATA_DIR")

    def test_the_command_ends_with_one_sentence(self):
        done = subprocess.run([sys.executable, "-m", "lab.runners.sqlbench"], capture_output=True, text=True, check=False,
                              env={**os.environ, "OUTPUT_DIR": "/etc/passwd"})
        self.assertEqual((done.returncode, done.stderr),
                         (1, "error: OUTPUT_DIR=/etc/passwd: /etc/passwd is a file, not a folder\n"))

    def test_a_program_that_is_none(self):
        (self.base / "text").touch()
        for path, said in (("/nowhere/x", "there is no such file"), (self.base, "is not a program"),
                           (self.base / "text", "is not a program")):
            with self.assertRaisesRegex(Failed, f"^MYSQL_BIN=.*: {said}"):
                running.Running(settings.read({}), places.read({"SOCKET": "/x", "MYSQL_BIN": str(path)}), None)

    def test_which_of_the_two_directories_is_somebody_s(self):
        for path in ("bin/mariadbd", "lib/plugin/ha_tidesdb.so", "theirs/precious"):
            (self.base / path).parent.mkdir(parents=True, exist_ok=True)
            (self.base / path).touch(0o755)
        variables = {"MYSQLD": str(self.base / "bin/mariadbd"), "PLUGIN_DIR": str(self.base / "lib/plugin"),
                     "DATA_DIR": str(self.base / "data"), "INNODB_DATA_DIR": str(self.base / "theirs")}
        server = target.OwnServers(settings.read(variables), places.read(variables), None)
        self.addCleanup(server.close)
        with self.assertRaisesRegex(Failed, "^INNODB_DATA_DIR: .*/theirs holds something that sqlbench did not make"):
            server.prepare()


class Databases(Case):
    """Databases of a running server."""

    def server(self, socket="/x.sock"):
        variables = {"ENGINES": "InnoDB", "SOCKET": socket, "MYSQL_BIN": str(self.client)}
        return running.Running(settings.read(variables), places.read(variables), None)

    def journal(self):
        journal = Journal(self.base / "journal.jsonl", "sqlbench", {})
        self.addCleanup(journal.close)
        return journal

    def there(self):
        return [path.name for path in self.databases.iterdir()]

    def test_one_that_is_there_is_refused_also_an_empty_one(self):
        self.server().take_database(None)
        (self.databases / "sbtest").mkdir()
        with self.assertRaisesRegex(Failed, "^MYSQL_DB: the server at /x.sock already has a database sbtest; choose"):
            self.server().take_database(None)
        with self.assertRaisesRegex(Failed, "^MYSQL_DB: "):
            self.server().take_database(self.journal())

    def test_one_that_somebody_makes_meanwhile_stays(self):
        server = self.server()
        server.take_database(self.journal())
        (self.databases / "sbtest").mkdir()
        with self.assertRaisesRegex(Failed, "1007"), server.measured("InnoDB") as session:
            session.create_database()
        self.assertEqual(self.there(), ["sbtest"])

    def test_one_that_was_not_made_yet_is_not_dropped(self):
        server = self.server()
        server.take_database(self.journal())
        with self.assertRaisesRegex(Failed, "before it"), server.measured("InnoDB"):
            (self.databases / "sbtest").mkdir()
            raise Failed("something before it")
        self.assertEqual(self.there(), ["sbtest"])

    def test_its_own_is_dropped(self):
        server = self.server()
        journal = self.journal()
        server.take_database(journal)
        for _ in range(2):
            with server.measured("InnoDB") as session:
                session.create_database()
                self.assertEqual(self.there(), ["sbtest"])
            self.assertEqual(self.there(), [])
        (self.databases / "sbtest").mkdir()
        with self.assertRaisesRegex(Failed, "^MYSQL_DB: "):  # Ours was dropped, so this one is somebody else's.
            server.take_database(journal)

    def killed(self):
        """A sitting that was killed while it measured."""
        server, journal = self.server(), Journal(self.base / "journal.jsonl", "sqlbench", {})
        server.take_database(journal)
        journal.begin("InnoDB oltp_insert")
        server.create_database()
        journal.close()

    def test_what_a_killed_sitting_left_is_dropped_by_the_next(self):
        self.killed()
        journal = self.journal()
        self.server().take_database(journal)
        self.assertEqual(self.there(), [])
        self.assertRegex(journal.history()[0], "^Interrupted during: InnoDB oltp_insert")

    def test_on_another_server_it_is_somebody_s(self):
        self.killed()
        with self.assertRaisesRegex(Failed, "^MYSQL_DB: "):
            self.server("/y.sock").take_database(self.journal())
        self.assertEqual(self.there(), ["sbtest"])

    def test_a_refused_one_leaves_no_run(self):
        (self.databases / "sbtest").mkdir()
        variables = {"ENGINES": "InnoDB", "SOCKET": "/x.sock", "MYSQL_BIN": str(self.client),
                     "OUTPUT_DIR": str(self.base / "out")}
        server = self.server()
        with self.assertRaisesRegex(Failed, "^MYSQL_DB: "):
            sqlbench.chosen(settings.read(variables), places.read(variables), server).prepare(None)
        self.assertEqual(list((self.base / "out").iterdir()), [])


class WholeServer(FakeServer):
    """Stands for OwnServers and Running."""

    def __init__(self, _settings, _places, _log):
        """Nothing to make."""

    def prepare(self):
        """Nothing to prepare."""

    def close(self):
        """Nothing is left."""


class Whole(unittest.TestCase):
    """The whole command, from its variables to its last line, with fake servers and a fake sysbench."""

    def setUp(self):
        self.output = folder(self) / "results"
        self.variables = {"WORKLOADS": "oltp_insert", "OUTPUT_DIR": str(self.output)}
        self.measured, self.trouble, self.installed, self.missing = [], {}, [], {}

    def _install(self, wanted, _log):
        self.installed += wanted
        for package in wanted:
            if package in self.missing:
                raise self.missing[package]

    def run_it(self, sysbench="/bin/sh"):
        """(its output, its exit code)."""
        said = io.StringIO()
        with contextlib.ExitStack() as stack:
            for where, name, what in ((study.Study, "measure", lambda it, *given: GoesOn.measure(self, it, *given)),
                                      (target, "OwnServers", WholeServer), (sqlbench, "Running", WholeServer),
                                      (sqlbench.apt, "install", self._install), (plotly, "source", lambda: "/* plotly */"),
                                      (sqlbench.shutil, "which", lambda *_, **__: sysbench),
                                      (sqlbench, "_environment", lambda: self.variables),
                                      (sqlbench.sitting, "interrupt_on_term", lambda: None)):
                stack.enter_context(mock.patch.object(where, name, what))
            stack.enter_context(contextlib.redirect_stdout(said))
            stack.enter_context(contextlib.redirect_stderr(said))
            return sqlbench._main(), said.getvalue()

    def test_charts_that_cannot_be_drawn_are_a_sentence(self):
        load = debian.load

        def without(module, package):
            if module.startswith("matplotlib"):
                raise Failed(f"{module} is missing: apt-get install {package}")
            return load(module, package)

        with mock.patch.object(debian, "load", without):
            code, said = self.run_it()
        self.assertEqual(code, 0, said)
        self.assertIn("charts are left out: matplotlib is missing: apt-get install python3-matplotlib", said)
        self.assertRegex(said, r"report: \S+\.md")
        for kind in ("summary_*.csv", "detail_*.csv", "raw_*/study.json", "report_*.md", "report_*.html"):
            self.assertEqual(len(list(self.output.glob(kind))), 1, kind)

    def test_what_it_needs_is_installed_for_any_server(self):
        for more in ({}, {"SOCKET": "/x.sock"}, {"MYSQLD": "/x/bin/mariadbd"}):
            self.installed = []
            self.variables |= {"PLOT": "0", "FRESH": "1", "MYSQLD": "", "SOCKET": "", **more}
            self.assertEqual(self.run_it(sysbench=None)[0], 0)
            self.assertLessEqual({"sysbench", "python3-rich", "python3-matplotlib", "python3-jinja2"}, set(self.installed))

    def test_without_sysbench_nothing_is_measured_and_without_the_rest_it_is(self):
        self.variables["PLOT"] = "0"
        why = Unavailable("not root, and these packages are missing: python3-rich")
        self.missing = {"python3-rich": why}
        code, said = self.run_it()
        self.assertEqual((code, len(self.measured)), (0, 2))
        self.assertIn(f"{why}; the figures do not need it", said)
        self.missing, self.measured = {"sysbench": Unavailable("not root, and these packages are missing: sysbench")}, []
        with self.assertRaisesRegex(Failed, "packages are missing: sysbench"):
            self.run_it(sysbench=None)
        self.assertEqual(self.measured, [])

    def interrupted(self, what, *how):
        said = io.StringIO()
        with mock.patch.object(*what, side_effect=KeyboardInterrupt()), \
                mock.patch("builtins.print", lambda *text, **_: said.write(" ".join(map(str, text)) + "\n")):
            self.assertEqual(self.run_it(*how)[0], 130)
        return said.getvalue()

    def test_an_interruption_says_how_to_go_on(self):
        self.assertIn("interrupted; all its programs have ended. Nothing was measured.",
                      self.interrupted((WholeServer, "prepare")))
        said = self.interrupted((sqlbench.sitting, "once"))
        self.assertIn(f"Resume with: the same command, which finds this run in OUTPUT_DIR={self.output}", said)
        self.variables["FRESH"] = "1"
        self.assertIn("Resume with: the same command without FRESH=1, ", self.interrupted((sqlbench.sitting, "once")))

    def test_one_before_the_report_is_there_is_gone_on_with(self):
        self.interrupted((study.Study, "report"))
        self.assertEqual(len(self.measured), 2)
        self.variables["PLOT"] = "0"
        with mock.patch("time.strftime", return_value="another"):
            code, said = self.run_it()
        self.assertEqual((code, len(self.measured)), (0, 2), said)
