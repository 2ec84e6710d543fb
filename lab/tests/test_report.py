"""The report: studies from every runner's files, its page, its Markdown, and its errors for invalid files."""

import copy
import csv
import gzip
import base64
import io
import json
import re
import tempfile
import unittest
from contextlib import redirect_stdout
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

from installer.shell import Failed
from lab.record import form
from lab.record.run import THROUGHPUT, Check, Error, Latency, Metric, Run, Spread, Study, numbered
from lab.reports import markdown, page, plotly, sheet, style, tables, write
from lab.reports import charts as drawing
from lab.runners import pick
from lab.runners.report import run as report
from lab.tests import made_study
from lab.tests.cases import folder, patch, recorded
from lab.works import iibench, tpcc
from lab.works import tpcc_result as results

COLUMNS = ["second", *results.TRANSACTIONS, "errors", "mean_us", "max_us"]
PLOTLY = "/* plotly.js v9.9.9 */ window.Plotly = {};"


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
    VOID = {"meta", "br", "link", "input"}

    def __init__(self):
        super().__init__()
        self.open = []
        self.addresses = []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("src", "href")
                           and not value.startswith(("#", "data:"))]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
            self.open.pop()


def unpacked(text, name):
    """A packed part of a page."""
    found = re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', text)
    return gzip.decompress(base64.b64decode(found.group(1))).decode()


class Files(unittest.TestCase):
    def setUp(self):
        self.directory = folder(self)
        patch(self, (plotly, "source", lambda: PLOTLY))

    def write(self, name, content):
        path = self.directory / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    def report(self, *arguments):
        out = io.StringIO()
        with redirect_stdout(out):
            report(list(arguments))
        return out.getvalue()


