"""The order of installing into the distribution's server, when killed, interrupted or failing; the server is a fake."""

import errno
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import ExitStack, nullcontext, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer.install import options
from installer.install import __main__ as install
from installer.shell import TREE, Failed, Step, Unavailable, say
from installer.steps import allocator, interruption, one_run, undo
from installer.steps.record import Record
from installer.tests.signals import NUMBERS, keep_handlers


class Killed(BaseException):
    """Acts like kill -9: the run does nothing after it."""


class Server:
    """A fake server. It has loaded the plugin and the allocator that were installed when it started."""

    def __init__(self, base):
        self.plugin, self.config = base / "plugin" / "ha_tidesdb.so", base / "etc" / "70.cnf"
        self.allocator_config, self.allocator_unit = base / "etc" / "71.cnf", base / "unit" / "a.conf"
        self.running, self.loaded, self.allocator, self.restarts, self.broken = 1, None, "system", 0, []

    def pid(self):
        return self.running

    def restart(self):
        self.restarts += 1
        self.loaded = self.plugin.read_bytes() if self.plugin.exists() and self.config.exists() else None
        self.allocator = "jemalloc" if self.allocator_unit.exists() else "system"
        if self.loaded in self.broken:
            self.running = None
            raise Failed("does not start")
        self.running = 1

    def read_units(self):
        pass

    def look(self, must_answer):
        pass

    def answers(self):
        return True

    def tables(self):
        return 2

    def check_engine(self):
        if self.loaded is None:
            raise Failed("Unknown storage engine 'TidesDB'")
        return "1"


