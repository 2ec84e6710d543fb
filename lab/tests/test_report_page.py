"""The report's page as text: its cards and series. In a browser: lab/tests/report_page.py."""

import io
import tempfile
import unittest
from contextlib import redirect_stdout
from unittest import mock

from installer.shell import Failed
from lab.reports import page, plotly, write
from lab.tests import made_study
from lab.tests.test_report import PLOTLY


class PageTest(unittest.TestCase):
    def test_long_series_are_thinned(self):
        points = [(second, 1 if second == 5000 else 0) for second in range(1, 10001)]
        self.assertLessEqual(len(page.thinned(points, False)), page.POINTS_MAX)
        self.assertEqual(max(value for _, value in page.thinned(points, True)), 1)
        self.assertEqual(page.thinned(points[:10], True), points[:10])

    def test_one_study_is_always_one_page(self):
        self.assertEqual(page.render(made_study.study(), PLOTLY), page.render(made_study.study(), PLOTLY))

    def test_cards_say_what_is_wrong(self):
        study = made_study.study(threads=(4,), repetitions=1)
        study.runs[2].notes.append("connection lost")
        cards = page._cards(study)
        self.assertEqual(cards[0]["big"], "1×")
        self.assertIn("connection lost", cards[2]["bad"])

    def test_a_card_has_no_mean_of_what_has_none(self):
        study = made_study.study(threads=(4,), repetitions=1, conditions=("",))
        for run in study.runs:
            factor = 10 if run.label.startswith("Tides") and run.workload.endswith("write") else 1
            run.throughput, run.written_bytes, run.row_bytes = 100.0 * factor, 300 * factor, 100
        card = page._cards(study)[1]
        self.assertEqual((card["big"], card["unit"]), ("1.00–10.00×", "of InnoDB, by workload"))
        self.assertEqual(card["lines"][:2], ["sysbench point_select: 1.00×", "sysbench read_write: 10.00×"])
        self.assertNotIn("write amplification", "".join(card["lines"]))
        for run in study.runs:  # With one workload the mean is one value, with one point the amplification too.
            run.workload, run.threads = "x", 1 if run.workload.endswith("write") else 2
        self.assertEqual(page._cards(study)[1]["big"], "3.16×")
        study.runs = [run for run in study.runs if run.threads == 1]
        self.assertIn("write amplification 30", page._cards(study)[1]["lines"])

    def test_without_plotly_the_text_is_written(self):
        def missing():
            raise Failed("no network")

        with tempfile.TemporaryDirectory() as name, mock.patch.object(plotly, "source", missing):
            out = io.StringIO()
            with redirect_stdout(out):
                paths = write.write(made_study.study(), name, charts=False)
            self.assertEqual([path.name for path in paths], ["report.md"])
            self.assertIn("report.html is left out: no network", out.getvalue())
