"""Tests of hammerdb_runner.sh's charts: each chart that rows and logs allow is drawn; the others have a reason."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab.observe.perf import Hotspot
from lab.reports import page, style
from lab.runners.hammerdb import charts as hammerdb


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

    def test_one_engine_s_two_names_are_two_shades(self):
        self.assertEqual(len(set(style.shades(["RocksDB-a", "MyRocks-a"]).values())), 2)

    def test_no_two_builds_have_one_colour(self):
        """Seed 000's nine builds, and builds whose names have no engine."""
        seed = [f"{engine}-{build}" for engine in ("InnoDB", "TidesDB")
                for build in ("glibc", "jemalloc", "glibc-PGO", "jemalloc-PGO")]
        for labels in ([*seed, "TidesDB-jemalloc-PGO-large-cache"], [f"build{number}" for number in range(12)]):
            for colours in (style.shades(labels).values(), *zip(*page.colours(labels))):
                self.assertEqual(len({colour.lower() for colour in colours}), len(labels))

    def test_all(self):
        rows = [_row("tidesdb", 900), _row("tidesdb", 1100), _row("innodb", 1000),
                {"benchmark": "tpch", "engine": "innodb", "tpch_geomean_sec": 1.5, "tpch_total_sec": 60.0}]
        runs = [hammerdb.RunSeries("tidesdb", "", [(10, 2000), (20, 2100)], {"p95": [(10, 3.0), (20, 4.0)]},
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

    def drawn(self, rows, runs):
        """The panels by chart."""
        with mock.patch.object(style, "save", side_effect=lambda *_: []) as save:
            hammerdb.draw(rows, runs, "")
        return {call.args[2]: call.args[0].axes for call in save.call_args_list}

    def test_a_build_has_one_shade_in_all_charts(self):
        labels = ["TidesDB-glibc", "TidesDB-glibc-PGO", "TidesDB-jemalloc", "InnoDB-glibc"]
        rows = [_row(label, 900, consistent="no" if label == "TidesDB-glibc" else "yes") for label in labels]
        runs = [hammerdb.RunSeries(label, "", [(10, 1000)], {"mean": [(10, 5.0)]}, [Hotspot(1, "x", label)])
                for label in reversed(labels[1:])]
        drawn = self.drawn(rows, runs)
        to_hex = style.pyplot().matplotlib.colors.to_hex
        shades = {label: colour.lower() for label, colour in style.shades(labels).items()}
        for name in ("chart_tpcc_throughput_timeline", "chart_tpcc_latency_timeline"):
            lines = {line.get_label(): to_hex(line.get_color()) for line in drawn[name][0].lines}
            self.assertEqual(list(lines.items()), [(label, shades[label]) for label in labels[1:]])
        (bars,), (grouped,) = drawn["chart_tpcc_nopm"], drawn["chart_tpcc_latency"]
        self.assertEqual([to_hex(bar.get_facecolor()) for bar in bars.containers[-1].patches],
                         [shades[label] for label in labels[1:]])
        self.assertEqual({of.get_label(): to_hex(of.patches[0].get_facecolor()) for of in grouped.containers
                          if of.get_label() in labels}, {label: shades[label] for label in labels[1:]})
        self.assertEqual([to_hex(panel.patches[0].get_facecolor()) for panel in drawn["chart_perf_hotspots"]],
                         [shades[label] for label in reversed(labels[1:])])

    def test_all_repetitions_are_drawn_and_their_mean_of_what_all_have(self):
        runs = [hammerdb.RunSeries("x", str(number), [(10, 100 * number), (21, 200), *more], {"mean": [(10, number)]})
                for number, more in ((1, [(30, 1)]), (2, []), (3, [(30, 1)]))]
        (axes,) = self.drawn([_row("x", 900, rampup_min=0.35)], runs)["chart_tpcc_throughput_timeline"]
        *each, whole = axes.lines
        self.assertEqual([list(line.get_ydata()) for line in each], [[100, 200, 1], [200, 200], [300, 200, 1]])
        self.assertEqual((list(whole.get_xdata()), list(whole.get_ydata())), ([10, 20], [200, 200]))
        self.assertGreater(whole.get_linewidth(), each[0].get_linewidth())
        self.assertIn("thin: each run, thick: their mean", axes.figure._suptitle.get_text())

    def test_the_ramp_up_is_marked(self):
        def said(*minutes):
            rows = [_row("x", 900, rampup_min=of) for of in minutes]
            (axes,) = self.drawn(rows, [hammerdb.RunSeries("x", "", [(10, 100)])])["chart_tpcc_throughput_timeline"]
            return [(patch.get_label(), patch.get_extents().width > 0) for patch in axes.patches]

        self.assertEqual(said(0.35, 0.35), [("ramp-up, 21 s", True)])
        self.assertEqual(said(0.35, 1), [("ramp-up, up to 60 s", True)])
        self.assertEqual(said(0), [])

    def test_each_figure_of_latency_has_a_panel_of_its_own(self):
        runs = [hammerdb.RunSeries("x", "", [], {"mean": [(10, 5.0)], "maximum": [(10, 500.0)]})]
        panels = self.drawn([_row("x", 900)], runs)["chart_tpcc_latency_timeline"]
        self.assertEqual([panel.get_ylabel() for panel in panels], ["mean, ms", "maximum, ms"])

    def test_median_and_spread(self):
        rows = [_row("tidesdb", nopm) for nopm in (900, 1100, 1000)]
        self.assertEqual(hammerdb._spread(rows, "nopm"), {"tidesdb": [900, 1100, 1000]})
        self.assertEqual(style.whiskers([[900, 1100, 1000], [5]]), [[100, 0], [100, 0]])
        self.assertIsNone(style.whiskers([[900], [], [5]]))
