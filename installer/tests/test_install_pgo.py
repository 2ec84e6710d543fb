"""install.sh --pgo: which profile belongs to which source, which phases are skipped, what the record keeps."""

import shutil
import subprocess
import tempfile
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer import pgo, servers
from installer.install import options
from installer.shell import Failed
from installer.steps import guided, library
from installer.steps.record import Record

ENGINE, PLUGIN = "src#CMakeFiles#tidesdb.dir#db#db_impl.cc.gcda", "plugin#CMakeFiles#ha_tidesdb.dir#hton.cc.gcda"


class InDirectory(unittest.TestCase):
    def setUp(self):
        self.base = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.base)

    def put(self, name, text="x"):
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Key(InDirectory):
    def setUp(self):
        super().setUp()
        for name in ["CMakeLists.txt", "CMakePresets.json", "cmake/a.cmake", "include/tidesdb/db.h", "src/db/db.cc",
                     "src/db/db_test.cc", "plugin/hton.cc", "plugin/mysql-test/t/a.test", "plugin/README.md"]:
            self.put(name)

    def key(self, version="10.11.18", compiler="g++ 12"):
        return pgo.source_key(version, compiler, self.base)

    def test_what_is_compiled_makes_another_one(self):
        before = self.key()
        self.assertEqual(self.key(), before)
        for name in ["cmake/a.cmake", "include/tidesdb/db.h", "src/db/db.cc", "plugin/hton.cc", "CMakeLists.txt"]:
            self.put(name, "other")
            self.assertNotEqual(self.key(), before, name)
            self.put(name)
        self.put("src/db/new.cc")
        self.assertNotEqual(self.key(), before)
        (self.base / "src/db/new.cc").unlink()
        self.assertNotEqual(self.key(version="10.11.19"), before)
        self.assertNotEqual(self.key(compiler="g++ 14"), before)

    def test_tests_and_prose_do_not(self):
        before = self.key()
        for name in ["src/db/db_test.cc", "plugin/mysql-test/t/a.test", "plugin/README.md"]:
            self.put(name, "other")
        self.assertEqual(self.key(), before)


class Counters(InDirectory):
    def test_engine_and_plugin_must_both_have_some(self):
        self.put(ENGINE)
        with self.assertRaisesRegex(Failed, "counters of ha_tidesdb"):
            pgo.counters_digest(self.base)
        self.put(PLUGIN)
        before = pgo.counters_digest(self.base)
        self.put(PLUGIN, "more")
        self.assertNotEqual(pgo.counters_digest(self.base), before)
        (self.base / ENGINE).unlink()
        with self.assertRaisesRegex(Failed, "counters of tidesdb"):
            pgo.counters_digest(self.base)


class Without(pgo.Pgo):
    """Compiles and runs nothing, but counts what it would have done."""

    def __init__(self, directory):
        super().__init__(SimpleNamespace(root=None, name="installed"), directory, 1, None)
        self.done, self.trained, self.gain = [], 0, '{"overall": {"mean": 1.0}}'

    def key(self):
        return "key"

    def _compile(self, into, more, said, anew=False):
        self.done.append((into, more[-1].rpartition("/")[2], anew))
        return self.directory / into / "ha_tidesdb.so"

    def _mix(self, command, builds, *more, output_name):
        self.done.append((command, *[label for label, *_ in builds]))
        place = self.directory / output_name
        place.mkdir(parents=True, exist_ok=True)
        if command == "train":
            counters = Path(more[more.index("--counters") + 1])
            counters.mkdir(parents=True)
            self.trained += 1
            for name in (ENGINE, PLUGIN):
                (counters / name).write_text(f"{self.trained}")
        else:
            (place / "gain.json").write_text(self.gain)
            (place / "gain.md").write_text("table")


