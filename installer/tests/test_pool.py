"""Versions that the archive's lists have dropped, fetched from its pool by path and checksum."""

import hashlib
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer import apt, host, pool
from installer.shell import Failed

Pool = pool.Pool  # Kept, because the tests replace the name by which apt.Archive makes one.

VERSION = "1:11.8.6-0+deb13u1"
NEWER = "1:11.8.9+ds-0+deb13u1"
FILES = {"mariadb_11.8.6-0+deb13u1.dsc": b"a description", "mariadb_11.8.6.orig.tar.gz": b"sources",
         "mariadb-server_11.8.6-0+deb13u1_amd64.deb": b"a server",
         "mariadb-server-core_11.8.6-0+deb13u1_arm64.deb": b"of another machine",
         "mariadb-test-data_11.8.6-0+deb13u1_all.deb": b"data of tests"}
MADISON = """mariadb-server | {0} | http://mirror.example/debian trixie/main amd64 Packages
   mariadb | {0} | http://mirror.example/debian trixie/main Sources
"""


class FromThePool(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.base = Path(temporary.name)
        there = self.base / "mirror" / "pool" / "main"
        there.mkdir(parents=True)
        self.list = self.base / "trixie.sha256"
        lines = ["# why", f"# mariadb {VERSION}"]
        for name, data in FILES.items():
            (there / name).write_bytes(data)
            lines.append(f"{hashlib.sha256(data).hexdigest()}  pool/main/{name}")
        self.list.write_text("\n".join(lines) + "\n")
        self.there = there
        for target, name, value in [(host, "cache_dir", lambda: self.base / "cache"),
                                    (apt, "sources", lambda codename: []),
                                    (apt.Archive, "mirrors", lambda archive: [f"file://{self.base}/mirror"]),
                                    (apt.pool, "Pool", lambda codename: self.pool())]:
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def pool(self):
        return Pool("trixie", self.base, "amd64")

    def archive(self, listed=""):
        archive = apt.Archive("trixie", self.base / "log")
        patch = mock.patch.object(apt, "output", return_value=listed)
        patch.start()
        self.addCleanup(patch.stop)
        return archive

    def test_the_known_version_comes_after_those_of_the_lists(self):
        archive = self.archive(MADISON.format(NEWER))
        self.assertEqual(archive.versions("mariadb-server"), [NEWER, VERSION])
        self.assertEqual(archive.source_versions("mariadb"), [NEWER, VERSION])
        self.assertEqual(archive.listed("mariadb-server"), [NEWER])

    def test_packages_and_sources_are_two_lists(self):
        both = "".join(f"mariadb | {version} | http://mirror.example/debian trixie/main {kind}\n"
                       for version, kind in [("1:3-1", "amd64 Packages"), ("1:2-1", "Sources"), ("1:1-1", "Sources")])
        self.assertEqual(self.archive(both).listed("mariadb"), ["1:3-1"])
        self.assertEqual(self.archive(both).source_versions("mariadb"), ["1:2-1", "1:1-1", VERSION])

    def test_it_is_named_once_and_only_where_it_is_known(self):
        archive = self.archive(MADISON.format(VERSION))
        self.assertEqual(archive.versions("mariadb-server"), [VERSION])
        self.assertEqual(self.archive().versions("mariadb-server-core"), [])
        self.assertEqual(self.archive().versions("mariadb-test-data"), [VERSION])

    def test_files_come_from_the_pool(self):
        into = self.base / "into"
        deb, = self.archive().download(["mariadb-server"], VERSION, into)
        self.assertEqual(deb.read_bytes(), FILES[deb.name])
        tarball = self.archive().download_source("mariadb", VERSION, into)
        self.assertEqual(tarball.read_bytes(), b"sources")
        self.assertEqual(self.archive().download_source("mariadb", VERSION, into, description=True).suffix, ".dsc")

    def test_what_apt_is_told(self):
        self.assertEqual(self.archive(MADISON.format(VERSION)).installable(["mariadb-server"], VERSION),
                         [f"mariadb-server={VERSION}"])
        deb, = self.archive().installable(["mariadb-server"], VERSION)
        self.assertTrue(deb.startswith("/"))  # Without the slash, apt-get would take it as a package name.
        self.assertEqual(Path(deb).read_bytes(), b"a server")
        self.assertEqual(self.archive().installable(["mariadb-server"], NEWER), [f"mariadb-server={NEWER}"])

    def test_other_bytes_are_refused(self):
        (self.there / "mariadb-server_11.8.6-0+deb13u1_amd64.deb").write_bytes(b"A server")
        with self.assertRaises(Failed) as caught:
            self.archive().download(["mariadb-server"], VERSION, self.base / "into")
        self.assertIn("Hash Sum mismatch", str(caught.exception))

    def test_what_nobody_has(self):
        with self.assertRaisesRegex(Failed, "the archive has no mariadb-server 1:9"):
            self.archive().download(["mariadb-server"], "1:9-1", self.base / "into")
        with self.assertRaisesRegex(Failed, "the archive has no sources of mariadb 1:9"):
            self.archive().download_source("mariadb", "1:9-1", self.base / "into")

    def test_a_damaged_list_is_named(self):
        self.list.write_text(self.list.read_text() + "deadbeef  pool/main/x\n")
        with self.assertRaisesRegex(Failed, "trixie.sha256"):
            self.pool()

    def test_a_release_without_a_list_has_nothing(self):
        empty = Pool("noble", self.base)
        self.assertEqual((empty.version, empty.package("mariadb-server", VERSION), empty.source(VERSION)), (None, {}, {}))

    def test_a_version_of_another_archive_is_not_noted(self):
        said = {"showsrc": f"Version: {NEWER}\nDirectory: pool/updates/main/m/mariadb\nBinary: mariadb-server\n"
                           f"Checksums-Sha256: \n {'0' * 64} 1 mariadb_11.8.9.dsc\n", "show": "Version: another\n"}
        with mock.patch.object(pool, "output", lambda argv: said[argv[1]]), \
             mock.patch.object(pool, "_FILES", self.base), self.assertRaisesRegex(Failed, "not in the main archive"):
            pool.write(SimpleNamespace(options=[]), "trixie", NEWER)


class Ours(unittest.TestCase):
    def test_the_lists_of_the_tree_have_what_the_project_takes(self):
        for codename in host.CODENAMES.values():
            known = Pool(codename, architecture="amd64")
            self.assertRegex(known.version, r"^1:1[01]\.\d+\.\d+")
            for name in ["mariadb-server", "mariadb-test", "mariadb-test-data", "mariadb-plugin-rocksdb", "libmariadbd-dev",
                         "mariadb-plugin-provider-lz4"]:
                self.assertEqual(len(known.package(name, known.version)), 1, name)
            self.assertEqual(len(known.source(known.version)), 3)


if __name__ == "__main__":
    unittest.main()
