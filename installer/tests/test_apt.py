"""Reading apt's source lists in both formats, and changes that an installation may not make."""

import unittest
from contextlib import redirect_stdout
from io import StringIO
from unittest import mock

from installer import apt
from installer.shell import Failed, Unavailable

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


# As add-apt-repository writes it on Ubuntu.
PPA = """Types: deb
URIs: https://ppa.example/ubuntu
Suites: noble
 noble-updates
# In between
 jammy
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBFaqjT0BEAC8
 -----END PGP PUBLIC KEY BLOCK-----
Architectures: amd64
"""


class Sources(unittest.TestCase):
    def of(self, codename, found, wanted=None):
        """The sources text for a release, made from what a machine of the other release has."""
        with mock.patch("installer.host.apt_codename", return_value=codename), \
             mock.patch("installer.apt.machine_sources", return_value=list(found)):
            return apt.sources_text(apt.sources(wanted or codename))

    def of_files(self, codename, one_line, deb822):
        with mock.patch("installer.host.apt_codename", return_value=codename), \
             mock.patch("installer.apt.glob.glob", side_effect=[["a.list"], ["a.sources"]]), \
             mock.patch("installer.apt.os.path.exists", lambda name: name == "a.list"), \
             mock.patch("installer.apt.Path.read_text", side_effect=[one_line, deb822]):
            return apt.sources_text(apt.sources(codename))

    def test_deb822_gives_enabled_binary_sources(self):
        found = list(apt._deb822(DEB822))
        self.assertEqual([s.words("uris") for s in found], [["http://mirror.example/debian"]])
        self.assertEqual(found[0].words("suites"), ["bookworm", "bookworm-updates"])
        self.assertTrue(found[0].fields["signed-by"].endswith("keyring.gpg"))
        self.assertEqual(list(apt._deb822(DEB822.replace("Enabled: no", "Enabled: False"))), found)

    def test_one_line_format(self):
        found = list(apt._one_line(ONE_LINE))
        self.assertEqual([s.words("suites") for s in found], [["bookworm"], ["bookworm-security"]])
        self.assertEqual(found[1].fields["signed-by"], "/a/key.gpg")

    def test_sources_for_the_other_release_keep_the_mirror(self):
        text = self.of("bookworm", apt._deb822(DEB822), "trixie")
        self.assertIn("Suites: trixie trixie-updates\n", text)
        self.assertIn("Uris: http://mirror.example/debian\n", text)
        self.assertIn("Types: deb deb-src\n", text)

    def test_a_paragraph_is_carried_over_as_it_is(self):
        text = self.of_files("noble", "", PPA)
        self.assertIn("Suites: noble noble-updates\n", text)
        self.assertIn(PPA[PPA.index(" -----BEGIN"):], text)

    def test_the_options_of_a_line_are_carried_over(self):
        line = "deb [ arch=amd64,arm64 trusted=yes lang-=de by-hash=no ] http://mirror.example/local noble main # why\n"
        text = self.of_files("noble", line, "")
        for field in ["Architectures: amd64 arm64", "Trusted: yes", "Languages-Remove: de", "By-Hash: no"]:
            self.assertIn(f"\n{field}\n", text)

    def test_only_the_components_that_hold_what_we_use(self):
        with mock.patch("installer.host.apt_codename", return_value="bookworm"), \
             mock.patch("installer.apt.glob.glob", side_effect=[[], ["a.sources"]]), \
             mock.patch("installer.apt.os.path.exists", return_value=False), \
             mock.patch("installer.apt.Path.read_text", return_value=DEB822):
            found = apt.machine_sources()
        self.assertEqual([(s.fields["suites"], s.fields["components"]) for s in found],
                         [("bookworm bookworm-updates", "main")])

    def test_ubuntu_knows_its_own_archive_only(self):
        source = apt.Source({"uris": "http://mirror.example/ubuntu", "suites": "noble", "components": "main universe"})
        self.assertIn("Components: main universe\n", self.of("noble", [source]))
        with self.assertRaises(Unavailable):
            self.of("noble", [source], "trixie")



SIMULATED = """Reading package lists...
Inst libssl3 [3.0.20-1~deb12u2] (3.0.22-1~deb12u2 Debian-Security:12/oldstable-security [amd64]) []
Inst mariadb-server [1:10.11.18-0+deb12u1] (1:10.11.19-0+deb12u1 Debian-Security:12/oldstable-security [amd64])
Inst libmariadb-dev (1:10.11.19-0+deb12u1 Debian-Security:12/oldstable-security [amd64])
Conf mariadb-server (1:10.11.19-0+deb12u1 Debian-Security:12/oldstable-security [amd64])
"""


class Installed(unittest.TestCase):
    def install(self, simulated):
        """(the commands that install libmariadb-dev, the error message)."""
        ran = []
        with mock.patch.object(apt, "output", lambda argv: simulated if "--simulate" in argv else ""), \
                mock.patch.object(apt, "run", lambda argv, log: ran.append(argv)), \
                mock.patch.object(apt.host, "is_root", lambda: True), redirect_stdout(StringIO()):
            try:
                apt.install(["libmariadb-dev"], "log")
            except Failed as error:
                return ran, str(error)
        return ran, ""

    def test_a_server_that_is_there_keeps_its_version(self):
        ran, said = self.install(SIMULATED)
        self.assertEqual([argv[1] for argv in ran], ["update"])  # The lists may be old.
        self.assertIn("change mariadb-server from 1:10.11.18-0+deb12u1 to 1:10.11.19-0+deb12u1", said)
        self.assertIn("libmariadb-dev", said)
        ran, said = self.install("Remv mariadb-server-core [1:10.11.18-0+deb12u1]\n")
        self.assertIn("to none", said)

    def test_what_changes_no_server_is_installed(self):
        new = "Inst libmariadb-dev (1:10.11.19-0+deb12u1 x)\nInst mariadb-server (1:10.11.18-0+deb12u1 x)\n"
        ran, said = self.install(new)
        self.assertEqual((said, [argv[1] for argv in ran], ran[0][-1]), ("", ["install"], "libmariadb-dev"))
        self.assertIn("APT::Get::Upgrade-By-Source-Package=false", ran[0])

    def test_without_apt_get_what_is_missing_is_named(self):
        with mock.patch.object(apt.shutil, "which", lambda _: None):
            self.assertEqual(self.install(""), ([], "no apt-get here, and these packages are missing: libmariadb-dev"))


if __name__ == "__main__":
    unittest.main()
