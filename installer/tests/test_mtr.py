"""Reading what mysql-test-run prints, and comparing two engines by it."""

import unittest

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

    def test_reason_of_a_skip(self):
        self.assertEqual(self.results.reasons["engines/funcs.off"], "MDEV-1")

    def test_comparison_names_what_only_innodb_passes(self):
        innodb = mtr.Results({"a": "pass", "b": "pass", "c": "fail", "d": "pass"})
        ours = mtr.Results({"a": "pass", "b": "fail", "c": "pass"})
        self.assertEqual(engine_suites.compare(ours, innodb), {"b": "fail", "d": "not run"})


if __name__ == "__main__":
    unittest.main()
