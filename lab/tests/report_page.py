"""The report in headless Chromium: every control is used, nothing complains, it fits a phone and prints.

Environment: TIDESDB_SCREENSHOTS names a folder that keeps what was seen.
"""

import os
import sys
import tempfile
import time
import unittest
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lab.record.run import THROUGHPUT, Check, Metric, Study  # noqa: E402
from lab.reports import page, plotly  # noqa: E402
from lab.tests import made_study  # noqa: E402
from lab.tests.browser import Browser  # noqa: E402

# How many lines or bars a plot shows; 0 where it says that there is nothing.
_TRACES = "(document.querySelector('{}').data || []).length"
_VALUES = "JSON.stringify((document.querySelector('{}').data || []).map((trace) => trace.y))"
_ROWS = "[...document.querySelectorAll('{} tbody tr')].filter((row) => !row.hidden).length"
_WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.directory = Path(folder.name)
        cls.seen = Path(os.environ.get("TIDESDB_SCREENSHOTS") or folder.name)
        cls.seen.mkdir(parents=True, exist_ok=True)
        cls.plotly = plotly.source()
        cls.path = cls.directory / "report.html"
        cls.path.write_text(page.render(made_study.study(), cls.plotly), encoding="utf-8")
        cls.browser = Browser(cls.directory)
        cls.browser.__enter__()
        cls.addClassCleanup(cls.browser.__exit__, None, None, None)
        cls.shown = cls.open(cls.path)  # Its parts are used by a test each.

    @classmethod
    def open(cls, path, **more):
        """A page whose charts are drawn."""
        shown = cls.browser.open(path, **more)
        shown.wait("document.documentElement.dataset.ready === 'yes'")
        return shown

    def show(self, study, **more):
        """A page of its own for a test."""
        path = self.directory / f"{self.id()}.html"
        path.write_text(page.render(study, self.plotly), encoding="utf-8")
        self.shown = self.open(path, **more)
        return self.shown

    def setUp(self):
        self.shown.call("Page.bringToFront")  # One behind another stands still.

    def tearDown(self):
        self.assertEqual(self.shown.problems, [])

    def changes(self, plot, change):
        """That a control changes what a plot shows."""
        before = self.shown.run(_VALUES.format(plot))
        change()
        self.assertNotEqual(self.shown.run(_VALUES.format(plot)), before)

    def test_figures_over_threads(self):
        shown = self.shown
        form, plot = "#threads-controls [name={}]", "#threads-plot"
        self.assertEqual(shown.run(_TRACES.format(plot)), 3)
        self.assertEqual(shown.run(f"document.querySelector('{plot}').data[0].x.join()"), "1,4,16")
        for name, value in (("condition", "commits synced"), ("workload", "sysbench read_write"), ("figure", "p95_ms"),
                            ("figure", "max_ms"), ("figure", "ratio"), ("figure", "throughput")):
            self.changes(plot, lambda n=name, v=value: shown.choose(form.format(n), v))
        for name, axis in (("log_x", "xaxis"), ("log_y", "yaxis")):
            before = shown.run(f"document.querySelector('{plot}').layout.{axis}.type")
            shown.click(form.format(name))
            self.assertNotEqual(shown.run(f"document.querySelector('{plot}').layout.{axis}.type"), before)
        # Of one operation there is nothing to choose.
        self.assertTrue(shown.run("document.querySelector('#threads-controls [name=operation]').closest('label').hidden"))

    def test_the_latency_of_each_operation(self):
        study = made_study.study(workloads=made_study.WORKLOADS[:1])
        for run in study.runs:
            run.latencies.append(replace(run.latencies[0], operation="DELIVERY", p95_ms=run.latencies[0].p95_ms * 7))
        shown = self.show(study)
        form, plot = "#threads-controls [name={}]", "#threads-plot"
        hidden = f"document.querySelector('{form.format('operation')}').closest('label').hidden"
        self.assertTrue(shown.run(hidden))  # Throughput is of all of them.
        shown.choose(form.format("figure"), "p95_ms")
        self.assertFalse(shown.run(hidden))
        choices = f"[...document.querySelector('{form.format('operation')}').options].map((option) => option.value)"
        self.assertEqual(shown.run(choices), ["transaction", "DELIVERY"])
        first = f"document.querySelector('{plot}').data[0].y[0]"
        before = shown.run(first)
        self.changes(plot, lambda: shown.choose(form.format("operation"), "DELIVERY"))
        self.assertAlmostEqual(shown.run(first) / before, 7, 3)
        self.changes(plot, lambda: shown.choose(form.format("figure"), "p99_ms"))
        self.assertEqual(shown.run(f"document.querySelector('{form.format('operation')}').value"), "DELIVERY")
        shown.choose(form.format("figure"), "throughput")
        self.assertTrue(shown.run(hidden))

    def test_a_run_with_wrong_data(self):
        whole = made_study.study(threads=(1, 4), repetitions=2, conditions=("",), workloads=made_study.WORKLOADS[:1])
        for run in whole.runs:
            if run.label == "RocksDB" and (run.threads == 4 or run.repetition == 2):
                run.checks = [Check("rows in each index", "broken", ("PRIMARY has 399 rows",))]
        shown = self.show(replace(whole))
        data = "document.querySelector('#threads-plot').data[{}].x.join()"
        self.assertEqual([shown.run(data.format(number)) for number in range(3)], ["1,4", "1,4", "1"])
        self.assertIn("RocksDB, sysbench point_select, 4 threads, repetition 1 has no figures: rows in each index (PRIMARY",
                      shown.run("document.querySelector('header').textContent"))
        shown.choose("#time-controls [name=point]", "1")
        self.assertEqual(shown.run(_TRACES.format("#time-plot")), 2)
        self.looks("wrong-data")

    def test_over_time(self):
        shown = self.shown
        form, plot, below = "#time-controls [name={}]", "#time-plot", "#time-latency-plot"
        self.assertEqual(shown.run(_TRACES.format(plot)), 3)
        self.changes(plot, lambda: shown.choose(form.format("point"), "7"))
        self.changes(below, lambda: shown.choose(form.format("latency"), "p95 latency"))
        shown.choose(form.format("repetition"), "each")
        self.assertEqual(shown.run(_TRACES.format(plot)), 9)
        shown.choose(form.format("repetition"), "2")
        self.assertEqual(shown.run(_TRACES.format(plot)), 3)
        shown.click(form.format("from_zero"))
        self.assertEqual(shown.run(f"document.querySelector('{plot}').layout.yaxis.rangemode"), "normal")

    def test_a_mean_is_of_all_repetitions(self):
        study = made_study.study(threads=(4,), conditions=("",), workloads=made_study.WORKLOADS[:1], labels=("InnoDB",))
        for run, seconds in zip(study.runs, (4, 6, 5)):
            run.series = {THROUGHPUT: Metric("x/s", [(second, run.repetition) for second in range(1, seconds + 1)])}
        shown = self.show(study)
        self.assertEqual(shown.run("document.querySelector('#time-plot').data[0].x.join()"), "1,2,3,4")
        self.assertEqual(shown.run("document.querySelector('#time-plot').data[0].y.join()"), "2,2,2,2")

    def test_the_explorer(self):
        shown = self.shown
        form, plot = "#explorer-controls [name={}]", "#explorer-plot"
        self.assertEqual(shown.run(_TRACES.format(plot)), 3)
        self.assertEqual(shown.run(_ROWS.format("#explorer-table")), 3)
        self.changes(plot, lambda: shown.choose(form.format("metric"), "server CPU"))
        self.changes(plot, lambda: shown.choose(form.format("smooth"), "10"))
        shown.choose(form.format("second"), "written by the disk")
        self.assertEqual(shown.run(_TRACES.format(plot)), 6)
        self.assertEqual(shown.run(f"document.querySelector('{plot}').layout.yaxis2.title.text"), "MB/s")
        shown.choose(form.format("search"), "memtable")
        self.assertEqual(shown.run("document.querySelector('#explorer-controls [name=metric]').value"),
                         "Tidesdb_memtable_bytes")
        self.assertEqual(shown.run(_TRACES.format(plot)), 1)
        shown.choose(form.format("search"), "no such metric")
        self.assertIn("Nothing", shown.run(f"document.querySelector('{plot}').textContent"))
        shown.choose(form.format("search"), "")
        shown.choose(form.format("metric"), "throughput")
        shown.choose(form.format("second"), "")
        shown.click("#explorer-runs label:nth-of-type(4) input")
        self.assertEqual(shown.run(_TRACES.format(plot)), 4)
        shown.choose(form.format("point"), "3")
        self.assertEqual(shown.run(_TRACES.format(plot)), 3)

    def test_tables_are_filtered(self):
        shown = self.shown
        rows = lambda table: shown.run(_ROWS.format(table))  # noqa: E731
        before = rows("#percentiles")
        shown.choose("[data-filters=percentiles]", "read_write RocksDB")
        self.assertEqual(rows("#percentiles") * 6, before)
        self.assertEqual(rows("#variables-table"), 1)
        shown.choose("#variables-controls [name=which]", "not-on-all")
        self.assertEqual(rows("#variables-table"), 3)
        shown.choose("#variables-controls [name=which]", "same")
        self.assertEqual(rows("#variables-table"), 2)
        shown.choose("#variables-controls [name=which]", "all")
        shown.choose("#variables-controls [name=search]", "BLOCK")
        self.assertEqual(rows("#variables-table"), 2)
        self.assertEqual(shown.run("document.querySelector('#variables-controls output').textContent"), "2 of 6")
        self.assertEqual(rows("#status-table"), 2)
        shown.choose("#status-controls [name=which]", "all")
        self.assertEqual(rows("#status-table"), 4)
        shown.choose("#status-controls [name=search]", "hand")
        self.assertEqual(rows("#status-table"), 1)
        text = shown.run("document.querySelector('#status-table').textContent")
        shown.choose("#status-controls [name=point]", "2")
        self.assertNotEqual(shown.run("document.querySelector('#status-table').textContent"), text)
        shown.click("#provenance summary")
        self.assertTrue(shown.run("document.querySelector('#provenance details').open"))

    def test_links_and_the_button(self):
        shown = self.shown
        targets = shown.run("[...document.querySelectorAll('nav a')].map((a) => a.hash)")
        self.assertEqual(len(targets), 11)
        for target in targets:
            self.assertTrue(shown.run(f"document.querySelector('{target}') !== null"), target)
        shown.click("nav a[href='#errors']")
        shown.wait("location.hash === '#errors' && scrollY > 500")
        shown.click("#copy")
        shown.wait("document.querySelector('#copied').textContent !== ''")
        self.assertEqual(shown.run("document.querySelector('#copied').textContent"), "copied")
        self.assertTrue(shown.run("unpack('report-markdown')").startswith("# A & B side by side"))

    def test_the_pointer_shows_figures(self):
        shown = self.shown
        x, y = shown.middle_of("#time-plot")
        for step in range(2):
            shown.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 3 * step, y=y)
        shown.wait("document.querySelectorAll('#time-plot .hoverlayer text').length > 0")

    def looks(self, name):
        """Nothing is wider than the screen; keeps a picture."""
        time.sleep(0.3)  # Charts come to rest.
        self.assertLessEqual(self.shown.run(_WIDER), 0, name)
        self.shown.screenshot(self.seen / f"{name}.png")

    def test_zz_desktop_dark_and_print(self):
        """The last: the others find the page as it was opened."""
        ink = "document.querySelector('#threads-plot').layout.font.color"
        self.looks("desktop")
        light = self.shown.run(ink)
        self.shown.show_on(1280, 900, dark=True)
        self.shown.wait(f"{ink} !== {light!r}")
        self.looks("dark")
        self.shown.show_on(1280, 900)
        self.shown.wait(f"{ink} === {light!r}")
        self.shown.pdf(self.seen / "print.pdf")
        self.assertGreater((self.seen / "print.pdf").stat().st_size, 20_000)

    def test_phones(self):
        self.shown = self.open(self.path, width=390, height=844)
        self.looks("phone")
        self.shown.show_on(320, 568)
        self.looks("narrow")

    def test_one_number_of_threads_is_bars_of_ratios(self):
        shown = self.show(made_study.study(threads=(4,), repetitions=1))
        self.assertEqual(shown.run("document.querySelector('#threads-controls [name=figure]').value"), "ratio")
        self.assertEqual(shown.run("document.querySelector('#threads-plot').data[0].type"), "bar")
        self.assertEqual(shown.run("document.querySelector('#threads-plot').data[0].y.join()"), "1,1")
        shown.choose("#threads-controls [name=figure]", "throughput")
        self.assertEqual(shown.run("document.querySelector('#threads-plot').layout.yaxis.title.text"),
                         "queries/s or transactions/s")
        self.looks("bars")

    def test_what_builds_gain(self):
        study = made_study.study(threads=(1, 4), workloads=made_study.WORKLOADS[:1])
        study.paired = True
        shown = self.show(study, width=390, height=844)
        # Two labels beside the first: each all together, by two conditions and at four points.
        self.assertEqual(shown.run("document.querySelectorAll('#gains tbody tr').length"), 2 * (1 + 2 + 4))
        self.assertTrue(shown.run("document.querySelector('nav a[href=\"#gains\"]') !== null"))
        self.assertIn("% (", shown.run("document.querySelectorAll('.card')[1].textContent"))
        self.looks("gains-phone")
        shown.show_on(1280, 900)
        self.looks("gains")

    def test_a_study_with_next_to_nothing(self):
        whole = made_study.study(threads=(4,), repetitions=1, conditions=("",), labels=("InnoDB",),
                                 workloads=made_study.WORKLOADS[:1])
        run = whole.runs[0]
        run.series, run.latencies, run.status, run.variables, run.throughput, run.complete = {}, [], {}, {}, None, False
        shown = self.show(Study("made", "Little", "", [run]))
        self.assertIn("Nothing", shown.run("document.querySelector('#threads-plot').textContent"))
        self.assertIn("not complete", shown.run("document.querySelector('.card').textContent"))


if __name__ == "__main__":
    unittest.main()
