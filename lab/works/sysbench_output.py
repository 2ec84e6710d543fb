"""What `sysbench NAME run` of version 1.0 prints: the summary, the intervals, the histogram of latencies.

    run = sysbench.parse(path.read_text(), path)
    run.tps, run.latency.avg_ms, run.percentile(99)
    for interval in run.intervals: ...
"""

import math
import re
from dataclasses import dataclass, field

from lab.base import figures
from lab.base.errors import BadInput

_INTERVAL = re.compile(
    r"^\[ (\d+)s \] thds: (\d+) tps: ([\d.]+) qps: ([\d.]+) \(r/w/o: ([\d.]+)/([\d.]+)/([\d.]+)\) "
    r"lat \(ms,(\d+)%\): ([\d.]+) err/s: ([\d.]+) reconn/s: ([\d.]+)\s*$", re.ASCII)
_HISTOGRAM_HEAD = re.compile(r"^\s+value\s+-+ distribution -+ count\s*$")
_HISTOGRAM = re.compile(r"^\s*(\S+) \|\**\s+(\S+)\s*$")


@dataclass(frozen=True)
class Interval:
    """One line of --report-interval. Everything but the latency is a rate per second."""
    second: int        # Its end, from the start of the run.
    threads: int
    tps: float
    qps: float
    reads: float
    writes: float
    other: float
    percent: int       # Of which percentile latency_ms is; 0: of none.
    latency_ms: float
    errors: float
    reconnects: float

    @property
    def latency_avg_ms(self):
        """The mean latency, which sysbench leaves out here: None where nothing ended.

        Each thread is in a transaction all the time, so threads / rate is what one takes (Little's law); what began
        in one interval and ended in the next is counted in both.
        """
        return self.threads / self.tps * 1000 if self.tps > 0 else None


@dataclass(frozen=True)
class Latency:
    """Of whole transactions, in milliseconds."""
    min_ms: float
    avg_ms: float
    max_ms: float
    sum_ms: float
    percent: int        # As --percentile; 0: switched off.
    percentile_ms: float


@dataclass(frozen=True)
class Run:
    """A finished run."""
    version: str
    threads: int
    reads: int
    writes: int
    other: int
    queries: int
    transactions: int
    errors: int         # Statements that were ignored, as --mysql-ignore-errors says, and tried again.
    reconnects: int
    total_s: float
    tps: float
    qps: float
    latency: Latency
    intervals: list = field(default_factory=list)
    histogram: list = field(default_factory=list)  # (milliseconds, count), rising; empty without --histogram.

    @property
    def reads_per_s(self):
        return self.reads / self.total_s

    @property
    def writes_per_s(self):
        return self.writes / self.total_s

    def percentile(self, percent):
        """By the histogram, whose buckets are 1.8 % wide; None without one."""
        total = sum(count for _, count in self.histogram)
        if total == 0:
            return None
        wanted = max(1, math.ceil(total * percent / 100))
        seen = 0
        for value, count in self.histogram:
            seen += count
            if seen >= wanted:
                return value
        raise AssertionError("a histogram has fewer values than it has")


def parse_interval(line, source="sysbench's output", number=None):
    """The Interval of a line, or None for any other line. Raises BadInput for one that is damaged."""
    if not line.startswith("[ "):
        return None
    found = _INTERVAL.match(line)
    if not found:
        raise BadInput(source, f"is damaged: {line[:80]!r} is not an interval of sysbench", number)
    at, threads, *rates, percent, latency, errors, reconnects = found.groups()
    at, threads, percent = (figures.whole(text, source, number) for text in (at, threads, percent))
    return Interval(at, threads, *(figures.number(rate, source, number, "a rate") for rate in rates), percent,
                    *(figures.number(text, source, number) for text in (latency, errors, reconnects)))


