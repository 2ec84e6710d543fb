"""install.sh --mariadb-version: its options, its sources and their engines, how it configures."""

import unittest
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest import mock

from installer.install import options as install_options
from installer.shell import Failed, Unavailable, run
from installer.source import configure, engines, fetch, options, service

STORAGE = {
    "archive": "MYSQL_ADD_PLUGIN(archive ${ARCHIVE_SOURCES} STORAGE_ENGINE LINK_LIBRARIES ${ZLIB_LIBRARIES})",
    "csv": "SET(CSV_SOURCES ha_tina.cc)\nMYSQL_ADD_PLUGIN(csv ${CSV_SOURCES} # (a comment)\n STORAGE_ENGINE MANDATORY)",
    "innobase": "MYSQL_ADD_PLUGIN(innobase ${INNOBASE_SOURCES} STORAGE_ENGINE\n DEFAULT)",
    "maria": "MYSQL_ADD_PLUGIN(aria ${ARIA_SOURCES} STORAGE_ENGINE MANDATORY\n RECOMPILE_FOR_EMBEDDED)\n"
             "MYSQL_ADD_PLUGIN(s3 ha_s3.cc COMPONENT s3-engine)",
    "mroonga": "  mysql_add_plugin(mroonga\n    ${MRN_SOURCES}\n STORAGE_ENGINE)",
    "columnstore": "add_subdirectory(columnstore)",
}


def sources(directory):
    """A source tree of engines."""
    for name, text in STORAGE.items():
        path = Path(directory) / "storage" / name
        path.mkdir(parents=True)
        (path / "CMakeLists.txt").write_text(text)
    return Path(directory)


class Options(unittest.TestCase):
    def refused(self, *argv):
        error = StringIO()
        with redirect_stderr(error), self.assertRaises(SystemExit):
            install_options.parse(list(argv))
        return error.getvalue()

    def test_what_means_a_server_from_source(self):
        for argv in (["--mariadb-version", "11.8.6"], ["--mariadb-prefix", "/opt/m"], ["--list-engines"]):
            self.assertTrue(options.wanted(install_options.parse(argv)), argv)
        for argv in ([], ["--pgo"], ["--mariadb-source", "a.tar.gz"], ["--build-dir", "/b"]):
            self.assertFalse(options.wanted(install_options.parse(argv)), argv)

    def test_versions(self):
        for text in ("11.8.6", "mariadb-11.8.6"):
            self.assertEqual(install_options.parse(["--mariadb-version", text]).mariadb_version, "11.8.6")
        self.assertEqual(install_options.parse(["--mariadb-version", "mariadb-11.8"]).mariadb_version, "11.8")
        self.assertIn("not a version", self.refused("--mariadb-version", "latest"))

    def test_prefixes(self):
        for text in ("mariadb", "/", "/opt", "/opt/../etc", "/opt/my server"):
            self.assertIn("not an absolute path", self.refused("--mariadb-prefix", text))

    def test_engine_names(self):
        def parsed(text):
            return install_options.parse(["--mariadb-version", "11.8.6", "--skip-engines", text]).skip_engines
        self.assertEqual(parsed("Spider, connect"), ["spider", "connect"])
        self.assertEqual(parsed("none"), [])

    def test_the_seeds_command(self):
        args = install_options.parse([
            "--mariadb-prefix", "/data/mariadb", "--tidesdb-prefix", "/data/tidesdb", "--build-dir", "/data/tidesql-build",
            "--mariadb-version", "mariadb-11.8.6", "--skip-engines", "mroonga,rocksdb,connect,spider,oqgraph,columnstore",
            "--pgo", "--allocator", "jemalloc"])
        self.assertTrue(options.wanted(args))
        self.assertEqual((str(args.tidesdb_prefix), args.allocator, args.pgo), ("/data/tidesdb", "jemalloc", True))

    def test_what_does_not_go_together(self):
        self.assertIn("--mariadb-version", self.refused("--skip-engines", "spider"))
        self.assertIn("--mariadb-version", self.refused("--port", "3310"))
        self.assertIn("only with --mariadb-prefix", self.refused("--uninstall", "--mariadb-version", "11.8.6"))
        self.assertIn("not a port", self.refused("--mariadb-version", "11.8.6", "--port", "70000"))

    def test_a_build_path_that_the_compilers_flags_cannot_hold(self):
        source = ["--mariadb-version", "11.8.6"]
        for name in ("/data/my build", "/data/it's", "/data/a;b"):
            self.assertIn("give another --build-dir", self.refused(*source, "--build-dir", name))
            install_options.parse(["--build-dir", name])  # The plugin's build quotes its flags.
        install_options.parse([*source, "--build-dir", "/data/ws@2/build,new"])
        with mock.patch.object(options, "TREE", Path("/data/my clone")):
            self.assertIn("/data/my clone/build", self.refused(*source))
            install_options.parse([*source, "--build-dir", "/data/build"])
            install_options.parse(["--uninstall", "--mariadb-prefix", "/opt/m"])


