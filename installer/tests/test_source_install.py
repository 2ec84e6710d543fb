"""The order of installing a server from source, undoing that, and removing it, with a fake server."""

import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest import mock

from installer.shell import Failed, Unavailable
from installer.source import install, options
from installer.source.prefix import Prefix
from installer.steps.record import Record


class Killed(BaseException):
    """Acts like kill -9: nothing after it runs, and nothing is undone."""


class Server:
    """A fake server. done: the actions on it, in order. raises: the exception of an action, by its name."""

    def __init__(self, paths, _log=None):
        self.paths, self.done, self.running, self.raises = paths, [], None, {}
        self.unit = paths.build / "unit"

    def do(self, what):
        self.done.append(what)
        if what in self.raises:
            raise self.raises[what]

    def pid(self):
        return self.running

    def make_account(self):
        return False

    def initialise(self):
        (self.paths.data / "mysql").mkdir(parents=True, exist_ok=True)

    def check_data(self):
        pass

    def restart(self):
        self.do("restart")
        self.running = 1

    def stop(self, disable=False):
        self.do("stop for good" if disable else "stop")
        self.running = None

    def check_engine(self):
        self.do("check")

    def upgrade(self):
        self.do("upgrade")

    def read_units(self):
        self.do("units")


class Installation(unittest.TestCase):
    def setUp(self):
        temporary = TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.base = Path(temporary.name)
        self.paths = options.Paths(self.base / "prefix", self.base / "build")
        self.stage = self.base / "stage"
        (self.stage / "sbin").mkdir(parents=True)
        (self.stage / "sbin" / "mariadbd").write_text("1")
        self.server = Server(self.paths)
        for patch in (mock.patch.object(install, "SourceServer", lambda *_: self.server),
                      mock.patch.object(install.allocator, "of_process", lambda _: "system"),
                      mock.patch.object(install, "choose_port", lambda _: 3333),
                      mock.patch.object(install.interruption, "no_more", lambda: self.server.done.append("no more")),
                      mock.patch.object(install, "_RECORD", self.base / "record")):
            patch.start()
            self.addCleanup(patch.stop)

    def put(self, version="11.8.6", profile=None, library=None, preload=None, **said):
        """Puts the server as a separate run."""
        args = SimpleNamespace(**{"allocator": None, "port": None, "skip_engines": None, "rebuild_plugin": False,
                                  "no_restart": False, **said})
        record = Record(self.base / "record")
        prefix = Prefix(self.paths.prefix, record.directory / "files.json")
        self.server.done = []
        tree = SimpleNamespace(staged_prefix=self.stage, version=version)
        return install._put(args, record, prefix, self.server, preload, tree, profile, library)

    def failing(self, **how):
        """The message of a run that fails."""
        with self.assertRaises(Failed) as caught:
            self.put(**how)
        return str(caught.exception)

    def facts(self):
        return Record(self.base / "record").facts


