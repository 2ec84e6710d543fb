"""Tests of lab/reports/charts: what the charts of a study show."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab.record.run import Run, Study
from lab.reports import style
from lab.reports import charts as drawing
from lab.tests import made_study


def paired(ratios):
    """The ratios of each repetition's pair, by condition."""
    runs = [Run(label, "w", 4, repetition, 100.0 * (ratio if label == "B" else 1), "x/s", condition)
            for condition, of in ratios.items() for repetition, ratio in enumerate(of, 1) for label in ("A", "B")]
    return Study("made", "t", "a", runs, paired=True)


class Gains(unittest.TestCase):
    def gains(self, ratios):
        """The panels of the chart."""
        with mock.patch.object(style, "save", return_value=[]) as save:
            charts = drawing._Charts(paired(ratios), "")
            charts.gains()
        return save.call_args.args[0].axes

    def test_whiskers_are_whole_and_panels_share_their_scale(self):
        panels = self.gains({"small": (0.5, 0.9, 0.6), "large": (1.3, 1.6, 1.4)})
        self.assertEqual(len({panel.get_ylim() for panel in panels}), 1)
        low, high = panels[0].get_ylim()
        ends = [end for panel in panels for bar in panel.collections for segment in bar.get_segments()
                for _, end in segment]
        self.assertLess(min(ends), -60)
        self.assertTrue(low < min(ends) and max(ends) < high)
        self.assertEqual([text for panel in panels for text in panel.texts], [])

    def test_a_whisker_that_is_cut_says_where_it_ends(self):
        panels = self.gains({"small": (0.99, 1.01, 1.0), "large": (0.9, 1.3)})
        self.assertEqual(len({panel.get_ylim() for panel in panels}), 1)
        self.assertLess(panels[0].get_ylim()[1], 110)
        self.assertEqual([[text.get_text() for text in panel.texts] for panel in panels], [[], ["+1,019"]])
        self.assertIn("^", [line.get_marker() for line in panels[1].lines])

    def test_a_gain_of_several_times_is_within(self):
        (panel,) = self.gains({"": (3.9, 4.1, 4.0)})
        self.assertGreater(panel.get_ylim()[1], 310)


class Files(unittest.TestCase):
    def test_each_chart_as_png_and_pdf(self):
        study = made_study.study(threads=(1, 4), repetitions=2)
        study.paired = True
        with tempfile.TemporaryDirectory() as name, mock.patch.object(style, "DOTS", 30):
            drawing.draw(study, name)
            self.assertEqual({path.name for path in Path(name).iterdir()}, {
                f"{chart}.{kind}" for kind in ("png", "pdf")
                for chart in ("throughput", "latency_p95", "write_amplification", "gain", "over_time")})
