"""Tests of lab/charts/hammerdb: every chart that the rows and logs allow is drawn, for the others there is a reason."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab.charts import hammerdb, style
from lab.parse.perf import Hotspot


def _row(engine, nopm, **more):
    return {"benchmark": "tpcc", "engine": engine, "nopm": nopm, "tpm": nopm * 2.3, "build_sec": 10.0,
            **{f"{name}_{key}_ms": 3.0 for name in ("neword", "payment", "delivery") for key in ("avg", "p95")}, **more}


class Charts(unittest.TestCase):
    def draw(self, rows, runs):
        with tempfile.TemporaryDirectory() as directory, mock.patch.object(style, "DOTS", 50):
            paths, missing = hammerdb.draw(rows, runs, directory)
            for path in paths:
                begin = path.read_bytes()[:5]
                self.assertIn(begin, (b"\x89PNG\r", b"%PDF-"))
            return {Path(path).name for path in paths}, missing

    def test_builds_of_an_engine_are_shades_of_its_colour(self):
        shades = style.shades(["InnoDB-glibc", "TidesDB-glibc", "TidesDB-jemalloc"])
        self.assertEqual((shades["InnoDB-glibc"], shades["TidesDB-glibc"]),
                         tuple(style.colours(["InnoDB", "TidesDB"]).values()))
        self.assertEqual(shades["TidesDB-jemalloc"], "#e49659")
        self.assertEqual(style.shades(["innodb", "x"]), style.colours(["innodb", "x"]))

    def test_all(self):
        rows = [_row("tidesdb", 900), _row("tidesdb", 1100), _row("innodb", 1000),
                {"benchmark": "tpch", "engine": "innodb", "tpch_geomean_sec": 1.5, "tpch_total_sec": 60.0}]
        runs = [hammerdb.RunSeries("tidesdb", [(10, 2000), (20, 2100)], {"p95": [(10, 3.0), (20, 4.0)]},
                                   [Hotspot(12.5, "mariadbd", "MYSQLparse")])]
        names, missing = self.draw(rows, runs)
        self.assertEqual(names, {f"{name}.{kind}" for kind in ("png", "pdf") for name in (
            "chart_tpcc_nopm", "chart_tpcc_tpm", "chart_tpcc_latency", "chart_tpch", "chart_build_time",
            "chart_tpcc_throughput_timeline", "chart_tpcc_latency_timeline", "chart_perf_hotspots")})
        self.assertEqual(missing, {})

    def test_what_is_not_there_is_said(self):
        names, missing = self.draw([_row("tidesdb", 900)], [])
        self.assertIn("chart_tpcc_nopm.png", names)
        self.assertEqual(set(missing), {"chart_tpch", "chart_tpcc_throughput_timeline", "chart_tpcc_latency_timeline",
                                        "chart_perf_hotspots"})

    def test_what_left_wrong_data_is_in_no_chart_and_each_says_so(self):
        rows = [_row("tidesdb", 900, consistent="yes"), _row("tidesdb", 9000, consistent="no"),
                _row("innodb", 1000, consistent="no")]
        with mock.patch.object(style, "save", side_effect=lambda *_: []) as save, \
                mock.patch.object(hammerdb, "_spread", side_effect=hammerdb._spread) as spread:
            hammerdb.draw(rows, [], "")
        said = [f"Left out: {runs}, for inconsistent data" for runs in ("tidesdb, 1 of 2 runs", "innodb, 1 of 1 run")]
        self.assertEqual({call.args[2] for call in save.call_args_list}, {
            "chart_tpcc_nopm", "chart_tpcc_tpm", "chart_tpcc_latency", "chart_build_time"})
        self.assertEqual([call.args[3] for call in save.call_args_list], [said] * 4)
        self.assertEqual({row["nopm"] for call in spread.call_args_list for row in call.args[0]}, {900})
        _, missing = self.draw(rows[2:], [])
        self.assertIn("inconsistent data", missing["chart_tpcc_nopm"])

    def test_many_notes_leave_room_for_the_chart(self):
        figure, _ = style.pyplot().subplots()
        with tempfile.TemporaryDirectory() as directory, mock.patch.object(style, "DOTS", 50), \
                mock.patch.object(figure, "text") as text:
            style.save(figure, directory, "x", [f"note {number}" for number in range(40)])
        self.assertEqual(text.call_args.args[2], "note 0\nnote 1\nnote 2\nnote 3\nAnd 36 more, which the report has.")

    def test_median_and_spread(self):
        rows = [_row("tidesdb", nopm) for nopm in (900, 1100, 1000)]
        self.assertEqual(hammerdb._spread(rows, "nopm"), {"tidesdb": (1000, 100, 100, 3)})


if __name__ == "__main__":
    unittest.main()
