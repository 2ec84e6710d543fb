"""Reading the output of mysql-test-run, and comparing two engines by it."""

import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

from installer import engine_suites, mtr

OUTPUT = """
worker[01] Using MTR_BUILD_THREAD 300, with reserved ports 19000..19029
tidesdb.plugin                           [ pass ]      1
engines/iuds.delete_time 'engine'        w2 [ pass ]    731
engines/iuds.insert_time 'engine'        w1 [ fail ]
        Test ended at 2026-01-01 00:00:00
engines/iuds.insert_time 'engine'        w1 [ retry-pass ]   10
engines/funcs.rpl_a 'mix,engine'         w1 [ skipped ]  Neither MIXED nor ROW
engines/funcs.off                        [ disabled ]  MDEV-1
The servers were restarted 0 times
"""


class Parse(unittest.TestCase):
    def setUp(self):
        self.results = mtr.parse(OUTPUT)

    def test_statuses(self):
        self.assertEqual(self.results.tests, {
            "tidesdb.plugin": "pass", "engines/iuds.delete_time": "pass",
            "engines/iuds.insert_time": "fail", "engines/funcs.rpl_a 'mix,engine'": "skipped",
            "engines/funcs.off": "skipped"})

    def test_what_the_driver_said_of_a_failure(self):
        self.assertEqual(self.results.said, {"engines/iuds.insert_time": ["        Test ended at 2026-01-01 00:00:00"]})

    def test_reason_of_a_skip(self):
        self.assertEqual(self.results.reasons["engines/funcs.off"], "MDEV-1")

    def test_comparison_names_what_only_innodb_passes(self):
        innodb = mtr.Results({"a": "pass", "b": "pass", "c": "fail", "d": "pass"})
        ours = mtr.Results({"a": "pass", "b": "fail", "c": "pass"})
        self.assertEqual(engine_suites.compare(ours, innodb), {"b": "fail", "d": "not run"})


class Selection(unittest.TestCase):
    def test_suites_beside_tests_are_not_lost(self):
        with TemporaryDirectory() as directory:
            suites = Path(directory)
            for name in ("tidesdb/t/crud", "tidesdb/t/crash", "engines/iuds/t/delete"):
                (suites / name).parent.mkdir(parents=True, exist_ok=True)
                (suites / f"{name}.test").touch()
            self.assertEqual(mtr.selection(["tidesdb", "engines/iuds"], suites), ["--suite=tidesdb,engines/iuds"])
            self.assertEqual(mtr.selection(["tidesdb", "main.select"], suites),
                             ["main.select", "tidesdb.crash", "tidesdb.crud"])
            self.assertEqual(mtr.selection(["main.select"], suites), ["main.select"])


if __name__ == "__main__":
    unittest.main()