class TpccTest(Files):
    def test_the_tables_compare_with_the_first(self):
        out = self.report(self.write("a.json", made("InnoDB", 1000)), self.write("b.json", made("TidesDB", 1250)))
        self.assertRegex(out, r"(?m)^\| workload +\| +InnoDB \| +TidesDB \| TidesDB / InnoDB \|$")
        self.assertRegex(out, r"(?m)^\| TPROC-C, 2 warehouses +\| 1,000 \[7 errors\] \| 1,250 \[7 errors\] \| +1\.25 \|$")
        self.assertRegex(
            out, r"(?m)NEWORD +\| TidesDB +\| +100 \| 0\.90 \| 0\.80 \| 2\.00 \| 5\.00 \| +9\.00 \| +123\.5 \|$")
        self.assertRegex(out, r"(?m)InnoDB +\| +1213 \(deadlock\) \| +7 \| +NEWORD \| +Deadlock \\<found> \|$")
        self.assertRegex(out, r"(?m)1: w_ytd = sum\(d_ytd\) +\| +holds \| +holds \|$")

    def test_the_page_is_whole_and_needs_nothing(self):
        path = self.directory / "page.html"
        out = self.report(self.write("a.json", made("InnoDB")), self.write("b.json", made("Tides<DB>")), "-q",
                          "--output", str(path), "--title", "A & B")
        self.assertEqual(out, "")
        text = path.read_text(encoding="utf-8")
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
        self.assertIn("plotly.js 9.9.9", text)
        self.assertEqual(unpacked(text, "plotly-js"), PLOTLY)
        self.assertTrue(unpacked(text, "report-markdown").startswith("# A & B\n"))
        data = json.loads(unpacked(text, "report-data"))
        self.assertEqual(data["labels"], ["InnoDB", "Tides<DB>"])
        self.assertEqual(data["runs"][1]["series"][THROUGHPUT]["values"][:3], [660, 720, 600])

    def test_the_page_names_versions(self):
        study = pick.study([self.write("a.json", made("InnoDB"))])
        self.assertEqual(study.versions(), {"server": "11.8.6-MariaDB"})

    def test_a_run_without_numbers_still_has_a_page(self):
        lost = made(nopm=0.0)
        lost.update(nopm=None, tpm=None, server_lost=True, consistency=None)
        lost["timeline"]["rows"] = []
        for entry in lost["transactions"].values():
            for key in entry:
                entry[key] = 0
        path = self.directory / "page.html"
        out = self.report(self.write("lost.json", lost), "--output", str(path))
        self.assertIn("NOT COMPLETE", out)
        self.assertIn("connection lost", path.read_text(encoding="utf-8"))

    def test_broken_consistency_is_told(self):
        broken = made()
        broken["consistency"] = {"holds": False, "seconds": 1, "checks": [
            {"name": "1", "title": "w_ytd = sum(d_ytd)", "state": "broken", "violations": 1, "samples": ["w 1: x"]}]}
        path = self.directory / "page.html"
        out = self.report(self.write("a.json", broken), "--output", str(path))
        self.assertIn("– [7 errors, INCONSISTENT: 1: w_ytd = sum(d_ytd) (w 1: x): broken]", out)
        self.assertNotIn("1,000", out)  # Its NOPM.
        text = path.read_text(encoding="utf-8")
        self.assertIn("broken: w 1: x", text)
        self.assertIn('class="bad">consistency: BROKEN', text)
        data = json.loads(unpacked(text, "report-data"))["runs"][0]
        self.assertEqual((data["throughput"], data["latency"], data["series"]), (None, {}, {}))

    def test_bad_files_are_named(self):
        wrong_row = made()
        wrong_row["timeline"]["rows"][3] = [1, 2]
        no_transactions = made()
        del no_transactions["transactions"]["OSTAT"]
        cases = {
            "foreign.json": ('{"benchmark": "sysbench"}', "is not a result of"),
            "newer.json": (made(format=2), "format 2"),
            "row.json": (wrong_row, "timeline row"),
            "part.json": (no_transactions, "OSTAT"),
            "text.json": (made(measured_s="long"), "wrong form"),
        }
        for name, (content, reason) in cases.items():
            with self.subTest(name), self.assertRaisesRegex(Failed, f"{name}.*{reason}"):
                self.report(self.write(name, content))
        with self.assertRaisesRegex(Failed, "missing.json"):
            self.report(str(self.directory / "missing.json"))

    def test_a_folder_of_nobody_is_refused(self):
        with self.assertRaisesRegex(Failed, "has no run"):
            self.report(str(self.directory))
        with self.assertRaisesRegex(Failed, "give one folder"):
            self.report(str(self.directory), "a.json")

    def test_what_ends_after_the_plan_is_not_drawn(self):
        loaded = results.load(self.write("a.json", made(seconds=63)))
        self.assertEqual(loaded.rows[-1][0], 60)

    def test_the_second_that_a_run_was_ended_in_is_not_drawn(self):
        loaded = results.load(self.write("a.json", made(seconds=37, interrupted=True) | {"nopm": None}))
        self.assertEqual(loaded.rows[-1][0], 36)

    def test_equal_labels_are_told_apart(self):
        study = tpcc.study([self.write("a.json", made()), self.write("b.json", made())])
        self.assertEqual(study.labels(), ["InnoDB", "InnoDB (2)"])

    def test_every_part_of_a_result_is_needed_or_not(self):
        """Leaving out any top-level part gives a clear error or a page, never a crash."""
        for part in list(made()):
            cut = copy.deepcopy(made())
            del cut[part]
            with self.subTest(part):
                try:
                    self.report(self.write("cut.json", cut), "--output", str(self.directory / "p.html"), "-q")
                except Failed as error:
                    self.assertIn("cut.json", str(error))


def insert_benchmark(label="InnoDB"):
    """Recorded: `lab/iibench_runner.sh --scale-down 100 --phases l.i0,l.x,l.i1,qr100,qp100 --query-seconds 4` on InnoDB."""
    return {**json.loads(recorded("iibench.json")), "label": label}


