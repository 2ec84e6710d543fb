"""The build of a server from source and the three phases of --pgo, with real compilers on a small stand-in project."""

import json
import re
import shutil
import subprocess
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest import mock

from installer import mtr
from installer import pgo as plugin_pgo
from installer.shell import TREE, Failed, output, run
from installer.source import build, configure, ninja, options, pgo

# Makes a missing profile an error, which shows that the flags of both phases name the same files.
_STRICT = """if("${CMAKE_CXX_FLAGS_RELWITHDEBINFO}${TIDESDB_PGO}" MATCHES "use")
  add_compile_options(-Werror=missing-profile)
endif()
"""

SERVER = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(server C CXX)\n" + _STRICT + """
file(WRITE ${CMAKE_BINARY_DIR}/include/my_config.h "#define A 1\\n")
file(WRITE ${CMAKE_BINARY_DIR}/include/mysql_version.h "")
file(WRITE ${CMAKE_BINARY_DIR}/include/mysqld_error.h "")
add_subdirectory(libservices)
add_subdirectory(storage)
add_subdirectory(sql)
""",
    "libservices/CMakeLists.txt": "add_library(mysqlservices STATIC ../storage/engine.cc charset.c)\n"
                                  "target_compile_options(mysqlservices PRIVATE -Wno-error=missing-profile)\n",
    "libservices/charset.c": "int Length(const char* text) { int n = 0; while (text[n]) ++n; return n; }\n",
    "storage/CMakeLists.txt": "add_library(innobase STATIC engine.cc)\n",
    "storage/engine.cc": "int Row(int n) { return n % 3 ? n : -n; }\n",
    "sql/CMakeLists.txt": """add_library(sql STATIC parse.cc)
add_executable(mariadbd main.cc)
target_link_libraries(mariadbd sql innobase dl)
add_custom_command(TARGET mariadbd POST_BUILD COMMAND mariadbd)  # As a server's build runs programs of its own.
install(TARGETS mariadbd DESTINATION sbin)
install(DIRECTORY DESTINATION lib/mysql/plugin)
""",
    "sql/parse.cc": """int Row(int);
int Parse(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += Row(i); return sum; }
""",
    "sql/main.cc": """#include <dlfcn.h>
int Parse(int);
int main(int count, char** words) {
  void* plugin = count > 1 ? dlopen(words[1], RTLD_NOW) : nullptr;
  if (count > 1 && !plugin) return 1;
  int (*handle)(int) = plugin ? reinterpret_cast<int (*)(int)>(dlsym(plugin, "Handle")) : nullptr;
  return Parse(1000) == 1 || (handle && handle(10) != 45);
}
""",
    "include/probes_mysql_nodtrace.h.in": "",
}

PLUGIN = {
    "CMakeLists.txt": f"""cmake_minimum_required(VERSION 3.20)
project(plugin CXX)
{_STRICT}
include({TREE}/cmake/pgo.cmake)
add_library(tidesdb STATIC engine.cc)
set_target_properties(tidesdb PROPERTIES POSITION_INDEPENDENT_CODE ON)
add_library(ha_tidesdb MODULE handler.cc)
set_target_properties(ha_tidesdb PROPERTIES PREFIX "")
target_link_libraries(ha_tidesdb tidesdb)
""",
    "engine.cc": "int Get(int n) { return n < 5 ? n : n + 0; }\n",
    "handler.cc": """int Get(int);
extern "C" int Handle(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += Get(i); return sum; }
""",
}


class StandInTree(build.Tree):
    """Compiles the small project's plugin."""

    def _compile_plugin(self, environment, into, more):
        run(["cmake", "-G", "Ninja", "-S", self.paths.build / "plugin-sources", "-B", into,
             "-DCMAKE_BUILD_TYPE=RelWithDebInfo", *more], log=self.log)
        run(["cmake", "--build", into], log=self.log)
        return into / "ha_tidesdb.so"


class StandInPgo(pgo.ServerPgo):
    """One run of the server stands in for the mix."""

    def __init__(self, *args):
        super().__init__(*args, tree=StandInTree)
        self.mixed = []

    def _mix(self, command, into, *words):
        self.mixed.append(into.name)
        if command == "compare":
            gained = "+1 %" if any("plugin=" in str(word) for word in words) else "+2 %"
            into.mkdir(exist_ok=True)
            (into / "gain.json").write_text(json.dumps({"overall": {"said": gained, "verdict": "gain"}}))
            (into / "gain.md").write_text(f"| all together | {gained} |\n")
            return
        program = next(str(word)[9:] for word in words if str(word).startswith("mariadbd="))
        counters = Path(words[words.index("--counters") + 1])
        if counters.exists():
            raise Failed("there are counters that are not of the training")
        plugin = next(str(word)[7:] for word in words if str(word).startswith("plugin="))
        subprocess.run([program, plugin], check=True)