class Installing(unittest.TestCase):
    """Runs install without its long steps; `asked` lists those that it would have begun."""

    def setUp(self):
        keep_handlers(self)
        self.base = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.base)
        self.server = Server(self.base)
        self.built, self.staged = self.base / "built.so", self.base / "staged"
        self.built.write_bytes(b"v1")
        (self.staged / "lib").mkdir(parents=True)
        (self.staged / "lib" / "libtidesdb.a").write_text("1")
        self.asked = []
        environment = SimpleNamespace(version="10.11.18", root=None)
        patches = ExitStack()
        self.addCleanup(patches.close)
        for target, name, instead in (
                (install, "InstalledServer", lambda _: self.server),
                (install, "BACKUP_PROGRAM", self.base / "bin" / "tidesdb-backup"),
                (undo, "InstalledServer", lambda _: self.server),
                (undo, "_OPTION_FILES", (str(self.base / "my.cnf"), str(self.base / "etc"))),
                (install.distribution, "installed_version", lambda: "1:10.11.18"),
                (install.distribution, "environment", lambda *_: environment),
                (install.build, "build", lambda *_: self.step("build", self.built)),
                (install.library, "stage", lambda *_: self.staged),
                (install.allocator, "library", self.library),
                (install.allocator, "of_process", lambda _: self.server.allocator)):
            patches.enter_context(mock.patch.object(target, name, instead))

    def library(self, _record, name, *_):
        return self.step("allocator", None if name in (None, "system") else f"/lib{name}.so")

    def step(self, name, found):
        self.asked.append(name)
        return found

    def install(self, *options_):
        with redirect_stdout(StringIO()) as said:
            install.install(options.parse(list(options_)), Record(self.base / "record"))
        return said.getvalue()

    def killed_at(self, target, name, *options_):
        with mock.patch.object(target, name, side_effect=Killed), self.assertRaises(Killed):
            self.install(*options_)

    def test_once_and_again(self):
        self.assertIn("changed in this run", self.install())
        self.assertEqual((self.server.loaded, self.server.restarts), (b"v1", 1))
        self.assertIn("nothing changed", self.install())
        self.assertEqual(self.server.restarts, 1)
        self.install("--rebuild-plugin")
        self.assertEqual(self.server.restarts, 2)

    def test_killed_before_the_restart_the_same_command_ends_it(self):
        prefix = self.base / "opt"
        for name in ("put", "check"):  # The second one: killed before anything was put.
            self.killed_at(install.library, name, "--tidesdb-prefix", str(prefix))
        self.install("--tidesdb-prefix", str(prefix))
        self.assertEqual((self.server.loaded, self.server.restarts), (b"v1", 1))
        self.assertTrue((prefix / "lib" / "libtidesdb.a").exists())

    def test_killed_among_the_librarys_files_a_plain_run_ends_it(self):
        prefix = self.base / "opt"
        (self.staged / "lib" / "z").write_text("2")
        put = Record.put

        def dies_at_z(record, path, *how, **more):
            if Path(path).name == "z":
                raise Killed
            return put(record, path, *how, **more)

        with mock.patch.object(Record, "put", dies_at_z), self.assertRaises(Killed):
            self.install("--tidesdb-prefix", str(prefix))
        self.install()
        self.assertTrue((prefix / "lib" / "z").exists())

    def test_killed_with_a_newer_plugin_the_next_run_restarts(self):
        self.install()
        self.built.write_bytes(b"v2")
        self.killed_at(self.server, "restart")
        self.install()
        self.assertEqual(self.server.loaded, b"v2")

    def test_killed_with_an_allocator_a_plain_run_ends_it(self):
        self.killed_at(allocator, "set_up", "--allocator", "jemalloc")
        self.install()
        self.assertEqual((self.server.loaded, self.server.allocator), (b"v1", "jemalloc"))
        self.killed_at(self.server, "restart", "--allocator", "system")
        self.install()
        self.assertEqual(self.server.allocator, "system")
        self.assertFalse(self.server.allocator_unit.parent.exists())

    def test_what_is_refused_is_refused_before_the_build(self):
        with mock.patch.object(install.allocator, "library", side_effect=Unavailable("libjemalloc2 is missing")), \
                self.assertRaisesRegex(Unavailable, "libjemalloc2"):
            self.install("--allocator", "jemalloc", "--skip-deps")
        with self.assertRaisesRegex(Failed, f"--tidesdb-prefix.*{self.built} is not a directory"):
            self.install("--tidesdb-prefix", str(self.built / "here"))
        with mock.patch("shutil.disk_usage", return_value=SimpleNamespace(free=1 << 20)), \
                self.assertRaisesRegex(Failed, "--tidesdb-prefix.*needs 100 MiB, and 1 MiB are free"):
            self.install("--tidesdb-prefix", str(self.base / "opt"))
        with mock.patch("os.access", return_value=False), self.assertRaisesRegex(Failed, "is not writable"):
            self.install()
        self.assertNotIn("build", self.asked)
        self.assertFalse((self.base / "record").exists())

    def test_a_comparison_preloads_the_library_that_was_found(self):
        """A name instead would install the package, even with --skip-deps."""
        with mock.patch.object(install.guided, "Pgo") as pgo, mock.patch.object(install.guided, "_packages"):
            pgo().profile.return_value = {"digest": "d", "trained": "t"}
            pgo().compare.return_value = {"overall": {"said": "+1 %", "verdict": "gain"}}
            pgo().optimised.return_value = self.built
            self.install("--pgo", "--allocator", "jemalloc")
        pgo().compare.assert_called_with(self.built, self.built, "/libjemalloc.so")
        self.assertEqual(self.asked[0], "allocator")

    def test_a_plugin_that_stops_the_server_is_undone(self):
        self.install()
        self.built.write_bytes(b"v2")
        self.server.broken = [b"v2"]
        with self.assertRaisesRegex(Failed, "does not start\nThis run's changes to the server are undone.$"):
            self.install()
        self.assertEqual((self.server.loaded, self.server.restarts), (b"v1", 3))
        self.built.write_bytes(b"v1")
        self.assertIn("nothing changed", self.install())
        self.assertEqual(self.server.restarts, 3)

    def test_a_server_that_does_not_come_back_is_said_and_due(self):
        self.install()
        self.built.write_bytes(b"v2")
        self.server.broken = [b"v1", b"v2"]
        with self.assertRaisesRegex(Failed, "does not start\nThis run's changes to the server are undone, but"):
            self.install()
        self.assertTrue(Record(self.base / "record").facts["restart_due"])

    def uninstall(self, *options_):
        with redirect_stdout(StringIO()) as said:
            undo.uninstall(options.parse(["--uninstall", *options_]), Record(self.base / "record"), None)
        return said.getvalue()

    def test_uninstall_and_again(self):
        self.install("--allocator", "jemalloc")
        said = self.uninstall()
        self.assertIn(f"Removed:\n  {self.base / 'bin' / 'tidesdb-backup'}\n  {self.server.config}\n", said)
        self.assertIn("2 tables of TidesDB stay", said)
        self.assertEqual((self.server.loaded, self.server.allocator, self.server.restarts), (None, "system", 2))
        self.assertFalse((self.base / "record").exists())
        self.assertEqual(self.uninstall(), "install.sh has installed nothing here.\n")

    def test_a_server_that_does_not_start_without_it_has_it_back(self):
        self.install()
        self.server.broken = [None]
        with self.assertRaisesRegex(Failed, "does not start\nThis run's changes to the server are undone.$"):
            self.uninstall()
        self.assertEqual((self.server.loaded, self.server.running), (b"v1", 1))
        self.server.broken = []
        self.assertIn("Removed:", self.uninstall())

    def test_uninstall_killed_before_the_restart_goes_on_there(self):
        self.install()
        self.assertEqual(self.server.loaded, b"v1")
        with mock.patch.object(self.server, "restart", side_effect=Killed), self.assertRaises(Killed):
            self.uninstall()
        self.assertIn("No more files of install.sh are here.", self.uninstall())
        self.assertIsNone(self.server.loaded)
        self.assertIn("has installed nothing", self.uninstall())

    def test_what_wants_the_engine_refuses_to_uninstall(self):
        self.install()
        for name, text in (("my.cnf", "[mysqld]\ndefault-storage-engine = TidesDB\n"),
                           ("etc/90-x.cnf", "[mysqld]\nport=1\n  tidesdb_flush_threads=2 # more\n"),
                           ("etc/sub/x.cnf", "tidesdb = FORCE\n"), ("my.cnf", "enforce_storage_engine='tidesdb'")):
            path = self.base / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            with self.assertRaisesRegex(Failed, f"{path}: (default-|tidesdb|enforce)"):
                self.uninstall()
            path.unlink()
        (self.base / "my.cnf").write_text("[mysqld]\n# default_storage_engine=TidesDB\nloose_tidesdb_flush_threads=2\n"
                                          "default_storage_engine = InnoDB\ndatadir = /srv/tidesdb\n"
                                          "plugin_load_add=ha_tidesdb")
        self.server.config.write_text(self.server.config.read_text() + "default_storage_engine=TidesDB\n")
        self.assertEqual((self.server.loaded, self.server.restarts), (b"v1", 1))
        self.assertIn("Removed:", self.uninstall())

    def test_packages_of_a_run_that_failed_are_named(self):
        record = Record(self.base / "record")
        record.facts["packages"] = ["ninja-build"]
        record.save()
        self.assertEqual(self.uninstall(), "install.sh has installed nothing here.\n"
                                           "  These packages were installed for it and stay: ninja-build\n")
        self.assertFalse((self.base / "record").exists())