class Engines(unittest.TestCase):
    def setUp(self):
        temporary = TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.found = engines.find(sources(temporary.name))

    def test_they_are_read_from_the_sources(self):
        self.assertEqual(list(self.found), sorted(STORAGE))
        self.assertEqual(self.found["maria"], engines.Engine("maria", "ARIA", True))
        self.assertEqual(self.found["mroonga"], engines.Engine("mroonga", "MROONGA", False))
        self.assertEqual(self.found["columnstore"], engines.Engine("columnstore", "COLUMNSTORE", False))
        self.assertEqual([e.name for e in self.found.values() if e.needed], ["csv", "innobase", "maria"])

    def test_what_is_left_out(self):
        def names(asked):
            return [engine.name for engine in engines.skipped(self.found, asked)]
        self.assertEqual(names(None), ["columnstore", "mroonga"])
        self.assertEqual(names(["archive"]), ["archive"])
        self.assertEqual(names([]), [])

    def test_a_name_that_is_none_says_which_are(self):
        with self.assertRaises(Failed) as caught:
            engines.skipped(self.found, ["archive", "mongo"])
        self.assertIn("no storage engine mongo", str(caught.exception))
        self.assertIn("archive, columnstore, mroonga", str(caught.exception))
        with self.assertRaises(Failed) as caught:
            engines.skipped(self.found, ["innobase"])
        self.assertIn("needs innobase", str(caught.exception))

    def test_packages_of_those_that_are_built(self):
        self.assertEqual(engines.packages(self.found, engines.skipped(self.found, None)), [])
        self.assertEqual(engines.packages(self.found, []), engines.PACKAGES["columnstore"])

    def test_those_that_cmake_has_left_out(self):
        rules = ("build storage/archive/CMakeFiles/archive.dir/ha_archive.cc.o: CXX_COMPILER__archive\n"
                 "build storage/mroonga/vendor/groonga/lib/CMakeFiles/libgroonga.dir/alloc.c.o: C_COMPILER__libgroonga\n"
                 "build storage/columnstore/CMakeFiles/edit_cache.util: CUSTOM_COMMAND\n")
        with TemporaryDirectory() as directory:
            found = engines.find(sources(directory))
            for asked, absent in (([], ["columnstore"]), (["archive"], ["columnstore"]), (["columnstore"], [])):
                self.assertEqual(engines.absent(Path(directory), engines.skipped(found, asked), rules), absent)
            self.assertEqual(engines.absent(Path(directory), [], ""), ["columnstore", "mroonga"])

    def test_the_list_says_what_happens_to_each(self):
        lines = {line.split()[0]: line for line in engines.table(self.found, "11.8.6").splitlines()[1:]}
        self.assertIn("always", lines["csv"])
        self.assertIn("left out", lines["mroonga"])
        self.assertTrue(lines["archive"].endswith(" built"))

    def test_other_sources_are_refused(self):
        with TemporaryDirectory() as directory, self.assertRaises(Failed):
            engines.find(Path(directory))


