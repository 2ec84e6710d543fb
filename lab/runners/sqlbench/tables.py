"""The CSV files of a run: summary, detail, latency, sizes. Rewritten from the raw outputs each time."""

import csv

from lab.base import figures
from lab.runners.sqlbench import sqlbench_csv
from lab.runners.sqlbench.settings import PERCENTILES
from lab.works import sysbench_output as parser

KEY = ["engine", "workload", "threads", "table_size", "iteration"]
COLUMNS = {
    "summary": [*KEY, *sqlbench_csv.SUMMARY],
    "detail": [*KEY, *sqlbench_csv.DETAIL],
    "latency": [*KEY, "percentile", "latency_ms"],
    "sizes": [*KEY, "phase", "size_bytes", "size_mb"],
}
_MB = 1 << 20


def _key(unit):
    return [unit.engine, unit.workload, unit.threads, unit.table_size, unit.repetition]


def _mb(count):
    return "" if count is None else f"{count / _MB:.3f}"


class Figures:
    """One measurement with its parsed raw output."""

    def __init__(self, unit, result, raw_directory):
        self.unit, self.sizes = unit, result["sizes"]
        path = raw_directory / result["raw"]
        self.run = parser.parse(figures.read(path), path)

    def summary(self, warmup_s):
        run, latency = self.run, self.run.latency
        return [*_key(self.unit), f"{run.tps:.2f}", f"{run.qps:.2f}", f"{run.reads_per_s:.2f}", f"{run.writes_per_s:.2f}",
                f"{latency.avg_ms:.3f}", f"{latency.min_ms:.3f}", f"{latency.percentile_ms:.3f}", f"{latency.max_ms:.3f}",
                run.errors, run.reconnects, f"{run.total_s:.3f}", warmup_s,
                _mb(self.sizes.get("after_prepare")), _mb(self.sizes.get("after_run"))]

    def detail(self):
        for interval in self.run.intervals:
            mean = interval.latency_avg_ms
            yield [*_key(self.unit), interval.second, f"{interval.tps:.2f}", f"{interval.qps:.2f}",
                   "" if mean is None else f"{mean:.3f}", f"{interval.latency_ms:.3f}"]

    def latency(self):
        for percent in PERCENTILES:
            value = self.run.percentile(percent)
            if value is not None:
                yield [*_key(self.unit), f"{percent:g}", f"{value:.3f}"]

    def size_rows(self):
        for phase, count in self.sizes.items():
            yield [*_key(self.unit), phase, count, _mb(count)]


def write(directory, stamp, figures, warmup_s):
    """Writes the four files; returns their paths by kind."""
    rows = {"summary": [one.summary(warmup_s) for one in figures],
            "detail": [row for one in figures for row in one.detail()],
            "latency": [row for one in figures for row in one.latency()],
            "sizes": [row for one in figures for row in one.size_rows()]}
    paths = {}
    for kind, columns in COLUMNS.items():
        paths[kind] = directory / f"{kind}_{stamp}.csv"
        new = paths[kind].with_suffix(".new")
        with open(new, "w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows[kind])
        new.rename(paths[kind])  # Other readers always see a complete file.
    return paths