@unittest.skipUnless(shutil.which("ninja") and shutil.which("ccache") and shutil.which("g++"), "no compiler")
class Phases(unittest.TestCase):
    def setUp(self):
        temporary = TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.base = Path(temporary.name)
        self.paths = options.Paths(Path("/opt/m"), self.base)
        for directory, files in (("sources", SERVER), ("plugin-sources", PLUGIN)):
            for name, text in files.items():
                (self.base / directory / name).parent.mkdir(parents=True, exist_ok=True)
                (self.base / directory / name).write_text(text)
        self.args = SimpleNamespace(jobs=2, rebuild_plugin=False, pgo=True)
        for patch in (mock.patch.object(build.build_plugin, "check"),
                      # Without the settings that only the real server's sources know.
                      mock.patch.dict(configure._FIXED, clear=True, CMAKE_BUILD_TYPE="RelWithDebInfo")):
            patch.start()
            self.addCleanup(patch.stop)

    def build(self):
        """(the tree, what was kept, what was printed, the runs of the mix)."""
        it = StandInPgo(self.paths, "11.8.6", [], self.args, self.base / "log")
        with redirect_stdout(StringIO()) as printed:
            tree, kept = it.build()
        return tree, kept, printed.getvalue(), it.mixed

    def test_the_three_phases(self):
        tree, kept, printed, mixed = self.build()
        self.assertEqual(mixed, ["train", "compare-TidesDB", "compare-InnoDB"])
        self.assertIn("Compiling MariaDB 11.8.6 ...", printed)  # The plain server, for the comparison.
        self.assertEqual(kept["gain"], {"said": "+1 %", "verdict": "gain"})
        counters = self.base / "pgo" / f"profile-{kept['profile']}"
        self.assertEqual(sorted(re.sub(r".*#(\w+\.dir)#.*", r"\1", file.name) for file in counters.rglob("*.gcda")
                                if not file.name.endswith("mariadbd.dir#main.cc.gcda")),
                         ["ha_tidesdb.dir", "innobase.dir", "sql.dir", "tidesdb.dir"])
        self.assertIn(f"-fprofile-use={counters}", (tree.directory / "build.ninja").read_text())
        objects = {path.name: output(["readelf", "--section-headers", "--wide", path])
                   for path in tree.directory.rglob("*.o")}
        self.assertTrue(all(".gnu.lto_" in sections for sections in objects.values()))
        self.assertRegex(objects["charset.c.o"], r" \.text +PROGBITS +\w+ \w+ 0*[1-9a-f]")  # Code, with any compiler.
        staged = self.base / "stage-use" / "opt" / "m"
        self.assertEqual(sorted(path.name for path in staged.rglob("*") if path.is_file()),
                         ["ha_tidesdb.so", "mariadbd", "mariadbd"])
        self.assertEqual([(staged / link).resolve().relative_to(staged) for link in ("bin/mariadbd", "lib/plugin")],
                         [Path("sbin/mariadbd"), Path("lib/mysql/plugin")])
        subprocess.run([staged / "sbin" / "mariadbd", staged / "lib" / "mysql" / "plugin" / "ha_tidesdb.so"], check=True)
        self._again(kept, counters)

    def _again(self, kept, counters):
        """Checks that a second build does nothing again."""
        self.assertEqual(sum(1 for _ in counters.rglob("*.gcda")), 5)
        _, again, printed, mixed = self.build()
        self.assertEqual((mixed, again), ([], kept))
        self.assertIn("no training", printed)
        self.assertIn("Compiling MariaDB 11.8.6, by its profile ... nothing to do", printed)
        self.assertNotIn("Configuring", printed)
        for engine, gained in (("TidesDB", "+1 %"), ("InnoDB", "+2 %")):
            self.assertIn(f"{engine} is measured already:\n| all together | {gained} |", printed)
        (self.base / "pgo" / "compare-InnoDB" / "gain.md").unlink()
        self.assertEqual(self.build()[3], ["compare-InnoDB"])  # The complete measurement is kept.
        (self.base / "pgo" / "measured.json").write_text('{"of"')
        self.assertEqual(self.build()[3], ["compare-TidesDB", "compare-InnoDB"])
        (counters.parent / "measured.json").unlink()
        self.args.pgo = None
        self.assertEqual(self.build()[3], [])  # This run does not ask for it, so nothing is measured.
        (self.base / "pgo" / "profile.json").write_text("{}")
        self.assertIsNone(StandInPgo(self.paths, "11.8.6", [], self.args, self.base / "log").known())

    def test_an_optimised_server_that_fails_the_suite_is_not_given(self):
        suite = self.base / "stage-generate" / "opt" / "m" / "mariadb-test"
        ran = []

        def run_suite(environment, plugin, directory, tests, log):
            ran.append((environment.mariadbd.resolve(), plugin, environment.mtr_dir.resolve(), "main.select" in tests))
            return mtr.Results({"tidesdb.crud": "pass", "main.select": "fail" if len(ran) == 1 else "pass"})

        with mock.patch.object(plugin_pgo.mtr, "run", run_suite):
            it = StandInPgo(self.paths, "11.8.6", [], self.args, self.base / "log")
            with redirect_stdout(StringIO()):
                it.profile()
                suite.mkdir(parents=True)
                (suite / "mysql-test-run.pl").touch()
                with self.assertRaises(Failed) as caught:
                    it.build()
                self.assertIn("fails 1 tests; see", str(caught.exception))
                tree, _ = it.build()
                it.build()
        built = (tree.staged_prefix / "sbin" / "mariadbd", self.base / "plugin-use" / "ha_tidesdb.so", suite, True)
        self.assertEqual(ran, [built] * 2)  # The third build knows the result.

    def test_a_part_without_counters_is_an_error(self):
        counters = self.base / "counters"
        counters.mkdir()
        for name in ("sql#CMakeFiles#sql.dir#a.cc.gcda", "x#innobase.dir#b.gcda", "x#ha_tidesdb.dir#c.gcda"):
            (counters / f"#{name}").touch()
        with self.assertRaises(Failed) as caught:
            plugin_pgo.counters_digest(counters, pgo.TRAINED)
        self.assertIn("no counters of tidesdb in", str(caught.exception))

    def test_an_error_of_the_compiler_is_shown(self):
        (self.base / "sources/sql/parse.cc").write_text("int Parse(int n) { return nothing; }\n")
        tree = StandInTree(self.paths, "11.8.6", "plain", self.args, self.base / "log")
        with redirect_stdout(StringIO()) as printed, self.assertRaises(Failed) as caught:
            tree.make([])
        self.assertIn("nothing", str(caught.exception))
        self.assertIn("... failed", printed.getvalue())

    def test_an_engine_that_is_wanted_is_built_or_named(self):
        """CMake leaves it out and only writes a line to its log."""
        (self.base / "sources/storage/rocksdb").mkdir()
        (self.base / "sources/storage/rocksdb/CMakeLists.txt").write_text("find_package(RocksDB)\n")
        tree = StandInTree(self.paths, "11.8.6", "plain", self.args, self.base / "log")
        for _ in range(2):  # The second build says the same.
            with redirect_stdout(StringIO()), self.assertRaises(Failed) as caught:
                tree.make([])
            self.assertIn("CMake has left out rocksdb", str(caught.exception))
        with redirect_stdout(StringIO()):
            tree.make([SimpleNamespace(name="rocksdb", plugin="ROCKSDB")])

    def test_other_options_are_configured_anew(self):
        tree = StandInTree(self.paths, "11.8.6", "plain", self.args, self.base / "log")
        with redirect_stdout(StringIO()) as printed:
            tree.make([])
            tree.make([])
            tree.make([SimpleNamespace(name="spider", plugin="SPIDER")])
        self.assertEqual(printed.getvalue().count("Configuring"), 2)
        self.assertIn("PLUGIN_SPIDER", json.dumps(json.loads((tree.directory / ".tidesdb-configured.json").read_text())))


class Progress(unittest.TestCase):
    def setUp(self):
        self.now, self.out = 0.0, StringIO()

    def bar(self, live):
        return ninja.Bar("Compiling", self.out, lambda: self.now, live)

    def test_lines_once_a_minute_with_what_is_left(self):
        bar = self.bar(False)
        for second in range(0, 181, 20):
            self.now = float(second)
            bar.update(second, 1000)
        bar.end("180 s")
        self.assertEqual(self.out.getvalue().splitlines(), [
            "  Compiling: 60 of 1000, about 16 min left", "  Compiling: 120 of 1000, about 15 min left",
            "  Compiling: 180 of 1000, about 14 min left", "  Compiling ... 180 s"])

    def test_in_place_on_a_terminal(self):
        bar = self.bar(True)
        for self.now in (1.0, 1.1, 2.0):
            bar.update(10, 20)
        bar.end("2 s")
        self.assertEqual(self.out.getvalue().count("\r"), 3)
        self.assertEqual(self.out.getvalue().count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
