"""apt-get with the tests' own archives and status: which archive it uses, what may fail, what it does not remove."""

import os
import tempfile
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest import mock

from installer import apt, host, roots
from installer.shell import Failed, Unavailable, output
from installer.steps import distribution

MYSQL = "mysql-community-server", "8.4.1", "Provides: mysql-server, virtual-mysql-server (= 8.4.1)\n"


def package(name, version, more=""):
    return (f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: Nobody <n@example.org>\n"
            f"Description: none\n{more}")


class Archives(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.base = Path(temporary.name)
        self.base.chmod(0o755)
        for name in ["dpkg", "lists/partial", "cache/archives/partial", "sources.d"]:
            (self.base / name).mkdir(parents=True)
        self.installed()
        patches = [mock.patch.object(host, "cache_dir", lambda: self.base / "cache"),
                   mock.patch.object(host, "apt_codename", lambda: "bookworm"),
                   mock.patch.object(host, "os_release", lambda: {"ID": "debian", "VERSION_CODENAME": "bookworm"}),
                   mock.patch.object(host, "is_root", lambda: True),
                   mock.patch.dict(os.environ, {"DPKG_ADMINDIR": str(self.base / "dpkg"),
                                                "APT_CONFIG": str(self.base / "apt.conf")})]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        (self.base / "apt.conf").write_text(
            f'Dir::State::status "{self.base}/dpkg/status"; Dir::State::lists "{self.base}/lists";\n'
            f'Dir::State::extended_states "{self.base}/extended_states"; Dir::Cache "{self.base}/cache";\n'
            f'Dir::Etc::sourcelist "/dev/null"; Dir::Etc::sourceparts "{self.base}/sources.d";\n'
            'APT::Sandbox::User "root"; APT::Get::AutomaticRemove "true";\n')

    def installed(self, *packages):
        status = "Status: install ok installed\n"
        (self.base / "dpkg" / "status").write_text("\n".join(
            package(name, version, status + "".join(more)) for name, version, *more in packages))

    def archive(self, name, *packages, origin="Debian", suite="bookworm", trusted="yes"):
        """Makes an archive. Returns the paragraph of apt's sources that names it."""
        there = self.base / name / "dists" / suite
        index = there / "main" / "binary-all" / "Packages"
        index.parent.mkdir(parents=True)
        index.write_text("\n".join(package(one, version, f"{''.join(more)}Filename: pool/{one}.deb\nSize: 1\n")
                                   for one, version, *more in packages))
        digest = output(["sha256sum", index]).split()[0]
        (there / "Release").write_text(
            f"Origin: {origin}\nSuite: {suite}\nCodename: {suite}\nArchitectures: all amd64\nComponents: main\n"
            f"Date: Tue, 24 Nov 2026 00:00:00 UTC\nNo-Support-for-Architecture-all: Packages\n"
            f"SHA256:\n {digest} {index.stat().st_size} main/binary-all/Packages\n")
        text = f"Types: deb\nURIs: file://{self.base}/{name}\nSuites: {suite}\nComponents: main\nTrusted: {trusted}\n"
        return text + "Architectures: all\n"

    def of_machine(self, *paragraphs):
        return mock.patch.object(apt, "machine_sources", lambda: list(apt._deb822("\n".join(paragraphs))))

    def updated(self, codename, *paragraphs):
        """(the archive of these sources after an update of its lists, what was printed)."""
        out = StringIO()
        with self.of_machine(*paragraphs), redirect_stdout(out):
            archive = apt.Archive(codename, self.base / "log")
            archive.update()
        return archive, out.getvalue()


class Lists(Archives):
    def test_the_distribution_s_own_archive_whatever_stands_before_it(self):
        local = self.archive("local", ("ours", "1"), origin="Local")
        debian = self.archive("debian", ("theirs", "1"))
        security = self.archive("security", ("theirs", "1"), suite="bookworm-security")
        archive, said = self.updated("bookworm", local, debian, security)
        self.assertEqual(archive.mirrors(), [f"file://{self.base}/debian"])
        own = apt.sources_text(archive.own_sources())
        self.assertEqual([f"/{name}\n" in own for name in ("local", "debian", "security")], [False, True, True])
        self.assertEqual((archive.listed("ours"), archive.listed("theirs"), said), (["1"], ["1"], ""))

    def test_the_pool_of_that_archive(self):
        archive, _ = self.updated("bookworm", self.archive("local", ("ours", "1"), origin="Local"),
                                  self.archive("debian", ("theirs", "1")))
        file = self.base / "debian" / "pool" / "x.deb"
        file.parent.mkdir()
        file.write_bytes(b"x")
        (self.base / "again").mkdir()
        sums = {"pool/x.deb": output(["sha256sum", file]).split()[0]}
        archive._from_pool(sums, "x", self.base)
        self.assertEqual((self.base / "x.deb").read_bytes(), b"x")
        for path in (archive.base / "lists").glob("*Packages*"):
            path.unlink()
        archive._from_pool(sums, "x", self.base / "again")
        self.assertEqual((self.base / "again" / "x.deb").read_bytes(), b"x")

    def test_another_s_archive_that_is_not_signed_is_left_out(self):
        archive, said = self.updated("bookworm", self.archive("ppa", ("ours", "1"), origin="Local", trusted="no"),
                                     self.archive("debian", ("theirs", "1")))
        self.assertEqual((archive.listed("ours"), archive.listed("theirs")), ([], ["1"]))
        self.assertIn("/ppa bookworm Release' is not signed", said)

    def test_without_the_distribution_s_own_it_is_an_error(self):
        with self.assertRaisesRegex(Failed, "is not signed"):
            self.updated("bookworm", self.archive("local", ("ours", "1"), origin="Local"),
                         self.archive("debian", ("theirs", "1"), trusted="no"))

    def test_a_root_has_the_distribution_s_archives_alone(self):
        made = [self.archive(name, ("some", "1"), origin=origin, suite="trixie").replace("trixie", "bookworm")
                for name, origin in (("local", "Local"), ("debian", "Debian"))]
        root, ran = roots.Root("trixie"), []

        def run(argv, log):
            ran.append(argv)
            (root.path / "etc" / "apt" / "sources.list.d").mkdir(parents=True, exist_ok=True)
            (root.path / "etc" / "apt" / "apt.conf.d").mkdir(exist_ok=True)
            (root.path / "usr" / "sbin").mkdir(parents=True, exist_ok=True)
        with self.of_machine(*made), mock.patch.object(apt, "install"), mock.patch.object(roots, "run", run), \
                redirect_stdout(StringIO()):
            root.make(self.base / "log")
        self.assertEqual(ran[0][-1], f"file://{self.base}/debian")
        text = (root.path / "etc" / "apt" / "sources.list.d" / "debian.sources").read_text()
        self.assertIn("/debian\nSuites: trixie\n", text)
        self.assertNotIn("/local", text)


class Installing(Archives):
    def install(self, *packages):
        """(the commands that install these packages, the error message)."""
        ran = []
        with mock.patch.object(apt, "run", lambda argv, log: ran.append(argv)), redirect_stdout(StringIO()):
            try:
                apt.install(packages, "log")
            except Failed as error:
                return [argv for argv in ran if argv[1] == "install"], str(error)
        return [argv for argv in ran if argv[1] == "install"], ""

    def offered(self, *packages):
        (self.base / "sources.d" / "a.sources").write_text(self.archive("debian", *packages))
        output(["apt-get", "update"])

    def test_nothing_that_is_there_is_removed(self):
        self.offered(("mariadb-server", "1:1", "Provides: virtual-mysql-server\nConflicts: virtual-mysql-server\n"))
        self.installed(MYSQL)
        ran, said = self.install("mariadb-server")
        self.assertEqual(ran, [])
        self.assertIn("would remove mysql-community-server", said)
        self.assertIn("mariadb-server", said.splitlines()[-1])

    def test_the_same_under_another_name_is_not_removed(self):
        self.offered(("liballoc4t64", "2", "Provides: liballoc4 (= 2)\nBreaks: liballoc4 (<< 2)\n"))
        self.installed(("liballoc4", "1"))
        ran, said = self.install("liballoc4t64")
        self.assertEqual((len(ran), said), (1, ""))

    def test_what_nothing_needs_stays(self):
        self.offered(("tool", "1"))
        self.installed(("orphan", "1"))
        (self.base / "extended_states").write_text("Package: orphan\nArchitecture: amd64\nAuto-Installed: 1\n")
        self.assertIn("Remv orphan", output(["apt-get", "install", "-y", "--simulate", "tool"]))
        ran, said = self.install("tool")
        self.assertEqual((len(ran), said), (1, ""))


class Server(Archives):
    def test_the_version_is_that_of_the_program(self):
        self.assertIsNone(distribution.installed_version())
        self.installed(("mariadb-server-core", "1:11.8.6"))  # A desktop has only this package, without a service.
        self.assertIsNone(distribution.installed_version())
        # mariadb-server is on hold, and depends on its core with >=.
        self.installed(("mariadb-server", "1:10.11.18"), ("mariadb-server-core", "1:10.11.19"))
        self.assertEqual(distribution.installed_version(), "1:10.11.19")

    def test_another_server_is_not_replaced(self):
        self.installed(MYSQL)
        with self.assertRaisesRegex(Unavailable, "mysql-community-server is installed"):
            distribution.environment(None, self.base / "log", None)
        self.installed(("mysql-server-core-8.0", "8.0.1", "Provides: virtual-mysql-server-core\n"))
        distribution.check_no_other_server()


if __name__ == "__main__":
    unittest.main()