class Sources(unittest.TestCase):
    def setUp(self):
        temporary = TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.base = Path(temporary.name)
        self.log = self.base / "log"

    def tarball(self, name="mariadb-11.8.6"):
        tree = self.base / name
        sources(tree)
        (tree / "VERSION").write_text("MYSQL_VERSION_MAJOR=11\nMYSQL_VERSION_MINOR=8\nMYSQL_VERSION_PATCH=6\n")
        run(["tar", "-czf", self.base / "source.tar.gz", "-C", self.base, name])
        return self.base / "source.tar.gz"

    def args(self, **said):
        return SimpleNamespace(**{"mariadb_source": None, "mariadb_version": None, "build_dir": self.base / "build",
                                  "mariadb_prefix": None, **said})

    def test_versions_of_the_archive(self):
        versions = ["1:11.8.6-0+deb13u1", "1:11.8.3-0+deb13u1"]
        for wanted, found in [(None, versions), ("11.8", versions), ("11.8.6", versions[:1]), ("11.8.3", versions[1:])]:
            self.assertEqual(fetch.choose(versions, wanted), found)
        for wanted in ("11.8.60", "11.80", "1.8", "11.4"):
            with self.assertRaises(Unavailable) as caught:
                fetch.choose(versions, wanted)
            self.assertIn("11.8.6, 11.8.3", str(caught.exception))
        with self.assertRaises(Unavailable):
            fetch.choose(["1:11.80.1-1"], "11.8")

    def test_sources_that_are_not_there_yet(self):
        """The lists name a patch release before its sources are there."""
        tried = []

        class Archive:
            base = self.base

            def __init__(self, codename, log):
                pass

            def update(self):
                pass

            def source_versions(self, package):
                return ["1:11.8.9-1", "1:11.8.6-1"]

            def download_source(self, package, version, into, description):
                tried.append(version)
                if version in self.missing:
                    raise Failed("404")

        with mock.patch.object(fetch.apt, "Archive", Archive):
            Archive.missing = ["1:11.8.9-1"]
            self.assertEqual(fetch.find(self.args(mariadb_version="11.8"), self.log).package_version, "1:11.8.6-1")
            self.assertEqual(tried, ["1:11.8.9-1", "1:11.8.6-1"])
            with self.assertRaisesRegex(Failed, "404"):
                fetch.find(self.args(mariadb_version="11.8.9"), self.log)

    def test_a_tarball_is_unpacked_once(self):
        source = fetch.find(self.args(mariadb_source=self.tarball(), mariadb_version="11.8"), self.log)
        self.assertEqual(source.version, "11.8.6")
        into = self.base / "build" / "sources"
        source.unpack(into, self.log)
        self.assertEqual(sorted(engines.find(into)), sorted(STORAGE))
        (into / "mark").touch()
        source.unpack(into, self.log)
        self.assertTrue((into / "mark").exists())
        with mock.patch.object(fetch.apt, "Archive", side_effect=AssertionError("the network")):
            self.assertEqual(fetch.find(self.args(mariadb_version="11.8.6"), self.log).version, "11.8.6")
        with self.assertRaises(Failed) as caught:
            fetch.Source("11.8.7").unpack(into, self.log)
        self.assertIn("has the sources of MariaDB 11.8.6", str(caught.exception))

    def test_wrong_tarballs(self):
        with self.assertRaises(Failed) as caught:
            fetch.find(self.args(mariadb_source=self.tarball(), mariadb_version="10.11.18"), self.log)
        self.assertIn("holds MariaDB 11.8.6, and --mariadb-version says 10.11.18", str(caught.exception))
        with self.assertRaises(Failed) as caught:
            fetch.find(self.args(mariadb_source=self.base / "none.tar.gz"), self.log)
        self.assertIn("no file", str(caught.exception))
        with self.assertRaises(Failed) as caught:
            fetch.find(self.args(mariadb_source=self.tarball("other-1.0")), self.log)
        self.assertIn("no sources of MariaDB", str(caught.exception))

    def test_a_directory_of_somebody_else_is_not_filled(self):
        into = self.base / "sources"
        into.mkdir()
        (into / "theirs").touch()
        with self.assertRaises(Failed):
            fetch.Source("11.8.6", tarball=self.tarball()).unpack(into, self.log)
        self.assertTrue((into / "theirs").exists())


class Configured(unittest.TestCase):
    paths = options.Paths(Path("/opt/m"), Path("/b"))

    def given(self, *more):
        made = configure.options(self.paths, [engines.Engine("maria", "ARIA", True)], *more)
        return dict(option[2:].split("=", 1) for option in made)

    def test_all_is_below_the_prefix(self):
        given = self.given()
        for name in ("CMAKE_INSTALL_PREFIX", "MYSQL_DATADIR", "MYSQL_UNIX_ADDR", "DEFAULT_SYSCONFDIR"):
            self.assertTrue(str(given[name]).startswith("/opt/m"), name)
        self.assertEqual(given["PLUGIN_ARIA"], "NO")
        self.assertNotIn("profile", given["CMAKE_CXX_FLAGS_RELWITHDEBINFO"])

    def test_plain_and_optimised_differ_in_the_profile_alone(self):
        plain = self.given()
        for how in ("generate", "use"):
            given = self.given(how, "/c", "/b/tree")
            self.assertIn(f"-fprofile-{how}=/c", given["CMAKE_C_FLAGS_RELWITHDEBINFO"])
            for language in ("C", "CXX"):
                without, flags = ({flag for flag in of[f"CMAKE_{language}_FLAGS_RELWITHDEBINFO"].split()
                                   if "profile" not in flag and "mismatch" not in flag} for of in (plain, given))
                self.assertTrue(any("-flto" in flag for flag in without))
                self.assertEqual(flags, without if how == "use" else {flag for flag in without if "lto" not in flag})
            different = {name for name in given if given[name] != plain[name]} - {"INSTALL_MYSQLTESTDIR"}
            self.assertLessEqual(different, {f"CMAKE_{language}_{what}" for language in ("C", "CXX")
                                             for what in ("FLAGS_RELWITHDEBINFO", "COMPILER_LAUNCHER")})


class Texts(unittest.TestCase):
    paths = options.Paths(Path("/opt/m"), Path("/b"))

    def test_the_configuration_is_of_this_prefix(self):
        text = service.server_config(self.paths, 3310, 8 << 30)
        for line in ("datadir = /opt/m/data", "socket = /opt/m/run/mysqld.sock", "port = 3310", "user = mysql",
                     "plugin_load_add = ha_tidesdb"):
            self.assertIn(f"\n{line}\n", text)

    def test_the_allocator_is_preloaded_both_ways(self):
        library = "/usr/lib/libjemalloc.so.2"
        self.assertIn(f"Environment=LD_PRELOAD={library}\n", service.unit(self.paths, "11.8.6", library))
        self.assertNotIn("LD_PRELOAD", service.unit(self.paths, "11.8.6", None))
        self.assertIn(f"preload={library}\n", service.control(self.paths, library))
        self.assertIn("preload=\n", service.control(self.paths, None))


if __name__ == "__main__":
    unittest.main()