class Phases(InDirectory):
    def run_quietly(self, work):
        with redirect_stdout(StringIO()) as said:
            found = work()
        return found, said.getvalue()

    def test_a_second_run_reuses_the_profile(self):
        it = Without(self.base)
        first, _ = self.run_quietly(it.profile)
        again, said = self.run_quietly(Without(self.base).profile)
        self.assertEqual(again, first)
        self.assertIn("no training", said)
        self.assertEqual(it.done, [("generate", "training", False), ("train", "instrumented")])
        self.assertTrue((self.base / f"profile-{first['digest']}" / ENGINE).exists())
        self.assertFalse((self.base / "training").exists())

    def test_trained_anew_it_is_another_compilation(self):
        it = Without(self.base)
        first, _ = self.run_quietly(it.profile)
        second, _ = self.run_quietly(lambda: it.profile(anew=True))
        self.assertNotEqual(first["digest"], second["digest"])
        it.optimised(second)
        self.assertEqual(it.done[-1], ("use", f"profile-{second['digest']}", False))
        self.assertEqual(len(list(self.base.glob("profile-*"))), 1)

    def test_a_profile_of_another_source_is_not_taken(self):
        it = Without(self.base)
        self.run_quietly(it.profile)
        it.key = lambda: "another"
        self.assertIsNone(it.known_profile())

    def test_an_interrupted_training_leaves_no_profile(self):
        it = Without(self.base)
        with mock.patch.object(it, "_mix", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            self.run_quietly(it.profile)
        self.assertIsNone(Without(self.base).known_profile())
        self.run_quietly(it.profile)
        self.assertIsNotNone(Without(self.base).known_profile())

    def test_the_same_pair_is_measured_once(self):
        it = Without(self.base)
        plain, plugin = self.put("plain.so"), self.put("pgo.so", "y")
        gain, _ = self.run_quietly(lambda: it.compare(plain, plugin))
        again, said = self.run_quietly(lambda: it.compare(plain, plugin))
        self.assertEqual(again, gain)
        self.assertIn("table", said)
        self.put("pgo.so", "z")
        self.run_quietly(lambda: it.compare(plain, plugin))
        self.run_quietly(lambda: it.compare(plain, plugin, "jemalloc"))
        self.assertEqual([done[0] for done in it.done], ["compare"] * 3)


class Wanted(InDirectory):
    def args(self, *argv):
        return options.parse([*argv, "--build-dir", str(self.base)])

    def test_as_it_was_asked_for_now_or_earlier(self):
        record = Record(self.base / "record")
        self.assertFalse(guided.wanted(self.args(), record))
        self.assertTrue(guided.wanted(self.args("--pgo"), record))
        guided.remember(record, {"profile": "d", "trained": "t", "gain": None})
        self.assertTrue(guided.wanted(self.args(), record))
        self.assertFalse(guided.wanted(self.args("--no-pgo"), record))
        guided.remember(record, None)
        self.assertNotIn("pgo", record.facts)

    def test_asked_for_earlier_and_another_source_is_built_without(self):
        record = Record(self.base / "record")
        guided.remember(record, {"profile": "d", "trained": "t", "gain": None})
        environment = SimpleNamespace(version="1.2.3", root=None, name="installed")
        with mock.patch.object(pgo.Pgo, "known_profile", return_value=None), redirect_stdout(StringIO()) as said:
            found = guided.build(record, environment, self.args(), Path("plain.so"), None, None)
        self.assertEqual(found, (Path("plain.so"), None))
        self.assertIn("--pgo trains again", said.getvalue())

    def test_the_summary_names_profile_and_gain(self):
        fact = {"profile": "abc", "trained": "today", "gain": {"said": "+5.4 % (+2.3 to +8.6)", "verdict": "gain"}}
        self.assertIn("abc", guided.summary(fact))
        self.assertIn("+5.4 % (+2.3 to +8.6), gain", guided.summary(fact))
        self.assertNotIn("gain", guided.summary({**fact, "gain": None}))


class Library(InDirectory):
    def test_it_is_put_by_the_record_and_what_is_no_more_goes(self):
        record = Record(self.base / "record")
        prefix, staged = self.base / "opt" / "tidesdb", self.base / "staged"
        self.put("staged/lib/libtidesdb.a")
        self.put("staged/include/tidesdb/old.h")
        self.assertTrue(library.put(record, prefix, staged))
        self.assertFalse(library.put(record, prefix, staged))
        self.assertEqual((prefix / "lib" / "libtidesdb.a").read_text(), "x")
        (staged / "include/tidesdb/old.h").unlink()
        self.assertTrue(library.put(record, prefix, staged))
        self.assertFalse((prefix / "include").exists())
        other = self.base / "other"
        library.put(record, other, staged)
        self.assertFalse(prefix.exists())
        args = SimpleNamespace(tidesdb_prefix=None)
        self.assertEqual(library.prefix_of(args, record), other)
        for path in sorted(record.files):
            record.remove(path)
        self.assertFalse(other.exists())


class Compiling(InDirectory):
    """cmake/pgo.cmake, with a project of its own."""

    def test_no_cache_stands_between(self):
        """Newer ones (4.11) with a base_dir give the compiler other paths, and the profile is of another function."""
        self.put("project/main.cc", "int main() {}\n")
        self.put("project/CMakeLists.txt",
                 f"cmake_minimum_required(VERSION 3.25)\nproject(one CXX)\ninclude({pgo.TREE}/cmake/pgo.cmake)\n"
                 "add_executable(one ${PROJECT_SOURCE_DIR}/main.cc)\n")
        self.build("generate")
        subprocess.run([self.base / "generate" / "one"], check=True)
        self.assertTrue(list(self.base.rglob("*main.cc.gcda")))
        self.build("use")

    def build(self, which):
        for words in (["-G", "Ninja", "-S", self.base / "project", "-B", self.base / which,
                       "-DCMAKE_CXX_COMPILER_LAUNCHER=false", f"-DTIDESDB_PGO={which}",
                       f"-DTIDESDB_PGO_DIR={self.base}/counters"], ["--build", self.base / which]):
            done = subprocess.run(["cmake", *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Words(unittest.TestCase):
    def test_a_server_by_name_and_one_by_its_files(self):
        named = servers.Environment("debian13", "1", "11.8.6", Path("/c"), Path("/h"), None)
        self.assertEqual(pgo.build_words("a", named, "p.so"), ["a", "server=debian13", "plugin=p.so"])
        installed = servers.Environment("installed", "1", "11.8.6", Path("/"), Path("/h"), None)
        self.assertEqual(pgo.build_words("b", installed, "p.so", "jemalloc"),
                         ["b", "mariadbd=/usr/sbin/mariadbd", "basedir=/usr", "plugin-dir=/usr/lib/mysql/plugin",
                          "plugin=p.so", "allocator=jemalloc"])

    def test_the_checks_are_tests_of_the_suite(self):
        for name in pgo.CHECKS:
            test = pgo.TREE / "plugin/mysql-test/suite/tidesdb/t" / f"{name.partition('.')[2]}.test"
            self.assertTrue(test.exists(), name)


if __name__ == "__main__":
    unittest.main()