def broken_benchmark():
    """The same, as iibench reports a missing row and lock wait timeouts."""
    raw = insert_benchmark()
    raw["errors"] = [{"code": 1205, "state": "HY000", "count": 2, "first_message": "Lock wait", "first_where": "insert"}]
    raw["rows_check"]["tables"][0]["faults"] = ["PRIMARY has 399 rows"]
    return raw


class InsertBenchmarkTest(Files):
    def test_each_step_is_a_measurement(self):
        study = pick.study([self.write("a.json", insert_benchmark()), self.write("b.json", insert_benchmark("TidesDB"))])
        self.assertEqual([(run.workload, round(run.throughput), run.unit) for run in study.runs[:5]],
                         [("iibench l.i0", 8150, "rows/s"), ("iibench l.x", 24876, "rows/s"),
                          ("iibench l.i1", 3562, "rows/s"), ("iibench qr100", 629, "queries/s"),
                          ("iibench qp100", 829, "queries/s")])
        queries = study.runs[3]
        self.assertEqual(queries.series[THROUGHPUT].points[:2], [(1, 619), (2, 645)])
        self.assertEqual(queries.series["insert rows"].points[:2], [(1, 100), (2, 100)])
        self.assertEqual([latency.operation for latency in queries.latencies],
                         ["range_query", "insert", "find_low", "delete"])
        self.assertEqual((queries.latencies[0].count, queries.latencies[0].max_ms), (2521, 24.19))
        self.assertEqual(queries.measures["batches due"], 8)
        self.assertEqual(study.runs[0].row_bytes, 10_000 * (8 + 5 + 16 + 15))
        self.assertEqual({run.label for run in study.runs}, {"InnoDB", "TidesDB"})
        self.assertEqual((study.runs[4].consistency(), study.runs[3].consistency()), ("holds", "not checked"))

    def test_the_second_that_a_step_ended_in_is_no_rate(self):
        study = pick.study([self.write("a.json", insert_benchmark())])
        last = {run.workload: {name: metric.points[-1] for name, metric in run.series.items()} for run in study.runs}
        self.assertEqual(last["iibench l.i0"][THROUGHPUT], (1, 7400))       # 1.227 s: the second has 2,600 rows.
        self.assertEqual(last["iibench l.x"], {})                           # 0.402 s.
        self.assertEqual(last["iibench qr100"][THROUGHPUT], (4, 742))       # 4.01 s: one query in the fifth.
        self.assertEqual({at for of in last.values() for at, _ in of.values()}, {1, 4})

    def test_what_is_wrong_is_told_with_the_last_step(self):
        study = pick.study([self.write("a.json", broken_benchmark())])
        self.assertEqual([run.errors != [] for run in study.runs], [False] * 4 + [True])
        self.assertEqual([run.checks != [] for run in study.runs], [False] * 4 + [True])
        self.assertIn("INCONSISTENT", markdown.figures(study))

    def test_wrong_rows_in_the_end_are_wrong_of_every_step(self):
        study = pick.study([self.write("a.json", broken_benchmark())])
        self.assertEqual([run.throughput for run in study.runs], [None] * 5)
        self.assertEqual(study.runs[0].inconsistency(), "pi1: PRIMARY has 399 rows")

    def test_a_step_with_wrong_answers_has_no_throughput(self):
        raw = insert_benchmark()
        raw["phases"][3] |= {"wrong_answers": 2, "first_wrong": "key 7"}
        study = pick.study([self.write("a.json", raw)])
        self.assertEqual([run.throughput is None for run in study.runs], [False, False, False, True, False])
        self.assertIn("2 wrong answers, first key 7", study.history[0])

    def test_a_missed_target_is_a_figure(self):
        raw = insert_benchmark()
        raw["phases"][3]["target"]["batches_late"] = 3
        self.assertEqual(pick.study([self.write("a.json", raw)]).runs[3].measures["batches late"], 3)

    def test_bad_files_are_named(self):
        cut = insert_benchmark()
        del cut["phases"][0]["timeline"]
        for content, reason in ((cut, "lacks a part"), ({"kind": "iibench", "format": 2}, "format 2")):
            with self.assertRaisesRegex(Failed, f"a.json.*{reason}"):
                iibench.study([self.write("a.json", content)])
        with self.assertRaisesRegex(Failed, "b.json.*is not a result of .iibench"):
            pick.study([self.write("a.json", insert_benchmark()), self.write("b.json", made())])