class Installing(Installation):
    def test_once_and_again(self):
        self.assertTrue(self.put())
        self.assertEqual(self.server.done, ["restart", "upgrade", "check"])
        self.assertIn("port = 3333", self.paths.config.read_text())
        self.assertTrue(self.paths.control.stat().st_mode & 0o100)
        self.assertFalse(self.put())
        self.assertEqual(self.server.done, ["upgrade", "check"])
        self.server.running = None
        self.assertFalse(self.put())
        self.assertEqual(self.server.done, ["restart", "upgrade", "check"])

    def test_a_restart_that_was_put_off_is_due(self):
        self.put(no_restart=True)
        self.server.running = 1
        self.assertEqual(self.server.done, ["units"])
        self.put()
        self.assertEqual(self.server.done, ["restart", "upgrade", "check"])
        self.put(no_restart=True)
        self.put()
        self.assertEqual(self.server.done, ["upgrade", "check"])

    def another(self):
        (self.stage / "sbin" / "mariadbd").write_text("2")

    def test_a_run_that_is_killed_leaves_its_restart_and_its_upgrade_to_the_next(self):
        """Wherever it is killed: while files are put, before the restart, in the upgrade."""
        self.put()
        self.another()
        put, left = Record.put, [0]

        def killed(record, path, *more, **how):
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return put(record, path, *more, **how)

        for steps in range(3):
            left[0] = steps
            with mock.patch.object(Record, "put", killed), self.assertRaises(Killed):
                self.put("11.8.7", preload=f"/lib/{steps}.so")
            self.assertFalse(self.server.done)
            self.put("11.8.7", preload=f"/lib/{steps}.so")
            self.assertEqual(self.server.done, ["restart", "upgrade", "check"])
        for step in ("restart", "upgrade", "check"):
            (self.stage / "sbin" / "mariadbd").write_text(step)
            self.server.raises = {step: Killed()}
            with self.assertRaises(Killed):
                self.put("11.8.8")
            self.server.raises = {}
            self.put("11.8.8")
            self.assertEqual(self.server.done, ["restart", "upgrade", "check"], step)

    def test_a_killed_run_that_has_put_an_allocator(self):
        """The file that names it exists already when the next run checks for changes."""
        self.put()
        for kill in (mock.patch.object(self.server, "initialise", side_effect=Killed),
                     mock.patch.object(install.service, "control", side_effect=Killed)):
            with kill, self.assertRaises(Killed):
                self.put(allocator="jemalloc", preload="/lib/libjemalloc.so.2")
            with mock.patch.object(install.allocator, "of_process", lambda _: "jemalloc"):
                self.put(preload="/lib/libjemalloc.so.2")
            self.assertEqual(self.server.done, ["restart", "upgrade", "check"])
            self.assertEqual(self.facts()["allocator"], "jemalloc")

    def test_the_first_one_that_does_not_start_leaves_its_data_only(self):
        self.server.raises = {"restart": Failed("does not start")}
        self.assertIn("does not start\nThis run's changes to", self.failing())
        self.assertEqual([path.name for path in self.paths.prefix.iterdir()], ["data"])
        self.server.raises = {}
        self.assertTrue(self.put())

    def test_what_a_killed_first_run_has_enabled_is_disabled_when_the_next_is_undone(self):
        self.server.raises = {"upgrade": Killed()}
        with self.assertRaises(Killed):
            self.put()
        self.server.raises = {"check": Failed("no engine")}
        self.failing()
        self.assertEqual(self.server.done, ["restart", "upgrade", "check", "no more", "stop for good"])

    def test_a_change_that_does_not_start_is_undone(self):
        self.put()
        self.another()
        self.server.raises = {"check": Failed("no engine")}
        self.failing()
        self.assertEqual((self.paths.prefix / "sbin" / "mariadbd").read_text(), "1")
        self.assertEqual(self.server.done, ["restart", "upgrade", "check", "no more", "stop", "restart"])
        self.server.raises = {}
        (self.stage / "sbin" / "mariadbd").write_text("1")
        self.put()
        self.assertEqual(self.server.done, ["upgrade", "check"])

    def test_it_is_undone_where_the_server_does_not_stop(self):
        self.put()
        self.another()
        self.server.raises = {"check": Failed("no engine"), "stop": Failed("the server 1 does not end")}
        said = self.failing(preload="/lib/libjemalloc.so.2")
        self.assertRegex(said, "(?s)no engine.*are undone.*the server 1 does not end")
        self.assertEqual((self.paths.prefix / "sbin" / "mariadbd").read_text(), "1")
        self.assertNotIn("jemalloc", self.paths.control.read_text())
        self.server.raises = {}
        (self.stage / "sbin" / "mariadbd").write_text("1")
        self.assertFalse(self.put())
        self.assertEqual(self.server.done, ["restart", "upgrade", "check"])  # It still ran from the files that were undone.

    def test_a_server_that_was_not_restarted_is_left_alone(self):
        self.put()
        self.another()
        (self.stage / "sbin" / "theirs").write_text("ours")
        (self.paths.prefix / "sbin" / "theirs").write_text("theirs")
        self.assertIn("is in the way", self.failing())
        self.assertEqual(self.server.done, ["no more"])
        (self.paths.prefix / "sbin" / "theirs").unlink()
        with mock.patch.object(self.server, "initialise", side_effect=OSError("no room")):
            self.failing()
        self.assertEqual((self.server.done, self.server.running), (["no more"], 1))
        self.assertEqual((self.paths.prefix / "sbin" / "mariadbd").read_text(), "1")

    def library(self, text="1"):
        """The arguments of library.put() besides the record."""
        staged = self.base / "library"
        (staged / "lib").mkdir(parents=True, exist_ok=True)
        (staged / "lib" / "libtidesdb.a").write_text(text)
        return self.base / "opt" / "tidesdb", staged

    def test_the_library_is_put_with_it(self):
        self.assertTrue(self.put(library=self.library()))
        self.assertTrue((self.base / "opt" / "tidesdb" / "lib" / "libtidesdb.a").exists())
        self.assertFalse(self.put(library=self.library()))
        self.assertTrue(self.put(library=self.library("2")))
        self.assertEqual(self.server.done, ["upgrade", "check"])  # No restart: the server does not use the library.

    def test_a_library_that_cannot_be_put_undoes_the_run(self):
        self.put(profile={"profile": "d"}, skip_engines=["spider"])
        before = self.facts()
        self.another()
        (self.base / "opt" / "tidesdb").mkdir(parents=True)
        (self.base / "opt" / "tidesdb" / "lib").touch()
        self.assertIn("are undone", self.failing(library=self.library(), skip_engines=[]))
        self.assertEqual((self.paths.prefix / "sbin" / "mariadbd").read_text(), "1")
        self.assertEqual(self.facts(), {**before, "packages": []})
        self.assertEqual(self.server.done, ["no more"])

    def test_what_it_was_told_holds_for_the_next_run_also_when_it_is_killed(self):
        with mock.patch.object(Prefix, "put", side_effect=Killed), self.assertRaises(Killed):
            self.put(profile={"profile": "d"}, skip_engines=["spider"], allocator="jemalloc")
        facts = self.facts()
        self.assertEqual((facts["pgo"], facts["skip_engines"], facts["allocator"], facts["prefix"]),
                         ({"profile": "d"}, ["spider"], "jemalloc", str(self.paths.prefix)))

    def test_uninstall_keeps_the_data(self):
        self.put()
        with redirect_stdout(StringIO()) as printed:
            install.uninstall(SimpleNamespace(mariadb_prefix=None), self.base / "log")
        self.assertIn("Its data stays", printed.getvalue())
        self.assertEqual([path.name for path in self.paths.prefix.iterdir()], ["data"])
        self.assertFalse(install.installed())
        self.assertFalse((self.base / "record").exists())
        with redirect_stdout(StringIO()) as printed:
            install.uninstall(SimpleNamespace(mariadb_prefix=None), self.base / "log")
        self.assertIn("No server from source", printed.getvalue())

    def test_uninstall_of_another_prefix_is_refused(self):
        self.put()
        with self.assertRaises(Failed):
            install.uninstall(SimpleNamespace(mariadb_prefix=Path("/opt/other")), self.base / "log")
        self.assertTrue(self.paths.control.exists())


