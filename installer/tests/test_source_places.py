"""Where a server from source is built and put: who owns the directory, whether it is writable, its free space."""

import os
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest import mock

from installer.shell import Failed, run
from installer.source import fetch, options, places
from installer.steps import targets


class InDirectory(unittest.TestCase):
    def setUp(self):
        temporary = TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.base = Path(temporary.name)
        self.paths = options.Paths(self.base / "prefix", self.base / "new" / "build")


class BuildDirectory(InDirectory):
    def tarball(self):
        tree = self.base / "mariadb-11.8.6"
        tree.mkdir()
        (tree / "VERSION").touch()
        run(["tar", "-czf", self.base / "source.tar.gz", "-C", self.base, tree.name])
        return self.base / "source.tar.gz"

    def unpack(self, build):
        fetch.Source("11.8.6", tarball=self.tarball()).unpack(build / "sources", self.base / "log")

    def test_what_somebody_else_has_there_stays(self):
        build = self.base / "theirs"
        for name in ("download/thesis.txt", "sources.tmp/y", "library/staged/z"):
            (build / name).parent.mkdir(parents=True)
            (build / name).touch()
        with self.assertRaises(Failed) as caught:
            self.unpack(build)
        self.assertIn("give an empty or new --build-dir", str(caught.exception))
        self.assertEqual(sorted(path.name for path in build.rglob("*") if path.is_file()), ["thesis.txt", "y", "z"])

    def test_a_new_one_and_what_an_interruption_left_in_it(self):
        archive = mock.Mock()
        archive.download_source.side_effect = KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            fetch.Source("11.8.6", "1:11.8.6-1", archive).unpack(self.paths.sources, self.base / "log")
        self.assertEqual(sorted(os.listdir(self.paths.build)), [places.STAMP, "sources.tmp"])
        self.unpack(self.paths.build)
        self.assertEqual(sorted(os.listdir(self.paths.build)), [places.STAMP, "sources"])

    def test_a_disk_of_its_own_is_as_good_as_empty(self):
        (self.paths.build / "lost+found").mkdir(parents=True)
        self.unpack(self.paths.build)

    def test_those_of_earlier_versions(self):
        """These directories have no mark. One is recognised by its sources, or without sources by its path."""
        self.unpack(self.paths.build)
        (self.paths.build / places.STAMP).unlink()
        fetch.Source("11.8.6").unpack(self.paths.sources, self.base / "log")
        usual = self.base / "build" / "server-11.8.6"
        (usual / "download").mkdir(parents=True)
        places.claim(usual, self.base / "build")
        self.assertTrue((usual / places.STAMP).exists())


class Room(InDirectory):
    def refused(self, free, replaced=False):
        """The error message with so much free space, or None."""
        with mock.patch.object(targets.shutil, "disk_usage", return_value=SimpleNamespace(free=free)):
            try:
                targets.check_all(places.needs(self.paths, ("plain",), replaced))
            except Failed as error:
                return str(error)
        return None

    def test_of_the_build_and_of_what_is_installed(self):
        need = places.TREE_BYTES + places.SOURCES_BYTES + places.PREFIX_BYTES
        said = self.refused(need - 1)
        self.assertIn(f"--build-dir {self.paths.build}, --mariadb-prefix {self.paths.prefix}: needs {need >> 20} MiB", said)
        self.assertIsNone(self.refused(need))
        self.assertFalse(self.paths.build.exists())

    def test_what_is_there_takes_none(self):
        self.paths.sources.mkdir(parents=True)
        (self.paths.build / "plain").mkdir()
        (self.paths.build / "plain" / "build.ninja").touch()
        self.assertIsNone(self.refused(0))
        said = self.refused(0, replaced=True)
        self.assertIn(f"--mariadb-prefix {self.paths.prefix}", said)
        self.assertNotIn("--build-dir", said)

    def test_each_disk_has_its_own(self):
        devices = {self.paths.build.parent: 1, self.paths.prefix: 2}
        for path in devices:
            path.mkdir()
        stat = Path.stat

        def on_two(path, **how):
            return SimpleNamespace(st_dev=devices[path]) if path in devices else stat(path, **how)

        with mock.patch.object(Path, "is_dir", lambda _: True), mock.patch.object(Path, "stat", on_two):
            self.assertIsNone(self.refused(places.TREE_BYTES + places.SOURCES_BYTES))
            said = self.refused(places.PREFIX_BYTES)
        self.assertIn(f"--build-dir {self.paths.build}:", said)


class Writable(InDirectory):
    def test_a_path_through_a_file(self):
        (self.base / "file").touch()
        (self.base / "dangling").symlink_to("nowhere")
        for name in ("file", "dangling"):
            with self.assertRaises(Failed) as caught:
                targets.check(self.base / name / "below", 0, "--mariadb-prefix")
            self.assertIn(f"--mariadb-prefix {self.base / name / 'below'}: {self.base / name} is not a directory",
                          str(caught.exception))
        targets.check(self.base / "new" / "below", 0, "--mariadb-prefix")
        self.assertFalse((self.base / "new").exists())

    def test_a_disk_that_is_read_only(self):
        with mock.patch.object(targets.os, "access", return_value=False), self.assertRaises(Failed) as caught:
            targets.check(self.base / "new", 0, "--mariadb-prefix")
        self.assertIn(f"{self.base} is not writable", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
