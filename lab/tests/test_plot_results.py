"""Tests of lab/plot_results.py: it draws every chart, plots an old CSV with a message, and refuses a bad one."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab.base.errors import BadInput
from lab.reports import style
from lab.runners.sqlbench import charts, sqlbench_csv
from lab.runners.sqlbench.tables import COLUMNS
from lab.tests.cases import folder, refused

TREE = Path(__file__).resolve().parents[2]
_HEAD = {kind: ",".join(columns) + "\n" for kind, columns in COLUMNS.items()}

# A run of 240 s: with rates, as ours, and in the documented old form with totals of the run.
SUMMARY = _HEAD["summary"] + """\
InnoDB,oltp_insert,4,500000,1,1000.00,1000.00,0.00,1000.00,3.990,0.500,10.460,99.100,0,0,240.000,30,110.000,150.000
TidesDB,oltp_insert,4,500000,1,8000.00,8000.00,0.00,8000.00,0.499,0.040,0.450,31.000,3,0,240.000,30,90.000,190.000
InnoDB,oltp_insert,8,500000,1,1500.00,1500.00,0.00,1500.00,5.320,0.500,12.460,99.100,0,0,240.000,30,,
"""
OLD_SUMMARY = _HEAD["summary"] + """\
InnoDB,oltp_insert,4,500000,1,240000,240000,0.00,1000.00,3.99,0.50,10.46,99.10,0,0,240.0,30,110.0,150.0
TidesDB,oltp_insert,4,500000,1,1920000,1920000,0.00,8000.00,0.50,0.04,0.45,31.00,3,0,240.0,30,90.0,190.0
"""
DETAIL = _HEAD["detail"] + """\
InnoDB,oltp_insert,4,500000,1,10,1000.00,1000.00,3.990,10.460
InnoDB,oltp_insert,4,500000,1,20,0.00,0.00,,0.000
TidesDB,oltp_insert,4,500000,1,10,8000.00,8000.00,0.490,0.450
"""
OLD_DETAIL = _HEAD["detail"] + """\
InnoDB,oltp_insert,4,500000,1,10,1000.00,1000.00,10.46,10.46
TidesDB,oltp_insert,4,500000,1,10,8000.00,8000.00,0.45,0.45
"""


class Read(unittest.TestCase):
    def test_rates_stay(self):
        table = sqlbench_csv.summary(SUMMARY)
        self.assertEqual((table.notes, [row.figures["tps"] for row in table.rows]), ([], [1000.0, 8000.0, 1500.0]))
        self.assertIsNone(table.rows[2].figures["data_size_after_run_mb"])

    def test_totals_are_told_and_made_rates(self):
        table = sqlbench_csv.summary(OLD_SUMMARY)
        self.assertEqual([row.figures["tps"] for row in table.rows], [1000.0, 8000.0])
        self.assertEqual([row.figures["writes_per_sec"] for row in table.rows], [1000.0, 8000.0])
        self.assertRegex(table.notes[0], "^tps, qps of this file hold totals of the run")

    def test_reads_and_writes_may_be_totals_too(self):
        table = sqlbench_csv.summary(OLD_SUMMARY.replace(",1000.00,", ",240000,").replace(",8000.00,", ",1920000,"))
        self.assertEqual([row.figures["writes_per_sec"] for row in table.rows], [1000.0, 8000.0])
        self.assertIn("reads_per_sec, writes_per_sec", table.notes[0])

    def test_short_runs_are_told_apart_too(self):
        rate = "InnoDB,oltp_insert,2,100,1,4000,4000,0,4000,0.5,0.1,1,9,0,0,3.0,0,,\n"
        total = rate.replace(",4000,4000,", ",12000,12000,")
        self.assertEqual(sqlbench_csv.summary(_HEAD["summary"] + rate).notes, [])
        self.assertEqual(sqlbench_csv.summary(_HEAD["summary"] + total).rows[0].figures["tps"], 4000.0)

    def test_an_average_that_is_p95_is_left_out(self):
        table = sqlbench_csv.detail(OLD_DETAIL)
        self.assertEqual([row.figures["latency_avg_ms"] for row in table.rows], [None, None])
        self.assertIn("repeats the 95th percentile", table.notes[0])
        self.assertEqual(sqlbench_csv.detail(DETAIL).notes, [])


class Refused(unittest.TestCase):
    def refuse(self, text, pattern, parse=sqlbench_csv.summary):
        refused(self, parse, "x.csv", (text, pattern))

    def test_empty(self):
        self.refuse("", "^x.csv: is empty")
        self.refuse(_HEAD["summary"], "^x.csv: has a head but no rows")

    def test_foreign(self):
        self.refuse("benchmark,engine,nopm\ntpcc,InnoDB,1\n", "^x.csv:1: is not such a CSV of sqlbench: its head lacks wor")
        self.refuse(DETAIL, "^x.csv:1: .* lacks reads_per_sec")
        self.refuse(SUMMARY, "^x.csv:1: .* lacks time_s", sqlbench_csv.detail)

    def test_names_that_are_none(self):
        """Names become file names and texts in charts, so bad ones are refused."""
        for column, good in (("engine", "TidesDB"), ("workload", "oltp_insert")):
            for bad in ("", " ", "\0", "../../x", "a/b", "$x$", "_x", "..", "x" * 101, "\t"):
                for text, parse in ((SUMMARY, sqlbench_csv.summary), (DETAIL, sqlbench_csv.detail)):
                    self.refuse(text.replace(f"{good},", f"{bad},", 1), f"^x.csv:[234]: is damaged: {column} is ", parse)
        for good in ("TidesDB-pgo.2", "InnoDB (LZ4, 64 MB)", " TidesDB "):
            table = sqlbench_csv.detail(DETAIL.replace("TidesDB,", f'"{good}",'))
            self.assertEqual(table.rows[-1].engine, good.strip())

    def test_cut_off(self):
        self.refuse(_HEAD["detail"][:-1], "^x.csv:1: is cut off", sqlbench_csv.detail)
        self.refuse(SUMMARY[:-30], "^x.csv:4: has 12 fields for 19 columns")
        self.refuse(SUMMARY[:-1], "^x.csv:4: is cut off")
        self.refuse(SUMMARY.replace("InnoDB,oltp_insert,8,", "InnoDB,oltp_insert,eight,"),
                    "^x.csv:4: is damaged: threads is 'eight'")


class Drawn(unittest.TestCase):
    def setUp(self):
        self.directory = folder(self)
        self.said = []

    def plot(self, summary, detail):
        """The names of the charts; they are small, because nobody looks at them."""
        paths = []
        for name, text in (("summary.csv", summary), ("detail.csv", detail)):
            paths.append(self.directory / name if text else None)
            if text:
                paths[-1].write_text(text)
        with mock.patch.object(style, "DOTS", 20):
            drawn = charts.plot(*paths, self.directory / "out", self.said.append)
        self.assertTrue(all(path.stat().st_size > 500 for path in drawn))
        return {path.name for path in drawn}

    def test_all_names_as_png_and_pdf(self):
        metrics = ["tps", "qps", "reads_per_sec", "writes_per_sec", "latency_avg_ms", "latency_p95_ms", "latency_max_ms"]
        names = [f"oltp_insert_{metric}_{kind}" for metric in metrics for kind in ("bar", "scatter")]
        names += ["latency_breakdown", "datasize", "disk_usage_bar", "disk_growth_line", "disk_stacked",
                  "01_throughput_tps", "02_latency_avg", "03_qps", "04_p95_latency", "05_latency_vs_throughput",
                  "06_thread_scaling"]
        names += [f"oltp_insert_{metric}_{kind}" for metric in ("tps", "qps", "latency_avg_ms", "latency_p95_ms")
                  for kind in ("timeseries", "timeseries_scatter")]
        self.assertEqual(self.plot(SUMMARY, DETAIL), {f"{name}.{kind}" for name in names for kind in ("png", "pdf")})
        self.assertEqual(self.said, [])

    def notes(self, summary, detail):
        """The notes below each chart, by name; no chart is saved."""
        notes = {}

        def save(figure, _directory, name, said=()):
            notes[name] = " ".join(said)
            style.pyplot().close(figure)
            return []

        with mock.patch.object(style, "save", save):
            self.plot(summary, detail)
        return notes

    def test_an_old_csv_plots_and_its_charts_say_so(self):
        notes = self.notes(OLD_SUMMARY, OLD_DETAIL)
        self.assertEqual(len(self.said), 2)
        self.assertIn("hold totals", notes["oltp_insert_tps_bar"])
        self.assertIn("no average", notes["oltp_insert_tps_timeseries"])
        self.assertNotIn("oltp_insert_latency_avg_ms_timeseries", notes)

    def test_one_file_alone_is_enough(self):
        self.assertIn("oltp_insert_tps_timeseries", self.notes(None, DETAIL))
        without_sizes = SUMMARY.replace("110.000,150.000", ",").replace("90.000,190.000", ",")
        self.assertNotIn("datasize", self.notes(without_sizes, None))

    def test_a_detail_without_an_interval_leaves_the_summary_s_charts(self):
        notes = self.notes(SUMMARY, _HEAD["detail"])
        self.assertIn("oltp_insert_tps_bar", notes)
        self.assertNotIn("oltp_insert_tps_timeseries", notes)
        self.assertRegex(self.said[0], "detail.csv: has a head but no rows: no interval of a run ended")
        with self.assertRaisesRegex(BadInput, "detail.csv: has nothing to draw"):
            self.plot(None, _HEAD["detail"])

    def test_png_has_300_dots_an_inch(self):
        figure, _ = style.pyplot().subplots(figsize=(2, 1))
        png, pdf = style.save(figure, self.directory, "x")
        raw = png.read_bytes()
        self.assertEqual((int.from_bytes(raw[16:20], "big"), int.from_bytes(raw[20:24], "big")), (600, 300))
        self.assertTrue(pdf.read_bytes().startswith(b"%PDF"))


class CommandLine(unittest.TestCase):
    def run_it(self, *arguments):
        return subprocess.run([sys.executable, TREE / "lab" / "plot_results.py", *map(str, arguments)],
                              capture_output=True, text=True, check=False)

    def test_wrong_use_is_an_error_in_words(self):
        self.assertIn("give --summary, --detail, or both", self.run_it().stderr)
        done = self.run_it("--summary", "/nowhere/summary.csv")
        self.assertEqual((done.returncode, done.stderr), (1, "error: /nowhere/summary.csv: No such file or directory\n"))
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "x.csv").write_text("hello\n")
            done = self.run_it("--summary", Path(name) / "x.csv", "--outdir", Path(name) / "out")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^error: .*x.csv:1: is not such a CSV of sqlbench")
            self.assertFalse((Path(name) / "out").exists())
