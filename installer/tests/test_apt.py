"""Reading apt's source lists, in both of their formats."""

import unittest
from unittest import mock

from installer import apt
from installer.shell import Unavailable

DEB822 = """# A comment
Types: deb
# Another: with a colon
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb-src
URIs: http://mirror.example/source-only
Suites: bookworm
Components: main

Types: deb
URIs: http://mirror.example/off
Suites: bookworm
Components: main
Enabled: no
"""

ONE_LINE = """deb http://mirror.example/debian bookworm main contrib # why
# deb http://mirror.example/commented bookworm main
deb-src http://mirror.example/debian bookworm main
deb [arch=amd64 signed-by=/a/key.gpg] http://mirror.example/security bookworm-security main
"""


class Sources(unittest.TestCase):
    def test_deb822_gives_enabled_binary_sources(self):
        found = list(apt._deb822(DEB822))
        self.assertEqual([s.uris for s in found], ["http://mirror.example/debian"])
        self.assertEqual(found[0].suites, ("bookworm", "bookworm-updates"))
        self.assertTrue(found[0].signed_by.endswith("keyring.gpg"))

    def test_one_line_format(self):
        found = list(apt._one_line(ONE_LINE))
        self.assertEqual([s.suites for s in found], [("bookworm",), ("bookworm-security",)])
        self.assertEqual(found[1].signed_by, "/a/key.gpg")

    def test_sources_for_the_other_release_keep_the_mirror(self):
        with mock.patch("installer.host.apt_codename", return_value="bookworm"), \
             mock.patch("installer.apt.machine_sources", return_value=list(apt._deb822(DEB822))):
            text = apt.sources_text("trixie")
        self.assertIn("Suites: trixie trixie-updates\n", text)
        self.assertIn("URIs: http://mirror.example/debian\n", text)
        self.assertIn("Types: deb deb-src\n", text)

    def test_only_the_components_that_hold_what_we_use(self):
        with mock.patch("installer.host.apt_codename", return_value="bookworm"), \
             mock.patch("installer.apt.glob.glob", side_effect=[[], ["a.sources"]]), \
             mock.patch("installer.apt.os.path.exists", return_value=False), \
             mock.patch("installer.apt.Path.read_text", return_value=DEB822):
            found = apt.machine_sources()
        self.assertEqual([(s.suites, s.components) for s in found],
                         [(("bookworm", "bookworm-updates"), "main")])

    def test_ubuntu_knows_its_own_archive_only(self):
        source = apt.Source("http://mirror.example/ubuntu", ("noble",), "main universe", "")
        with mock.patch("installer.host.apt_codename", return_value="noble"), \
             mock.patch("installer.apt.machine_sources", return_value=[source]):
            self.assertIn("Components: main universe\n", apt.sources_text("noble"))
            with self.assertRaises(Unavailable):
                apt.sources_text("trixie")


if __name__ == "__main__":
    unittest.main()
