"""Which server version an environment uses, and what is installed where it runs."""

import io
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

from installer import apt, headers, packages, servers
from installer.shell import Failed

OLD, THERE, NEW = "1:11.8.6-0+deb13u1", "1:11.8.9-0+deb13u1", "1:11.8.11-0+deb13u1"


class Chosen(unittest.TestCase):
    def chosen(self, listed, with_sources, facts=None):
        def make(_archive, package_version, *_):
            if package_version not in with_sources:
                raise Failed("no sources")

        archive = mock.Mock(**{"versions.return_value": listed})
        with tempfile.TemporaryDirectory() as directory, redirect_stdout(io.StringIO()), \
                mock.patch.object(apt, "Archive", return_value=archive), mock.patch.object(headers, "make", make):
            base = Path(directory)
            return servers._choose_version("debian13", base, facts, base / "log")["package_version"]

    def test_the_newest_that_has_sources(self):
        self.assertEqual(self.chosen([NEW, THERE, OLD], [THERE, OLD]), THERE)
        with self.assertRaises(Failed):
            self.chosen([NEW], [])

    def test_an_update_does_not_go_back(self):
        facts = {"package_version": THERE}
        self.assertEqual(self.chosen([NEW, OLD], [OLD], facts), THERE)  # No list has it now; the pool has an older one.
        self.assertEqual(self.chosen([NEW], [], facts), THERE)
        self.assertEqual(self.chosen([NEW, THERE], [NEW, THERE], facts), NEW)


class Installed(unittest.TestCase):
    def test_a_plugin_that_is_given_finds_its_libraries(self):
        facts = {"version": "11.8.6", "package_version": OLD, "unpacked": []}
        with tempfile.TemporaryDirectory() as directory, redirect_stdout(io.StringIO()), \
                mock.patch.object(apt, "Archive"), mock.patch.object(apt, "depends", return_value={"libaio1", "lsof"}), \
                mock.patch.object(apt, "install") as install, mock.patch.object(servers, "run"):
            (Path(directory) / "debs").mkdir()
            servers._unpack("debian12", Path(directory) / "11.8.6", facts, packages.SERVER, None, Path(directory) / "log")
        self.assertEqual(install.call_args.args[0], ["libaio1", "liblz4-1", "libsnappy1v5", "libzstd1"])


if __name__ == "__main__":
    unittest.main()