class StudyTest(unittest.TestCase):
    def test_a_run_with_wrong_data_has_no_throughput(self):
        wrong = Check("3: d_next_o_id", "broken", ("w 1: 5",))
        runs = [Run("A", "w", 1, 1, 10.0, "x/s"), Run("B", "w", 1, 1, 900.0, "x/s", operations=900, cpu_s=1, checks=[wrong],
                                                      measures={"TPM": 5.0}, latencies=[Latency("op", p95_ms=1.0)],
                                                      series={THROUGHPUT: Metric("x/s", [(1, 900)])}),
                Run("A", "w", 1, 2, 10.0, "x/s"), Run("B", "w", 1, 2, 20.0, "x/s")]
        study = Study("made", "t", "a", runs)
        (_, row), = study.compared()
        self.assertEqual((row["B"].values, row["B"].ratio), ((20.0,), 2.0))
        said = "B, w, 1 thread, repetition 1 has no figures: 3: d_next_o_id (w 1: 5): broken."
        self.assertEqual(study.history, [f"Inconsistent: {said}"])
        text = markdown.text(study)
        self.assertIn("20 [1 of 2 INCONSISTENT: 3: d_next_o_id (w 1: 5): broken]", text)
        self.assertNotIn("900", text)
        self.assertEqual(page._cards(study)[1]["big"], "20")
        self.assertEqual(replace(study).history, study.history)  # A copy does not repeat it.
        drawn = []
        with mock.patch.object(style, "save", lambda figure, directory, name, notes: drawn.append((name, notes)) or []), \
                tempfile.TemporaryDirectory() as name:
            drawing.draw(study, name)
        self.assertEqual(drawn, [("throughput", study.history)])

    def test_versions_are_those_that_ran(self):
        study = made_study.study(threads=(4,), repetitions=1)
        study.provenance["binaries"] |= {"RocksDB: mariadbd": {"sha256": "ef" * 32}, "ha_x.so": {"sha256": "01" * 32}}
        study.runs[0].versions["server"] = "11.8.7-MariaDB"
        self.assertEqual(study.versions(), {"mariadbd": "11.8.7-MariaDB, 11.8.6-MariaDB", "sysbench": "1.0.20",
                                            "RocksDB: mariadbd": "11.8.6-MariaDB", "ha_x.so": ""})
        rows = dict(tables.provenance(study).rows)
        self.assertEqual(rows["sysbench"], "1.0.20")
        self.assertEqual(rows["ha_x.so"], f"SHA-256 {'01' * 32}")
        # A study of an earlier lab takes the version from the server's variables, or from its file.
        for run in study.runs:
            run.versions, run.variables = {}, {"version": "10.11.18-MariaDB"}
        self.assertEqual(study.versions()["mariadbd"], "10.11.18-MariaDB")
        for run in study.runs:
            run.variables = {}
        self.assertIn("Ver 11.8.6-MariaDB", study.versions()["mariadbd"])

    def test_ratios_are_of_medians_and_of_pairs(self):
        of = Spread.of({1: 200, 2: 75}, {1: 100, 2: 50})
        self.assertEqual((round(of.ratio, 2), of.lowest, of.highest, of.verdict), (1.83, 1.5, 2.0, "within noise"))
        self.assertIsNone(Spread.of({1: 200}, {1: 100}).verdict)

    def test_a_gain_is_told_from_noise(self):
        base = {1: 100, 2: 101, 3: 99, 4: 100}
        gain = Spread.of({1: 110, 2: 111, 3: 110, 4: 109}, base)
        self.assertEqual(gain.verdict, "higher")
        self.assertEqual(Spread.of({1: 90, 2: 112, 3: 99, 4: 104}, base).verdict, "within noise")
        self.assertEqual(Spread.of(base, {1: 110, 2: 111, 3: 110, 4: 109}).verdict, "lower")

    def test_rounds_are_paired_by_number(self):
        of = Spread.of({2: 20, 3: 30}, {1: 1, 2: 10, 3: 10})
        self.assertEqual((of.lowest, of.highest), (2, 3))

    def test_what_was_not_measured_is_left_out(self):
        runs = [Run("A", "w", 1, 1, 10.0, "x/s"), Run("B", "v", 1, 1, None, "x/s", complete=False)]
        study = Study("made", "t", "a", runs)
        self.assertIn("| – [NOT COMPLETE] |", markdown.figures(study))
        self.assertIsNone(tables.resources(study))
        self.assertIsNone(tables.errors(study))

    def test_names_that_occur_twice(self):
        self.assertEqual(numbered(["a", "b", "a", "a"]), ["a", "b", "a (2)", "a (3)"])


class TablesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.study = made_study.study()

    def test_write_amplification(self):
        table = tables.resources(self.study)
        self.assertEqual(table.rows[0][table.head.index("write amplification")], form.number(900 / 188))

    def test_variables_by_label_and_condition(self):
        table = tables.variables(self.study)
        self.assertEqual(len(table.head), 1 + 3 * 2)
        self.assertEqual([(row[0], tables.kind(row)) for row in table.rows],
                         [("innodb_buffer_pool_size", tables.NOT_ON_ALL), ("max_connections", tables.SAME),
                          ("performance_schema", tables.SAME), ("rocksdb_block_cache_size", tables.NOT_ON_ALL),
                          ("sync_binlog", tables.DIFFERENT), ("tidesdb_block_cache_size", tables.NOT_ON_ALL)])

    def test_what_tells_variants_apart_is_in_their_heads(self):
        def heads(different):
            study = made_study.study(threads=(1, 4), repetitions=2, labels=("InnoDB",))
            for run in study.runs:
                run.configuration = {"x": different(run)}
            return [head.removeprefix("InnoDB, ") for head in tables.run_configuration(study).head[1:]]

        self.assertEqual(heads(lambda run: "1"), ["InnoDB"])
        self.assertEqual(heads(lambda run: run.condition), list(made_study.CONDITIONS))
        self.assertEqual(heads(lambda run: run.workload[-5:]), ["sysbench point_select", "sysbench read_write"])
        self.assertEqual(heads(lambda run: str(run.threads)), ["1 thread", "4 threads"])
        self.assertEqual(heads(lambda run: str(run.repetition)), ["repetition 1", "repetition 2"])
        named = heads(lambda run: str((run.threads == 4 and run.repetition == 2, run.condition)))
        self.assertEqual(len(set(named)), 4)
        self.assertIn("commits synced, sysbench point_select, 4 threads, repetition 2 and commits synced, sysbench "
                      "read_write, 4 threads, repetition 2", named)

    def test_what_one_engine_alone_has_is_no_difference(self):
        self.assertEqual([row[0] for row in tables.variables_that_differ(self.study).rows], ["sync_binlog"])
        said = "Of 6 that the servers have, 1 differs; 3 more are not on every server: "
        page_text = page.render(self.study, PLOTLY)
        for text in (markdown.text(self.study), page_text):
            self.assertIn(said, text)
        self.assertEqual(page_text.count('<span class="badge">differs'), 1)
        kinds = (tables.DIFFERENT, tables.NOT_ON_ALL, tables.SAME)
        self.assertEqual([page_text.count(f'<tr class="{kind}"') for kind in kinds], [1, 3, 2])

    def test_where_a_server_is_is_no_difference(self):
        study = made_study.study(threads=(4,), repetitions=2, labels=("InnoDB",), conditions=("",))
        for number, run in enumerate(study.runs):
            run.variables |= {"gtid_binlog_pos": f"0-1-{number}", "gtid_strict_mode": "OFF"}
        table = tables.variables(study)
        self.assertEqual(table.head, ["", "InnoDB"])
        self.assertIn("gtid_strict_mode", [row[0] for row in table.rows])  # It is set.
        self.assertNotIn("0-1-", markdown.text(study))

    def test_no_path_or_name_of_a_machine_is_a_variable(self):
        study = made_study.study(threads=(4,), repetitions=1)
        for number, run in enumerate(study.runs):
            run.variables |= {"datadir": f"/secret/{number}", "hostname": "secret", "server_uid": f"secret{number}"}
        self.assertEqual(len(tables.variables(study).rows), 6)
        self.assertNotIn("secret", markdown.text(study) + page.render(study, PLOTLY))

    def test_the_text_says_what_the_servers_were_told(self):
        self.study.runs[0].configuration["server options"] = long = "--a=1 " * 20
        self.addCleanup(self.study.runs[0].configuration.update, {"server options": "--innodb_buffer_pool_size=256M"})
        text = markdown.text(made_study.study())
        self.assertRegex(text, r"(?m)^\| server options +\| +--innodb_buffer_pool_size=256M \| +--tidesdb_block")
        self.assertRegex(text, r"(?m)^\| sync_binlog +\| +0 \|")
        self.assertIn("Of 6 that the servers have, 1 differs", text)
        self.assertIn("4 status counters side by side", text)
        self.assertIn(f": {long}\n", markdown.text(self.study))
        same = made_study.study(threads=(4,), repetitions=1, conditions=("",))
        for run in same.runs:
            run.variables, run.configuration = {"a": "1"}, {"server options": long}
        text = markdown.text(same)
        self.assertIn(f"- server options of each: {long}\n", text)
        self.assertIn("## Server variables\n\nOf 1 that the servers have, none differs. The page has them all", text)

    def test_intervals_are_shown_of_several_repetitions(self):
        self.assertIn("95 % interval", tables.throughput(made_study.study(repetitions=2)).head)
        self.assertNotIn("95 % interval", tables.throughput(made_study.study(repetitions=1)).head)

    def test_every_row_has_a_cell_for_each_head(self):
        for make in (tables.throughput, tables.percentiles, tables.measures, tables.resources, tables.errors, tables.checks,
                     tables.variables, tables.run_configuration, tables.configuration, tables.provenance, tables.files):
            table = make(self.study)
            self.assertEqual({len(row) for row in table.rows}, {len(table.head)}, table.title)

    def test_no_path_of_this_machine_is_told(self):
        self.assertNotIn("/usr/sbin", markdown.text(self.study))

    def test_markdown_is_a_table(self):
        for table in re.findall(r"(?:^\|.*\n)+", markdown.text(self.study), re.M):
            self.assertEqual(len({len(line) for line in table.splitlines()}), 1)


