"""The report on made results: what it shows, and what it says of files that are none."""

import copy
import io
import json
import re
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path

from lab.report import charts, results, table
from lab.report.__main__ import main

COLUMNS = ["second", *results.TRANSACTIONS, "errors", "mean_us", "max_us"]


def made(label="InnoDB", nopm=1000.0, seconds=60, **changes):
    transaction = {"count": 100, "failed": 1, "mean_us": 900.5, "min_us": 300, "p50_us": 800, "p95_us": 2000,
                   "p99_us": 5000, "p999_us": 9000, "max_us": 123456}
    result = {
        "kind": "tproc-c", "format": 1, "label": label, "started": "2026-01-31T12:00:00Z", "measured_s": 50.0,
        "nopm": nopm, "tpm": nopm * 2.3, "interrupted": False, "server_lost": False, "exit_code": 0,
        "config": {"warehouses": 2, "virtual_users": 4, "rampup_s": 10, "duration_s": 50,
                   "isolation": "READ COMMITTED"},
        "transactions": {name: dict(transaction) for name in results.TRANSACTIONS},
        "errors": [{"code": 1213, "state": "40001", "count": 7, "first_message": "Deadlock <found>",
                    "first_where": "NEWORD"}],
        "consistency": {"holds": True, "seconds": 1.0, "checks": [
            {"name": "1", "title": "w_ytd = sum(d_ytd)", "state": "holds", "violations": 0, "samples": []}]},
        "server": {"version": "11.8.6-MariaDB", "comment": "Debian", "engine": label,
                   "variables": {"innodb_buffer_pool_size": "134217728", "innodb_obscure": "1"}},
        "timeline": {"interval_s": 1, "columns": COLUMNS,
                     "rows": [[s, 10 + s % 3, 10, 1, 1, 1, s % 2, 900, 20000 + s] for s in range(1, seconds + 1)]},
    }
    result.update(changes)
    return result


class TagChecker(HTMLParser):
    """Counts what is open and collects every address that the page would fetch."""
    VOID = {"meta", "br", "rect", "line", "polyline", "circle"}

    def __init__(self):
        super().__init__()
        self.open = []
        self.addresses = []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
            self.open.pop()


class ReportTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def write(self, name, content):
        path = self.directory / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    def run_main(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main(list(arguments))
        return code, out.getvalue(), err.getvalue()

    def test_the_table_compares_with_the_first(self):
        code, out, _ = self.run_main(self.write("a.json", made("InnoDB", 1000)),
                                     self.write("b.json", made("TidesDB", 1250)))
        self.assertEqual(code, 0)
        self.assertRegex(out, r"(?m)^\s+InnoDB\s+TidesDB$")
        self.assertRegex(out, r"(?m)^NOPM\s+1,000\s+1,250$")
        self.assertRegex(out, r"(?m)^NOPM, of InnoDB's\s+1\.00x\s+1\.25x$")
        self.assertRegex(out, r"(?m)^NEWORD p95 ms\s+2\.00\s+2\.00$")
        self.assertRegex(out, r"(?m)^1213 deadlock\s+7\s+7$")
        self.assertRegex(out, r"(?m)^consistency\s+holds\s+holds$")

    def test_the_page_is_whole_and_needs_nothing(self):
        page = self.directory / "page.html"
        code, _, err = self.run_main(self.write("a.json", made("InnoDB")), self.write("b.json", made("Tides<DB>")),
                                     "--output", str(page), "--title", "A & B")
        self.assertEqual(code, 0, err)
        text = page.read_text(encoding="utf-8")
        checker = TagChecker()
        checker.feed(text)
        self.assertEqual(checker.open, [])
        self.assertEqual(checker.addresses, [])
        self.assertNotRegex(text, r"https?://|@import|url\(")
        self.assertIn("<title>A &amp; B</title>", text)
        self.assertIn("Tides&lt;DB&gt;", text)
        self.assertNotIn("Tides<DB>", text)
        self.assertIn("Deadlock &lt;found&gt;", text)
        self.assertIn("w_ytd = sum(d_ytd)", text)
        self.assertIn("11.8.6-MariaDB", text)
        self.assertEqual(len(re.findall(r"<polyline", text)), 4 * 2)
        self.assertEqual(len(re.findall(r'class="range ', text)), 5 * 2)

    def test_a_run_without_numbers_still_has_a_page(self):
        lost = made(nopm=0.0)
        lost.update(nopm=None, tpm=None, server_lost=True, consistency=None)
        lost["timeline"]["rows"] = []
        for entry in lost["transactions"].values():
            for key in entry:
                entry[key] = 0
        page = self.directory / "page.html"
        code, out, err = self.run_main(self.write("lost.json", lost), "--output", str(page))
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"(?m)^NOPM\s+-$")
        self.assertIn("connection lost", page.read_text(encoding="utf-8"))

    def test_broken_consistency_is_told(self):
        broken = made()
        broken["consistency"] = {"holds": False, "seconds": 1, "checks": [
            {"name": "1", "title": "w_ytd = sum(d_ytd)", "state": "broken", "violations": 1, "samples": ["w 1: x"]}]}
        page = self.directory / "page.html"
        _, out, _ = self.run_main(self.write("a.json", broken), "--output", str(page))
        self.assertIn("BROKEN", out)
        text = page.read_text(encoding="utf-8")
        self.assertIn("broken: w 1: x", text)
        self.assertIn('class="bad">consistency: BROKEN', text)

    def test_bad_files_are_named(self):
        whole = json.dumps(made())
        wrong_row = made()
        wrong_row["timeline"]["rows"][3] = [1, 2]
        no_transactions = made()
        del no_transactions["transactions"]["OSTAT"]
        cases = {
            "empty.json": ("", "is empty"),
            "cut.json": (whole[:len(whole) // 2], "cut off"),
            "foreign.json": ('{"benchmark": "sysbench"}', "no result of"),
            "list.json": ("[1, 2]", "no result of"),
            "newer.json": (made(format=2), "format 2"),
            "row.json": (wrong_row, "timeline row"),
            "part.json": (no_transactions, "OSTAT"),
            "text.json": (made(measured_s="long"), "wrong form"),
        }
        for name, (content, reason) in cases.items():
            with self.subTest(name):
                code, _, err = self.run_main(self.write(name, content))
                self.assertEqual(code, 1)
                self.assertIn(name, err)
                self.assertIn(reason, err)
        code, _, err = self.run_main(str(self.directory / "missing.json"))
        self.assertEqual(code, 1)
        self.assertIn("missing.json", err)
        (self.directory / "binary.json").write_bytes(b"\xff\xfe\x00")
        self.assertEqual(self.run_main(str(self.directory / "binary.json"))[0], 1)

    def test_what_ends_after_the_plan_is_not_drawn(self):
        loaded = results.load(self.write("a.json", made(seconds=63)))
        self.assertEqual(loaded.rows[-1][0], 60)

    def test_equal_labels_are_told_apart(self):
        loaded = results.load_all([self.write("a.json", made()), self.write("b.json", made())])
        self.assertEqual([result.label for result in loaded], ["InnoDB", "InnoDB (2)"])

    def test_every_part_of_a_result_is_needed_or_not(self):
        """Leaving out any top-level part gives a clear error or a page, never a crash."""
        for part in list(made()):
            cut = copy.deepcopy(made())
            del cut[part]
            with self.subTest(part):
                code, _, err = self.run_main(self.write("cut.json", cut), "--output", str(self.directory / "p.html"), "-q")
                self.assertTrue(code == 0 or "cut.json" in err)


class ChartTest(unittest.TestCase):
    def test_steps_are_1_2_or_5(self):
        self.assertEqual([charts.nice_step(span, 4) for span in (4, 7, 33, 130, 0.9)], [1, 2, 10, 50, 0.5])

    def test_long_timelines_are_thinned(self):
        points = [(second, 1 if second == 5000 else 0) for second in range(1, 10001)]
        self.assertLessEqual(len(charts.thinned(points, charts.mean)), 400)
        self.assertEqual(max(value for _, value in charts.thinned(points, max)), 1)
        self.assertEqual(charts.thinned(points[:10], max), points[:10])

    def test_milliseconds_keep_three_digits(self):
        self.assertEqual([table.milliseconds(us) for us in (0, 1234, 45678, 3500000)],
                         ["0.00", "1.23", "45.7", "3,500"])


if __name__ == "__main__":
    unittest.main()