class OneRun(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name) / "lib" / "install"

    def other(self):
        """Starts another run, and returns when that has the lock."""
        script = ("import sys\nfrom pathlib import Path\nfrom installer.steps import one_run\n"
                  f"with one_run.lock(Path({str(self.directory)!r})):\n  print(flush=True)\n  sys.stdin.read()")
        process = subprocess.Popen([sys.executable, "-c", script], cwd=TREE, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        process.stdout.readline()
        return process

    def test_a_second_run_is_refused_by_number_and_one_that_was_killed_is_none(self):
        other = self.other()
        with self.assertRaisesRegex(Failed, f"another ./install.sh runs, as {other.pid}: wait"), \
                one_run.lock(self.directory):
            pass
        other.kill()
        other.wait()
        with one_run.lock(self.directory):
            pass

    def test_nothing_is_left_but_a_record(self):
        with one_run.lock(self.directory):
            Record(self.directory).save()
        self.assertTrue((self.directory / "record.json").exists())
        with one_run.lock(self.directory):
            Record(self.directory).forget()
            self.assertFalse(self.directory.exists())
        with one_run.lock(self.directory):
            self.assertTrue(self.directory.exists())
        self.assertFalse(self.directory.exists())

    def test_a_directory_that_its_run_removes_is_locked_anew(self):
        """Else two runs would hold a lock: one on the removed directory, one on the new one."""
        flock, removed = fcntl.flock, []

        def late(handle, how):
            if not removed:
                removed.append(self.directory.rmdir())
            flock(handle, how)

        with mock.patch("fcntl.flock", late), one_run.lock(self.directory):
            with self.assertRaises(Failed), one_run.lock(self.directory):
                pass

    def test_the_whole_run_holds_it(self):
        self.addCleanup(os.umask, os.umask(0o022))
        with mock.patch.object(install.options, "parse", return_value=mock.Mock(list_engines=False)), \
                mock.patch.object(install.host, "is_root", return_value=True), \
                mock.patch.object(one_run, "lock", partial(one_run.lock, self.directory)), \
                mock.patch.object(install, "_run") as run, mock.patch.object(install.interruption, "interrupt_once"):
            run.side_effect = lambda _: self.assertRaises(Failed, one_run.lock().__enter__)
            install._main()
        run.assert_called_once()


class Interrupted(unittest.TestCase):
    def setUp(self):
        keep_handlers(self)
        for number in NUMBERS:
            signal.signal(number, signal.SIG_DFL)  # SIGINT is ignored in a shell's background job.

    def test_the_first_signal_interrupts_and_no_other(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            interruption.interrupt_once()
            with self.assertRaises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
                time.sleep(5)
            for again in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                os.kill(os.getpid(), again)

    def test_nohup_is_kept(self):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        interruption.interrupt_once()
        self.assertEqual(signal.getsignal(signal.SIGHUP), signal.SIG_IGN)

    def test_undoing_is_not_interrupted(self):
        interruption.interrupt_once()
        record, server = mock.Mock(facts={"restart_due": True}), mock.Mock()
        record.roll_back.side_effect = lambda **_: os.kill(os.getpid(), signal.SIGINT)
        self.assertIn("are undone", undo.roll_back(record, server, True))
        server.restart.assert_called_once_with()

    def test_a_terminal_that_is_closed_ends_no_undoing(self):
        """Printing then fails with a write error."""
        for number, goes_on in ((errno.EIO, True), (errno.EPIPE, True), (errno.ENOSPC, False)):
            with mock.patch("builtins.print", side_effect=OSError(number, "")), \
                    nullcontext() if goes_on else self.assertRaises(OSError):
                with Step("Restarting the server"):
                    say("")

    def test_a_main_program_listens(self):
        with mock.patch.object(install.options, "parse", side_effect=lambda _: os.kill(os.getpid(), signal.SIGTERM)), \
                self.assertRaises(KeyboardInterrupt):
            install._main()


if __name__ == "__main__":
    unittest.main()
