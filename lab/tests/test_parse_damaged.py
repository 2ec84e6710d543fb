"""Tests of every parser on damaged outputs: it either gives the same figures as before, or refuses the file by name. It
never raises another exception or returns figures that are not in the file."""

import json
import random
import re
import unittest
from dataclasses import astuple, is_dataclass

from lab.base import figures
from lab.base.errors import BadInput
from lab.observe import iostat, mpstat, perf, pidstat, vmstat
from lab.runners.hammerdb import hammerdb_csv
from lab.runners.sqlbench import sqlbench_csv
from lab.tests.cases import RECORDED, folder, recorded
from lab.works import iibench
from lab.works import hammerdb_output as hammerdb
from lab.works import sysbench_output as sysbench
from lab.works import tpcc_output as tpcc
from lab.works import tpcc_result as results

SEED = 20261122
# By name: the parser, and what it reads.
PARSERS = {
    "iostat": (iostat.parse, ["sysstat-12.6.1-iostat.txt", "sysstat-12.7.5-iostat.txt"]),
    "mpstat": (mpstat.parse, ["sysstat-12.6.1-mpstat.txt", "sysstat-12.7.5-mpstat.txt"]),
    "pidstat": (pidstat.parse, ["sysstat-12.6.1-pidstat.txt", "sysstat-12.7.5-pidstat.txt"]),
    "vmstat": (vmstat.parse, ["procps-4.0.2-vmstat.txt", "procps-4.0.4-vmstat.txt"]),
    "sysbench": (sysbench.parse, [f"sysbench-1.0.20-{release}{name}.txt" for release in ("", "debian13-")
                                  for name in ("errors", "p99", "no_percentile", "read_write")]),
    "run_log": (hammerdb.run_log, ["hammerdb-5.0/hammerdb.log", "hammerdb-6.0/hammerdb.log"]),
    "latency_json": (hammerdb.latency_json, ["hammerdb-5.0/timing.json", "hammerdb-6.0/timing.json"]),
    "profile": (hammerdb.profile, ["hammerdb-5.0/hdbxtprofile.log", "hammerdb-6.0/hdbxtprofile.log"]),
    "windows": (hammerdb.windows, ["hammerdb-4.12/etprof.log"]),
    "counts": (hammerdb.transaction_counts, ["hammerdb-5.0/hdbtcount.log", "hammerdb-6.0/hdbtcount.log",
                                             "hammerdb-4.12/hdbtcount.log"]),
    "queries": (hammerdb.queries, ["hammerdb-5.0/tproch.log", "hammerdb-6.0/tproch.log"]),
    "perf": (perf.report, ["perf-6.1.txt", "perf-6.12.txt"]),
    "timeline": (tpcc.timeline, ["tpcc-timeline.csv"]),
    "summary": (sqlbench_csv.summary, ["sqlbench-summary.csv"]),
    "detail": (sqlbench_csv.detail, ["sqlbench-detail.csv"]),
    "results": (hammerdb_csv.read, ["hammerdb_results.csv"]),
}
# A run.log may have no blocks of etprof. The other formats are also valid with fewer lines.
_MAY_HAVE_NOTHING, _LINES_ALONE = ("windows",), ("counts", "vmstat", "iostat", "timeline", "summary", "detail", "results")


def texts_of(name):
    return [recorded(text) for text in PARSERS[name][1]]


def all_texts():
    return [path.read_text() for path in sorted(RECORDED.rglob("*")) if path.is_file()]


def numbers_in(value):
    """All floats and ints in a parser's result."""
    if is_dataclass(value):
        value = astuple(value)
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, (list, tuple, set)):
        for one in value:
            yield from numbers_in(one)
    elif isinstance(value, (int, float)):
        yield value


def parsed(parse, text):
    """The parser's result, or None if it refuses the text and names the file."""
    try:
        return parse(text, "here.txt")
    except BadInput as error:
        if not re.match(r"here\.txt(:\d+)?: \S", str(error)):
            raise AssertionError(f"names no file: {error}") from error
        return None