class MarkdownTest(unittest.TestCase):
    def test_a_text_means_nothing(self):
        for text, shown in (("a|b", r"a\|b"), ("`rm`", r"\`rm\`"), ("<script>", r"\<script>"), ("*x* ~y~", r"\*x\* \~y\~"),
                            ("_x_ __y__", r"\_x\_ \_\_y\_\_"), ("innodb_io_capacity a__b", "innodb_io_capacity a__b"),
                            ("C:\\|", r"C:\\\|"), ("[x](y)", r"[x]\(y)"), ("1,000 [7 errors]", "1,000 [7 errors]"),
                            ("a & b &lt;", r"a & b \&lt;"), ("two\nlines", "two lines")):
            self.assertEqual(markdown.plain(text), shown)

    def test_labels_variables_and_sentences_mean_nothing(self):
        odd = "a|b `c` <d>"
        run = Run(odd, "w", 1, 1, 10.0, "x/s", errors=[Error(0, 1, f"{odd}\n{odd}")])
        study = Study("made", odd, odd, [run, Run("B", "w", 1, 1, 5.0, "x/s")], [odd], [f"{odd}\nlog"], [(odd, odd)])
        text = markdown.text(study)
        self.assertNotRegex(text, r"a\|b|[^\\]`|[^\\]<")
        shown = markdown.plain(odd)
        for line in (f"# {shown}\n\n{shown}\n", f"- {shown}\n", f"- {shown} log\n", f"| {shown} | {shown} |\n",
                     f" / {shown} |"):
            self.assertIn(line, text)

    def test_nothing_measured(self):
        study = Study("made", "t", "about", [], history=["Failed: all"])
        self.assertIn("- Failed: all\n", markdown.text(study))
        with tempfile.TemporaryDirectory() as name, self.assertRaisesRegex(Failed, f"^{name}: has no finished measurement"):
            write.write(study, name)
        with self.assertRaisesRegex(Failed, "^t: no measurement"):
            page.render(study, PLOTLY)


