"""The charts of sqlbench, from its summary and detail CSVs; README.md lists them."""

from pathlib import Path
from statistics import median

from lab.base.errors import BadInput
from lab.reports import style
from lab.runners.sqlbench import sqlbench_csv

METRICS = {"tps": "transactions per second", "qps": "queries per second", "reads_per_sec": "reads per second",
           "writes_per_sec": "writes per second", "latency_avg_ms": "average latency, ms",
           "latency_p95_ms": "95th percentile of latency, ms", "latency_max_ms": "maximum latency, ms"}
OVER_TIME = {"tps": METRICS["tps"], "qps": METRICS["qps"], "latency_avg_ms": METRICS["latency_avg_ms"],
             "latency_p95_ms": METRICS["latency_p95_ms"]}
# The image names in the article of seed 004.
OVERVIEW = {"01_throughput_tps": "tps", "02_latency_avg": "latency_avg_ms", "03_qps": "qps",
            "04_p95_latency": "latency_p95_ms"}


def _names(rows, key):
    return list(dict.fromkeys(key(row) for row in rows))


def _points(rows):
    """The key of a bar within a workload: threads and rows."""
    points = sorted({(row.table_size, row.threads) for row in rows})
    one_size = len({size for size, _ in points}) == 1
    return points, [_threads(t) if one_size else f"{_threads(t)}\n{s:,} rows" for s, t in points]


def _threads(count):
    return f"{count} thread{'s' if count > 1 else ''}"


def _from_zero(axes):
    """Leaves room above for labels and legend."""
    axes.set_ylim(0, max(axes.dataLim.y1, 1e-9) * 1.15)


def _values(rows, metric, engine, point):
    return [row.figures[metric] for row in rows
            if row.engine == engine and (row.table_size, row.threads) == point and row.figures[metric] is not None]


def _median(rows, engine, metric):
    return median([row.figures[metric] for row in rows if row.engine == engine and row.figures[metric] is not None] or [0])


