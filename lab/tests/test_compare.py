"""Tests of lab/compare: what counts of a sysbench run, ratios are of one round."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from installer.shell import Failed
from lab.compare import __main__ as compare
from lab.compare import engines, report, sysbench
from lab.tests.test_parse_sysbench import recorded


class Sysbench(unittest.TestCase):
    def test_transactions_or_queries_are_what_is_counted(self):
        text = recorded("errors")
        figures = sysbench.figures(text, "transactions")
        self.assertEqual((figures.per_s, figures.p95_ms, figures.max_ms, figures.errors), (302.3, 104.84, 364.93, 217))
        self.assertEqual(sysbench.figures(text, "queries").per_s, 6917.56)


def _run(engine, number, per_s, **more):
    return {"engine": engine, "sync": "NONE", "work": "insert", "round": number, "per_s": per_s, "p95_ms": 1.0,
            "max_ms": 2.0, "errors": 0, **more}


class Profiles(unittest.TestCase):
    def test_options_of_an_engine(self):
        for profile in engines.profiles():
            ours = engines.options(profile, "TidesDB", "FULL")
            self.assertTrue([o for o in ours if o.startswith("--tidesdb_block_cache_size=")], profile)
            self.assertEqual(ours[-1], "--tidesdb-unified-memtable-sync-mode=FULL")
            self.assertFalse([o for o in engines.options(profile, "InnoDB", "NONE") if "tidesdb" in o])

    def test_the_seed_s_settings_are_there(self):
        innodb = engines.options("seed-000", "InnoDB", "NONE")
        self.assertIn("--innodb_max_dirty_pages_pct_lwm=0.1", innodb)
        self.assertIn("--skip-log-bin", innodb)
        self.assertIn("--tidesdb_pessimistic_locking=OFF", engines.options("seed-000", "TidesDB", "NONE"))

    def test_the_seed_without_a_configuration_has_that_of_seed_000(self):
        for name in ("InnoDB", "TidesDB", "RocksDB"):
            self.assertEqual(engines.options("seed-002", name, "NONE"), engines.options("seed-000", name, "NONE"))
        self.assertIn("--innodb_buffer_pool_size=64M", engines.options("seed-002", "InnoDB", "NONE"))

    def test_each_profile_says_what_is_unequal(self):
        for profile in engines.profiles():
            self.assertRegex(engines.about(profile), "not equal|unequal", profile)
            self.assertNotIn("Groups", engines.about(profile))
        self.assertIn("prints no my.cnf", engines.about("seed-002"))

    def test_a_line_outside_a_group_is_named(self):
        with self.assertRaisesRegex(Failed, "x.cnf:2: 'a = 1' is in no"):
            engines.read_profile("# text\na = 1\n", "x.cnf")


class Directory(unittest.TestCase):
    def test_only_a_study_is_removed(self):
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name) / "study"
            compare._make_empty(directory)
            (directory / "runs.json").touch()
            compare._make_empty(directory)
            self.assertFalse((directory / "runs.json").exists())
            (Path(name) / "somebody's").touch()
            with self.assertRaisesRegex(Failed, "no study"):
                compare._make_empty(Path(name))
            self.assertTrue((Path(name) / "somebody's").exists())


class TimeLeft(unittest.TestCase):
    def test_tpcc_is_not_run_on_what_keeps_no_rows(self):
        args = SimpleNamespace(directory=Path("nowhere"), work=["insert"], seconds=10, tpcc_seconds=60, warehouses=10,
                               engines=["InnoDB", "BLACKHOLE"], sync=["NONE"], rounds=2)
        with_tpcc = compare.Study(args, None, None, None).left_s
        args.warehouses = 0
        self.assertEqual(with_tpcc - compare.Study(args, None, None, None).left_s, 2 * 70)


class Report(unittest.TestCase):
    def test_medians_and_the_ratios_of_each_round(self):
        runs = [_run("A", 1, 100), _run("B", 1, 200), _run("A", 2, 50), _run("B", 2, 75)]
        self.assertIn("**1.83** (1.50–2.00)", report.markdown(runs, ["A", "B"]))

    def test_a_run_with_wrong_data_says_so(self):
        runs = [_run("A", 1, 100), _run("B", 1, 200, consistent=False, errors=7)]
        self.assertIn("[7 errors, INCONSISTENT]", report.markdown(runs, ["A", "B"]))


if __name__ == "__main__":
    unittest.main()
