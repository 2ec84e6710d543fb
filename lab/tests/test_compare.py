"""Tests of lab/compare: what sysbench printed is read, other text is refused, ratios are of one round."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from installer.shell import Failed
from lab.compare import __main__ as compare
from lab.compare import engines, report, sysbench

# Recorded: sysbench 1.0.20, oltp_write_only, MariaDB 11.8.6.
RECORDED = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
Initializing random number generator from seed (1).


Initializing worker threads...

Threads started!

SQL statistics:
    queries performed:
        read:                            0
        write:                           57412
        other:                           28706
        total:                           86118
    transactions:                        14353  (1789.80 per sec.)
    queries:                             86118  (10738.79 per sec.)
    ignored errors:                      3      (0.37 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          8.0174s
    total number of events:              14353

Latency (ms):
         min:                                    0.51
         avg:                                    2.23
         max:                                   73.41
         95th percentile:                        7.70
         sum:                                32010.33

Threads fairness:
    events (avg/stddev):           3588.2500/14.41
    execution time (avg/stddev):   8.0026/0.00
"""


class Sysbench(unittest.TestCase):
    def test_reads_what_was_recorded(self):
        figures = sysbench.parse(RECORDED, "transactions")
        self.assertEqual((figures.per_s, figures.p95_ms, figures.max_ms, figures.errors), (1789.8, 7.7, 73.41, 3))
        self.assertEqual(sysbench.parse(RECORDED, "queries").per_s, 10738.79)

    def test_a_cut_off_or_foreign_text_is_refused(self):
        for text in ["", RECORDED[:RECORDED.index("Latency")], "FATAL: unable to connect"]:
            with self.assertRaisesRegex(Failed, "not the output of a finished sysbench"):
                sysbench.parse(text, "transactions")


def _run(engine, number, per_s, **more):
    return {"engine": engine, "sync": "NONE", "work": "insert", "round": number, "per_s": per_s, "p95_ms": 1.0,
            "max_ms": 2.0, "errors": 0, **more}


class Profiles(unittest.TestCase):
    def test_options_of_an_engine(self):
        for profile in engines.profiles():
            ours = engines.options(profile, "TidesDB", "FULL")
            self.assertIn("--tidesdb_block_cache_size=64M", ours)
            self.assertEqual(ours[-1], "--tidesdb-unified-memtable-sync-mode=FULL")
            self.assertFalse([o for o in engines.options(profile, "InnoDB", "NONE") if "tidesdb" in o])

    def test_the_seed_s_settings_are_there(self):
        innodb = engines.options("seed-000", "InnoDB", "NONE")
        self.assertIn("--innodb_max_dirty_pages_pct_lwm=0.1", innodb)
        self.assertIn("--skip-log-bin", innodb)
        self.assertIn("--tidesdb_pessimistic_locking=OFF", engines.options("seed-000", "TidesDB", "NONE"))

    def test_seed_001_has_the_settings_of_seed_000(self):
        for engine in engines.NAMES:
            self.assertEqual(engines.options("seed-001", engine, "NONE"), engines.options("seed-000", engine, "NONE"))

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