class Preparing(Installation):
    """What install() checks before it builds."""

    def install(self, **said):
        """Its message when it ends before building."""
        self.put()
        self.server.done = []
        args = SimpleNamespace(**{"mariadb_prefix": None, "build_dir": self.paths.build, "skip_deps": True, "pgo": None,
                                  "skip_engines": [], "allocator": None, "tidesdb_prefix": None, **said})
        source = mock.Mock(version="11.8.6")
        with mock.patch.object(install.fetch, "find", return_value=source), \
                mock.patch.object(install.engines, "find", return_value={}), \
                mock.patch.object(install.dependencies, "require", self.require), \
                mock.patch.object(install.allocator, "_known", lambda _: True), \
                mock.patch.object(install, "_build", side_effect=Killed), \
                redirect_stdout(StringIO()), self.assertRaises((Failed, Killed)) as caught:
            install.install(args, self.base / "log")
        self.assertEqual(self.server.done, [])
        return str(caught.exception)

    @staticmethod
    def require(_record, wanted, _log, skip):
        if skip and "libjemalloc2" in wanted:
            raise Unavailable("--skip-deps is given, and these packages are missing: libjemalloc2")

    def test_it_gets_to_building(self):
        self.assertEqual(self.install(), "")

    def test_an_allocator_that_is_not_there(self):
        self.assertIn("libjemalloc2", self.install(allocator="jemalloc"))

    def test_a_library_that_can_go_nowhere(self):
        (self.base / "file").touch()
        self.assertIn("--tidesdb-prefix", self.install(tidesdb_prefix=self.base / "file" / "x"))

    def test_a_disk_that_is_full(self):
        with mock.patch.object(install.targets.shutil, "disk_usage", return_value=SimpleNamespace(free=1 << 30)):
            self.assertIn(f"--build-dir {self.paths.build}, --mariadb-prefix {self.paths.prefix}", self.install())

    def test_data_that_are_none(self):
        with mock.patch.object(self.server, "check_data", side_effect=Failed("no server's data")):
            self.assertEqual(self.install(), "no server's data")


class Profile(unittest.TestCase):
    def test_it_is_trained_only_when_asked_for(self):
        for asked, recorded, known, guided in [(None, False, True, False), (None, True, True, True),
                                               (None, True, False, False), (True, False, False, True),
                                               (False, True, True, False)]:
            args = SimpleNamespace(pgo=asked, skip_deps=False, allocator=None)
            record = SimpleNamespace(facts={"pgo": {"gain": None}} if recorded else {})
            it = mock.Mock()
            it.known.return_value = {} if not known else {"digest": "d"}
            it.build.return_value = ("by its profile", None)
            with mock.patch.object(install, "ServerPgo", return_value=it) as made, mock.patch.object(install, "Tree"), \
                    mock.patch.object(install.dependencies, "require"), redirect_stdout(StringIO()):
                tree, _ = install._build(args, record, None, "11.8.6", [], "/lib/libjemalloc.so.2", None)
            self.assertEqual(tree == "by its profile", guided, (asked, recorded, known))
            if guided:  # By its path, so that no package is looked for.
                self.assertEqual(made.call_args.args[-1], "/lib/libjemalloc.so.2")


if __name__ == "__main__":
    unittest.main()