class Charts:
    """Draws into one directory. drawn: the files."""

    def __init__(self, summary, detail, directory):
        self.summary, self.detail, self.directory = summary, detail, Path(directory)
        rows = [*(summary.rows if summary else []), *(detail.rows if detail else [])]
        self.engines = _names(rows, lambda row: row.engine)
        self.colours = style.colours(self.engines)
        self.plt = style.pyplot()
        self.drawn = []

    def _save(self, figure, name, notes):
        self.drawn += style.save(figure, self.directory, name, notes)

    def _bars(self, axes, rows, metric, labels=True):
        """Grouped bars: the median of the iterations, with lowest and highest."""
        points, names = _points(rows)
        engines = [engine for engine in self.engines if any(row.engine == engine for row in rows)]
        width = 0.8 / max(1, len(engines))
        for number, engine in enumerate(engines):
            values = [_values(rows, metric, engine, point) for point in points]
            at = [x - 0.4 + width * (number + 0.5) for x in range(len(points))]
            mid = [median(v) if v else 0 for v in values]
            bars = axes.bar(at, mid, width, color=self.colours[engine], label=engine, yerr=style.whiskers(values),
                            capsize=2)
            if labels:
                axes.bar_label(bars, labels=[_short(m) for m in mid], fontsize=6, padding=2)
        axes.set_xticks(range(len(points)), names)
        axes.grid(axis="x", visible=False)
        _from_zero(axes)

    def _scatter(self, axes, rows, metric):
        for engine in _names(rows, lambda row: row.engine):
            of = [row for row in rows if row.engine == engine and row.figures[metric] is not None]
            axes.scatter([row.threads for row in of], [row.figures[metric] for row in of], s=22, alpha=0.7,
                         color=self.colours[engine], label=engine)
        axes.set_xlabel("threads")
        axes.set_xticks(sorted({row.threads for row in rows}))
        _from_zero(axes)

    def each_workload(self):
        for workload in _names(self.summary.rows, lambda row: row.workload):
            rows = [row for row in self.summary.rows if row.workload == workload]
            for metric, title in METRICS.items():
                for kind, draw in (("bar", self._bars), ("scatter", self._scatter)):
                    figure, axes = self.plt.subplots(figsize=(6.4, 4))
                    draw(axes, rows, metric)
                    axes.set_title(f"{workload}: {title}")
                    axes.set_ylabel(title)
                    axes.legend()
                    self._save(figure, f"{workload}_{metric}_{kind}", self.summary.notes)

    def _panels(self, title, ylabel, draw, name):
        """One figure with a panel for each workload."""
        workloads = _names(self.summary.rows, lambda row: row.workload)
        figure, panels = style.grid(len(workloads), 4, 3.2, 3.2)
        for axes, workload in zip(panels, workloads):
            draw(axes, [row for row in self.summary.rows if row.workload == workload])
            axes.set_title(workload)
            axes.set_ylabel(ylabel)
        figure.legend(*panels[0].get_legend_handles_labels(), fontsize=7, loc="upper right")
        figure.suptitle(title, x=0.01, ha="left")
        self._save(figure, name, self.summary.notes)

    def overview(self):
        """The article's figures."""
        for name, metric in OVERVIEW.items():
            self._panels(METRICS[metric].capitalize(), "", lambda axes, rows, m=metric: self._bars(axes, rows, m), name)
        self._panels("Latency and throughput", "average latency, ms", self._trade_off, "05_latency_vs_throughput")
        self._panels("Thread scaling: transactions per second", "", self._scaling, "06_thread_scaling")

    def _trade_off(self, axes, rows):
        for engine in _names(rows, lambda row: row.engine):
            of = sorted((row for row in rows if row.engine == engine), key=lambda row: row.threads)
            axes.plot([row.figures["tps"] for row in of], [row.figures["latency_avg_ms"] for row in of], "o-",
                      color=self.colours[engine], label=engine)
        axes.set_xlabel("transactions per second")

    def _scaling(self, axes, rows):
        for engine in _names(rows, lambda row: row.engine):
            for size in sorted({row.table_size for row in rows}):
                threads = sorted({row.threads for row in rows if row.engine == engine and row.table_size == size})
                values = [median(_values(rows, "tps", engine, (size, count)) or [0]) for count in threads]
                axes.plot(threads, values, "o-", color=self.colours[engine],
                          label=engine if len({row.table_size for row in rows}) == 1 else f"{engine}, {size:,} rows")
        axes.set_xlabel("threads")
        axes.set_xticks(sorted({row.threads for row in rows}))
        _from_zero(axes)

    def latency_breakdown(self):
        def draw(axes, rows):
            engines = _names(rows, lambda row: row.engine)
            parts = ("latency_min_ms", "latency_avg_ms", "latency_p95_ms", "latency_max_ms")
            width = 0.8 / len(engines)
            for number, engine in enumerate(engines):
                values = [_median(rows, engine, part) for part in parts]
                axes.bar([x - 0.4 + width * (number + 0.5) for x in range(len(parts))], values, width,
                         color=self.colours[engine], label=engine)
            axes.set_xticks(range(len(parts)), ["min", "avg", "p95", "max"])
            axes.set_yscale("log")

        self._panels("Latency: minimum, average, 95th percentile, maximum", "ms (logarithmic)", draw, "latency_breakdown")

    def disk(self):
        """Draws sizes, if the file has them."""
        if not any(row.figures["data_size_after_run_mb"] is not None for row in self.summary.rows):
            return
        self._panels("Data after the run", "MB", lambda axes, rows: self._bars(axes, rows, "data_size_after_run_mb"),
                     "datasize")
        self._panels("Disk: after load and after run", "MB", self._before_and_after, "disk_usage_bar")
        self._panels("Disk growth by threads", "MB", self._growth, "disk_growth_line")
        self._panels("Disk: what the load took, what the run added", "MB", self._stacked, "disk_stacked")

    @staticmethod
    def _sizes(rows, engine):
        return _median(rows, engine, "data_size_after_prepare_mb"), _median(rows, engine, "data_size_after_run_mb")

    def _before_and_after(self, axes, rows):
        engines = _names(rows, lambda row: row.engine)
        for number, engine in enumerate(engines):
            bars = axes.bar([number - 0.2, number + 0.2], self._sizes(rows, engine), 0.4, color=self.colours[engine],
                            label=engine)
            bars[0].set_alpha(0.5)
            axes.bar_label(bars, fmt="%.0f", fontsize=6)
        axes.set_xticks([n + d for n in range(len(engines)) for d in (-0.2, 0.2)], ["load", "run"] * len(engines),
                        fontsize=6)

    def _growth(self, axes, rows):
        for engine in _names(rows, lambda row: row.engine):
            threads = sorted({row.threads for row in rows if row.engine == engine})
            grown = [after - before for before, after in
                     (self._sizes([row for row in rows if row.threads == count], engine) for count in threads)]
            axes.plot(threads, grown, "o-", color=self.colours[engine], label=engine)
        axes.set_xlabel("threads")
        axes.set_xticks(sorted({row.threads for row in rows}))

    def _stacked(self, axes, rows):
        engines = _names(rows, lambda row: row.engine)
        for number, engine in enumerate(engines):
            before, after = self._sizes(rows, engine)
            axes.bar(number, min(before, after), 0.6, color=self.colours[engine], alpha=0.5)
            axes.bar(number, max(0, after - before), 0.6, bottom=min(before, after), color=self.colours[engine],
                     label=engine)
        axes.set_xticks(range(len(engines)), engines)

    def over_time(self):
        for workload in _names(self.detail.rows, lambda row: row.workload):
            rows = [row for row in self.detail.rows if row.workload == workload]
            runs = _names(rows, lambda row: (row.engine, row.threads, row.table_size, row.iteration))
            for metric, title in OVER_TIME.items():
                if all(row.figures[metric] is None for row in rows):
                    continue
                for kind in ("timeseries", "timeseries_scatter"):
                    figure, axes = self.plt.subplots(figsize=(7.2, 4))
                    self._draw_runs(axes, rows, runs, metric, kind == "timeseries")
                    axes.set_title(f"{workload}: {title}")
                    axes.set_ylabel(title)
                    axes.set_xlabel("seconds")
                    _from_zero(axes)
                    axes.legend(fontsize=6)
                    self._save(figure, f"{workload}_{metric}_{kind}", self.detail.notes)

    def _draw_runs(self, axes, rows, runs, metric, lines):
        many_threads = sorted({threads for _, threads, _, _ in runs})
        for engine, threads, size, iteration in runs:
            of = [row for row in rows if (row.engine, row.threads, row.table_size, row.iteration)
                  == (engine, threads, size, iteration)]
            shade = 0.45 + 0.55 * (many_threads.index(threads) + 1) / len(many_threads)
            label = f"{engine}, {_threads(threads)}, {size:,} rows" if iteration == 1 else None
            values = [row.figures[metric] if row.figures[metric] is not None else float("nan") for row in of]
            axes.plot([row.figures["time_s"] for row in of], values, linestyle="-" if lines else "none",
                      marker=None if lines else "o", markersize=2.5, linewidth=1, color=self.colours[engine], alpha=shade,
                      label=label)


def _short(value):
    """A figure that fits above a bar."""
    for limit, unit in ((1e6, "M"), (1e4, "k")):
        if value >= limit:
            return f"{value / (1e6 if unit == 'M' else 1e3):.1f}{unit}"
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def plot(summary, detail, directory, say=print):
    """Draws all charts of the CSVs at these paths (either may be None); returns the files. Raises BadInput.

    say: gets messages about wrong or missing columns of the files.
    """
    tables = []
    for path, parse in ((summary, sqlbench_csv.summary), (detail, sqlbench_csv.detail)):
        table = parse(Path(path).read_text(encoding="utf-8", errors="replace"), path) if path else None
        for note in table.notes if table else []:
            say(f"{path}: {note}")
        tables.append(table if table and table.rows else None)
    if not any(tables):
        raise BadInput(detail, "has nothing to draw")
    charts = Charts(*tables, directory)
    if charts.summary:
        charts.each_workload()
        charts.overview()
        charts.latency_breakdown()
        charts.disk()
    if charts.detail:
        charts.over_time()
    return charts.drawn
