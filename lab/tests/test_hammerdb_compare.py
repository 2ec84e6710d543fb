"""Tests of lab/hammerdb/compare without a server: what is counted; a comparison that is interrupted and gone on with."""

import io
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

from installer.shell import Failed
from installer.tests.signals import keep_handlers
from lab.hammerdb import compare, counted
from lab.tests.test_hammerdb import FakeConnection, FakeGenerator, FakeServer


class Counted(unittest.TestCase):
    def test_who_is_first_changes(self):
        self.assertEqual([name for _, name in compare.in_turn(["a", "b"], 3)], list("abbaab"))

    def test_counters_are_by_new_order(self):
        before = ({name: 100 for name in counted.COUNTERS}, 3000)
        after = ({name: 400 for name in counted.COUNTERS}, 3100)
        self.assertEqual(counted.by_new_order(before, after)["Questions"], 3.0)
        with self.assertRaisesRegex(Failed, "no new order"):
            counted.by_new_order(before, before)

    def test_the_table(self):
        runs = [(name, {"Questions": value, "server_cpu_ms_per_neword": value, "nopm": 10})
                for name, value in (("tpcc", 3.0), ("HammerDB 5.0", 4.0), ("tpcc", 5.0), ("HammerDB 5.0", 4.0))]
        self.assertIn("| statements sent (round trips) | 4 (3–5) | 4 (4–4) | 1.000 |", counted.markdown(runs))
        self.assertEqual(counted.cpu_apart(runs), 0)
        self.assertIsNone(counted.cpu_apart([("tpcc", {})]))


class Counting(FakeConnection):
    """A server on which every look finds ten more of everything."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def sql(self, statement):
        found = super().sql(statement)
        if not statement.startswith("SHOW GLOBAL STATUS"):
            return found
        self.count += 10
        return [[name, str(self.count)] for name in counted.COUNTERS]

    def value(self, _):
        return str(self.count)


class Generator(FakeGenerator):
    def __init__(self, name, log, trouble):
        super().__init__()
        self.name, self.log, self.trouble = name, log, trouble

    def __call__(self, args, _log):
        self.args = args
        return self

    def build(self, connection, *_):
        self.log.append(f"build {self.name}")
        connection.databases.add(self.args.tpcc_db)

    def run(self, *more):
        self.log.append(f"run {self.name}")
        if self.log == self.trouble:
            raise KeyboardInterrupt
        return {**super().run(*more), "server_cpu_ms_per_neword": 1.0}


class GoesOn(unittest.TestCase):
    def setUp(self):
        keep_handlers(self)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)
        self.server, self.log, self.trouble = FakeServer(), [], []
        self.server.connection = Counting()
        for target, name, value in ((compare.real, "version", lambda _: "5.0"),
                                    (compare.builtin, "Builtin", Generator("tpcc", self.log, self.trouble)),
                                    (compare.real, "Real", Generator("HammerDB 5.0", self.log, self.trouble)),
                                    (compare.server, "make", lambda *_: self.server),
                                    (compare.calls, "measure", self.measure)):
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def measure(self, _connection, databases, *_):
        self.log.append(f"calls {' '.join(databases)}")
        return {"NEWORD": [{"cpu_ms": 1.0, "Com_select": 2.0}, {"cpu_ms": 1.0, "Com_select": 3.0}]}

    def go(self, *argv):
        """The exit code, and what was said."""
        said = io.StringIO()
        with mock.patch.object(compare.sys, "argv", ["compare", *map(str, argv)]), redirect_stdout(said):
            return compare._main(), said.getvalue()

    def begin(self, *more):
        return self.go("-H", self.place, "-e", "innodb", "--rounds", 2, "-o", self.place, "--pass", "secret",
                       *(() if "--settle" in more else ("--settle", 0)), *more)

    ALL = ["build tpcc", "build HammerDB 5.0", "calls tpcc tpcc_hammerdb", "run tpcc", "run HammerDB 5.0",
           "run HammerDB 5.0", "run tpcc"]

    def test_all_in_turn_with_its_tables_in_the_folder(self):
        code, said = self.begin()
        self.assertEqual((code, self.log), (0, self.ALL))
        folder, = self.place.glob("hammerdb_compare_*")
        tables = (folder / compare.TABLES).read_text()
        for line in ("| NEWORD | Com_select | 2.000 | 3.000 |", "| CALL | 1 (1–1) | 1 (1–1) | 1.000 |",
                     "The server's CPU time is 0.0% apart; 5% are allowed."):
            self.assertIn(line, tables)
            self.assertIn(line, said)
        self.assertIn("- mariadbd: 11.8.6-MariaDB\n", tables)
        self.assertIn(compare.TABLES, (folder / "SHA256SUMS").read_text())
        self.assertEqual([line for line in self.server.connection.said if "DROP" in line][2:],
                         ["DROP DATABASE IF EXISTS `tpcc`", "DROP DATABASE IF EXISTS `tpcc_hammerdb`"])

    def test_each_run_comes_after_a_rest(self):
        with mock.patch("lab.harness.progress.Running.rest", lambda _, seconds: self.log.append(f"rest {seconds:g}")):
            self.begin("--settle", 7)
        runs = [entry for entry in self.log if not entry.startswith(("build", "calls"))]
        self.assertEqual(runs, [each for name in self.ALL[3:] for each in ("rest 7", name)])

    def test_an_interrupted_one_goes_on(self):
        self.trouble[:] = self.ALL[:5]
        code, said = self.begin()
        folder, = self.place.glob("hammerdb_compare_*")
        self.assertEqual(code, 130)
        self.assertIn(f"python3 -m lab.hammerdb.compare --resume {folder}", said)
        self.assertNotIn("secret", (folder / compare.JOURNAL).read_text())
        with self.assertRaisesRegex(Failed, "--rounds: --resume goes on with the options"):
            self.go("--resume", folder, "--rounds", 3)
        self.log.clear()
        code, said = self.go("--resume", folder)
        self.assertEqual((code, self.log), (0, self.ALL[4:]))
        self.assertIn("Interrupted during: round 1 HammerDB 5.0", (folder / compare.TABLES).read_text())

    def test_somebody_s_database_is_left_alone_and_nothing_of_a_failed_start(self):
        self.server.connection.databases.add("tpcc_hammerdb")
        with self.assertRaisesRegex(Failed, "there is a database tpcc_hammerdb: --replace-schema drops it"):
            self.begin()
        self.server.check = mock.Mock(side_effect=Failed("no server"))
        with self.assertRaisesRegex(Failed, "no server"):
            self.go("-H", self.place, "-e", "innodb", "-o", self.place / "other")
        self.assertEqual(list((self.place / "other").iterdir()), [])

    def test_what_is_wanted(self):
        for argv in (["-e", "innodb"], ["-H", self.place], ["-H", self.place, "-e", "innodb,tidesdb"]):
            with self.assertRaisesRegex(Failed, r"name the real HammerDB \(-H DIR\) and one engine"):
                self.go(*argv)


if __name__ == "__main__":
    unittest.main()
