"""The order of installing a server from source, its undoing, and its removal, with a server that only pretends."""

import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest import mock

from installer.install.record import Record
from installer.shell import Failed
from installer.source import install, options
from installer.source.prefix import Prefix


class Server:
    """What was done to it; broken: it does not start."""

    def __init__(self, paths, _log=None):
        self.paths, self.done, self.running, self.broken = paths, [], None, False
        self.unit = paths.build / "unit"

    def pid(self):
        return self.running

    def make_account(self):
        return False

    def initialise(self):
        (self.paths.data / "mysql").mkdir(parents=True, exist_ok=True)

    def restart(self):
        self.done.append("restart")
        if self.broken:
            raise Failed("does not start")
        self.running = 1

    def stop(self, disable=False):
        self.done.append("stop")
        self.running = None

    def check_engine(self):
        self.done.append("check")

    def upgrade(self):
        self.done.append("upgrade")

    def read_units(self):
        self.done.append("units")


class Installing(unittest.TestCase):
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
                      mock.patch.object(install, "_RECORD", self.base / "record")):
            patch.start()
            self.addCleanup(patch.stop)

    def put(self, version="11.8.6", **said):
        args = SimpleNamespace(**{"allocator": None, "port": None, "skip_deps": False, "rebuild_plugin": False,
                                  "no_restart": False, **said})
        record = Record(self.base / "record")
        prefix = Prefix(self.paths.prefix, record.directory / "files.json")
        record.facts["prefix"] = str(self.paths.prefix)
        record.save()
        self.server.done = []
        tree = SimpleNamespace(staged_prefix=self.stage, version=version)
        changed, _ = install._put(args, record, prefix, self.paths, tree, None)
        record.save()
        return changed

    def test_once_and_again(self):
        self.assertTrue(self.put())
        self.assertEqual(self.server.done, ["restart", "check"])
        self.assertIn("port = 3333", self.paths.config.read_text())
        self.assertTrue(self.paths.control.stat().st_mode & 0o100)
        self.assertFalse(self.put())
        self.assertEqual(self.server.done, ["check"])
        self.server.running = None
        self.assertFalse(self.put())
        self.assertEqual(self.server.done, ["restart", "check"])

    def test_a_restart_that_was_put_off_is_due(self):
        self.put(no_restart=True)
        self.server.running = 1
        self.assertNotIn("restart", self.server.done)
        self.put()
        self.assertEqual(self.server.done, ["restart", "check"])
        self.put()
        self.assertEqual(self.server.done, ["check"])

    def test_another_version_upgrades(self):
        self.put()
        (self.stage / "sbin" / "mariadbd").write_text("2")
        self.put("11.8.7")
        self.assertEqual(self.server.done, ["restart", "upgrade", "check"])

    def test_the_first_one_that_does_not_start_leaves_its_data_only(self):
        self.server.broken = True
        with self.assertRaises(Failed) as caught:
            self.put()
        self.assertIn("is undone", str(caught.exception))
        self.assertEqual([path.name for path in self.paths.prefix.iterdir()], ["data"])
        self.server.broken = False
        self.assertTrue(self.put())

    def test_a_change_that_does_not_start_is_undone(self):
        self.put()
        (self.stage / "sbin" / "mariadbd").write_text("2")
        self.server.broken = True
        with self.assertRaises(Failed):
            self.put()
        self.assertEqual((self.paths.prefix / "sbin" / "mariadbd").read_text(), "1")
        self.assertEqual(self.server.done, ["restart", "stop", "restart"])

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
            with mock.patch.object(install, "ServerPgo", return_value=it), mock.patch.object(install, "Tree"), \
                    mock.patch.object(install.dependencies, "require"), redirect_stdout(StringIO()):
                tree, _ = install._build(args, record, None, "11.8.6", [], None)
            self.assertEqual(tree == "by its profile", guided, (asked, recorded, known))


if __name__ == "__main__":
    unittest.main()