class Damaged(unittest.TestCase):
    def test_what_is_whole_is_read(self):
        for name, (parse, _) in PARSERS.items():
            for text in texts_of(name):
                self.assertTrue(parsed(parse, text), name)
                self.assertEqual(repr(parsed(parse, text.replace("\n", "\r\n"))), repr(parsed(parse, text)), name)

    def test_what_is_no_text_of_the_tool(self):
        dice = random.Random(SEED)
        garbage = ["", "\n", " \n\n", "\0\1\xff\ufffd\n" * 5, '"', "".join(chr(dice.randrange(1, 300)) for _ in range(999)),
                   "[" * 100_000, "\r", "x" * 200_000 + "\n"]
        for name, (parse, _) in PARSERS.items():
            own = texts_of(name)
            for text in [*garbage, *(text for text in all_texts() if text not in own)]:
                found = parsed(parse, text)
                if name == "run_log" and "TEST RESULT" in text:
                    continue  # Each version's, and 4.12's.
                self.assertFalse(found, f"{name} of {text[:60]!r}")
                self.assertTrue(found is None or name in _MAY_HAVE_NOTHING, f"{name} of {text[:60]!r}")

    def test_cut_anywhere(self):
        for name, (parse, _) in PARSERS.items():
            for text in texts_of(name):
                whole, lines = parsed(parse, text), text.splitlines(keepends=True)
                ends = {sum(map(len, lines[:count])) for count in range(len(lines) + 1)}
                for length in range(0, len(text), 1 if len(text) < 3000 else 11):
                    found = parsed(parse, text[:length])
                    said = repr(found) != repr(whole) and not (found is None or name in _MAY_HAVE_NOTHING and not found)
                    may = name in (*_LINES_ALONE, *_MAY_HAVE_NOTHING) and length in ends
                    self.assertTrue(may or not said, f"{name}, cut at {length}: ...{text[max(0, length - 60):length]!r}")

    def test_a_figure_that_is_none(self):
        dice = random.Random(SEED)
        for name, (parse, _) in PARSERS.items():
            for text in texts_of(name):
                found = list(re.finditer(r"\d+\.\d+|\b\d+\b", text))
                for at in dice.sample(found, min(50, len(found))):
                    for value in ("nan", "-nan", "inf", "-5.00", "1e400", "9" * 400, "1.2.3", "\u0663", "0x10", "1_0"):
                        said = parsed(parse, text[:at.start()] + value + text[at.end():])
                        for number in numbers_in(said if said is not None else []):
                            least = -5 if name == "summary" else 0  # A size may shrink.
                            self.assertTrue(least <= number < 1e30,
                                            f"{name}: {value} in ...{text[max(0, at.start() - 40):at.end()]!r}")

    def test_decimal_commas(self):
        for name, (parse, _) in PARSERS.items():
            if name in ("vmstat", "counts", "run_log", "timeline"):
                continue  # These have only whole numbers.
            for text in texts_of(name):
                self.assertIsNone(parsed(parse, re.sub(r"(\d)\.(\d)", r"\1,\2", text)), name)

    def test_a_comma_is_named(self):
        with self.assertRaisesRegex(BadInput, r"here.txt:5: is damaged: tps is '1,5', not a number, with a decimal comma"):
            figures.number("1,5", "here.txt", 5, "tps")

    def test_a_line_that_is_missing(self):
        for name in ("sysbench", "run_log", "profile", "queries", "mpstat", "latency_json"):
            parse = PARSERS[name][0]
            for text in texts_of(name):
                lines = text.splitlines(keepends=True)
                for number in range(len(lines)):
                    parsed(parse, "".join(lines[:number] + lines[number + 1:]))


class Results(unittest.TestCase):
    """Results of `tpcc run --json` and `iibench run --json`."""

    def setUp(self):
        self.path = folder(self) / "here.json"

    def read(self, load, text):
        if isinstance(text, bytes):
            self.path.write_bytes(text)
        else:
            self.path.write_text(text)
        try:
            return load(self.path)
        except BadInput as error:
            self.assertIn("here.json", str(error))
            return None

    @staticmethod
    def _iibench(path):
        return iibench.study([path])

    def of_each(self):
        return (results.load, recorded("tpcc.json")), (self._iibench, recorded("iibench.json"))

    def test_whole(self):
        for load, text in self.of_each():
            self.assertTrue(self.read(load, text))

    def test_foreign_and_binary(self):
        for load, _ in self.of_each():
            for text in ("", "{", "[]", "null", "[" * 100_000, b"\xff\xfe\0", "{}", '{"kind": "samples"}', "1" * 5000):
                self.assertIsNone(self.read(load, text), text[:20])

    def test_no_file(self):
        for load in (results.load, self._iibench):
            with self.assertRaisesRegex(BadInput, "none.json: cannot be read: No such file"):
                load(self.path.with_name("none.json"))

    def test_cut_anywhere(self):
        for load, text in self.of_each():
            for length in range(0, len(text.rstrip()) - 1, max(1, len(text) // 400)):
                self.assertIsNone(self.read(load, text[:length]), text[length - 40:length])

    def test_every_part_missing_or_of_another_kind(self):
        for load, text in self.of_each():
            for place in list(_places(json.loads(text)))[:4000]:
                for value in (None, -1, "x", [], {}, "NaN"):
                    damaged = json.loads(text)
                    _put(damaged, place, value)
                    self.read(load, json.dumps(damaged).replace('"NaN"', "NaN"))

    def test_nan_is_no_figure(self):
        for load, text in self.of_each():
            for value in ("NaN", "Infinity", "1e999"):
                damaged = re.sub(r'("max_us": ?)\d+', rf"\g<1>{value}", text, count=1)
                self.assertNotEqual(damaged, text)
                self.assertIsNone(self.read(load, damaged))


def _places(value, above=(), depth=0):
    """The paths to each part. Of a list, only the first element is used."""
    if isinstance(value, dict):
        for key in value:
            yield (*above, key)
            yield from _places(value[key], (*above, key), depth + 1)
    elif isinstance(value, list) and value:
        yield (*above, 0)
        yield from _places(value[0], (*above, 0), depth + 1)


def _put(value, place, new):
    for key in place[:-1]:
        value = value[key]
    value[place[-1]] = new