class SheetTest(unittest.TestCase):
    def test_a_row_for_each_run_and_a_column_for_what_any_has(self):
        runs = [Run("InnoDB", "l.i1, <x>", 2, 1, 1234.5, "rows/s", "synced", 10.0, 12345,
                    latencies=[Latency("insert", 5, 1.25, 1.0, 2.0, 3.0, 4.0, 1 / 3)],
                    measures={"deleted rows/s": 7.0}, memory={"resident, peak": 1 << 20},
                    errors=[Error(1213, 3), Error(1205, 4)], cpu_s=2.5, written_bytes=9, row_bytes=3),
                Run("TidesDB", "l.x", 1, 1, None, "rows/s", complete=False, measures={"TPM": 0.0})]
        rows = list(csv.DictReader(io.StringIO(sheet.text(Study("made", "t", "about", runs)))))
        names = ("label condition workload threads repetition throughput unit seconds operations errors complete cpu_s "
                 "written_bytes row_bytes peak_memory_bytes").split()
        self.assertEqual([rows[0][name] for name in names],
                         ["InnoDB", "synced", "l.i1, <x>", "2", "1", "1234.5", "rows/s", "10", "12345", "7", "yes", "2.5",
                          "9", "3", "1048576"])
        self.assertEqual([rows[0][f"insert {name}_ms"] for name in "mean p50 p95 p99 p999 max".split()],
                         ["1.25", "1", "2", "3", "4", "0.3333333333"])
        self.assertEqual(rows[0]["deleted rows/s"], "7")
        self.assertEqual([rows[1][name] for name in ("throughput", "complete", "TPM", "insert p99_ms", "cpu_s")],
                         ["", "no", "0", "", ""])

    def test_it_lies_beside_charts(self):
        with tempfile.TemporaryDirectory() as name, mock.patch.object(plotly, "source", return_value=PLOTLY), \
                mock.patch.object(drawing, "draw"):
            write.write(made_study.study(), name)
            with open(Path(name) / "runs.csv", encoding="utf-8", newline="") as file:
                self.assertEqual(len(list(csv.DictReader(file))), len(made_study.study().runs))
        # A runner with its own charts also has its own CSVs.
        with tempfile.TemporaryDirectory() as name, mock.patch.object(plotly, "source", return_value=PLOTLY):
            write.write(made_study.study(), name, charts=False)
            self.assertFalse((Path(name) / "runs.csv").exists())


class FormTest(unittest.TestCase):
    def test_figures_keep_three_digits(self):
        self.assertEqual([form.number(value) for value in (None, 0, 0.12345, 1.234, 12.34, 123.4, 12345, 7)],
                         ["–", "0", "0.123", "1.23", "12.3", "123", "12,345", "7"])

    def test_milliseconds_keep_three_digits(self):
        self.assertEqual([form.milliseconds(ms) for ms in (0, 1.234, 45.678, 3500)], ["0.00", "1.23", "45.7", "3,500"])