class _Lines:
    """A text that is searched forwards."""

    def __init__(self, text, source):
        self.source = source
        self.number = None  # Of the line that was found last.
        self._lines = text.splitlines()
        self._at = 0

    def find(self, pattern, what):
        """The groups of the next line that matches; raises BadInput where there is none."""
        for number in range(self._at, len(self._lines)):
            found = re.match(pattern, self._lines[number])
            if found:
                self._at = self.number = number + 1
                return found.groups()
        raise BadInput(self.source, f"is cut off: sysbench's {what} is missing after this line", len(self._lines))

    def figure(self, label, what, end=""):
        """The number after a label."""
        return figures.number(self.find(rf"^\s*{label}\s+(\S+?){end}\s*$", what)[0], self.source, self.number, what)

    def whole(self, label, what, rest=r"\s*$"):
        return figures.whole(self.find(rf"^\s*{label}\s+(\S+){rest}", what)[0], self.source, self.number, what)

    def rate(self, label, what):
        """The count after a label, and its rate."""
        count, rate = self.find(rf"^\s+{label}:\s+(\S+)\s+\((\S+) per sec\.\)", what)
        return figures.whole(count, self.source, self.number, what), figures.number(rate, self.source, self.number, what)


def _refuse(text, source):
    if not text.strip():
        raise BadInput(source, "is empty; sysbench did not run, or wrote nothing")
    lines = text.splitlines()
    version = next((re.match(r"^sysbench ([\d.]+)", line) for line in lines if line.startswith("sysbench ")), None)
    if not version:
        raise BadInput(source, f"is not output of sysbench: it begins with {lines[0][:60]!r}", 1)
    if not version.group(1).startswith("1."):
        raise BadInput(source, f"is of sysbench {version.group(1)}; 1.0 and 1.1 are known", 1)
    for number, line in enumerate(lines, 1):
        if line.startswith("FATAL:"):
            raise BadInput(source, f"sysbench failed: {line[len('FATAL:'):].strip()}", number)
    return version.group(1)


def _histogram(text, source):
    values, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if _HISTOGRAM_HEAD.match(line):
            inside = True
        elif inside:
            found = _HISTOGRAM.match(line)
            if not found:
                break
            values.append((figures.number(found.group(1), source, number), figures.whole(found.group(2), source, number)))
    return values


def parse(text, source="sysbench's output"):
    """A finished run. Raises BadInput for any other text, with its place; source names the text there."""
    version = _refuse(text, source)
    lines = _Lines(text, source)
    threads = lines.whole("Number of threads:", "number of threads")
    counts = [lines.whole(f"{name}:", f"count of {name} queries") for name in ("read", "write", "other", "total")]
    if sum(counts[:3]) != counts[3]:
        raise BadInput(source, f"is damaged: reads, writes and others are {sum(counts[:3])}, the total is {counts[3]}",
                       lines.number)
    transactions, tps = lines.rate("transactions", "line of transactions")
    _, qps = lines.rate("queries", "line of queries")
    errors = lines.whole("ignored errors:", "line of ignored errors", r"\s")
    reconnects = lines.whole("reconnects:", "line of reconnects", r"\s")
    total_s = lines.figure("total time:", "total time", end="s")
    latency = [lines.figure(f"{name}:", f"{name} latency") for name in ("min", "avg", "max")]
    percent, percentile, disabled = lines.find(
        r"^\s+(?:(\d+)th percentile:\s+(\S+)|percentile stats:\s+(disabled))", "percentile")
    percentile_ms = 0.0 if disabled else figures.number(percentile, source, lines.number, "percentile")
    total_ms = lines.figure("sum:", "sum of latencies")
    lines.find(r"^\s+execution time \(avg/stddev\):\s+\S+/\S+\s*$", "last line, the threads' fairness,")
    figures.refuse_cut(text, source, "sysbench")
    if total_s <= 0 or threads <= 0:
        raise BadInput(source, "says that the run took no time, or had no threads")
    found = (parse_interval(line, source, number) for number, line in enumerate(text.splitlines(), 1))
    return Run(version, threads, *counts, transactions, errors, reconnects, total_s, tps, qps,
               Latency(*latency, total_ms, 0 if disabled else figures.whole(percent, source, lines.number), percentile_ms),
               [interval for interval in found if interval], _histogram(text, source))
