"""The charts of hammerdb_runner.sh, from the rows of its CSVs and the logs beside them.

A bar is the median of an engine's runs; its whiskers are the lowest and the highest.
"""

from collections import Counter
from dataclasses import dataclass, field
from statistics import mean, median

from lab.record import form
from lab.reports import style

_FEW = 4  # More than these need a legend below the figure.
_LATENCIES = (("New order", "neword"), ("Payment", "payment"), ("Delivery", "delivery"))
_INTERVAL_S = 10  # Of charts over time.


@dataclass
class RunSeries:
    """One run's figures over time, from its logs. Empty if the logs are missing or lack them."""
    engine: str                                    # Or the build's label, as in the rows.
    name: str = ""                                 # If it has several runs, else "".
    tpm: list = field(default_factory=list)        # (second, transactions a minute)
    latency: dict = field(default_factory=dict)    # By a line's name: (second, ms).
    hotspots: list = field(default_factory=list)   # lab.observe.perf.Hotspot


def _new(title, ylabel):
    figure, axes = style.pyplot().subplots(figsize=(7.5, 4.5))
    axes.set_title(title)
    axes.set_ylabel(ylabel)
    return figure, axes


def _spread(rows, column):
    """By engine, its runs' figures."""
    found = {}
    for row in rows:
        if row.get(column) is not None:
            found.setdefault(row["engine"], []).append(row[column])
    return found


def _number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _mean(runs):
    """The mean of several runs' points, at the intervals that all of them have."""
    intervals = [{round(second / _INTERVAL_S): value for second, value in points} for points in runs]
    common = set.intersection(*map(set, intervals))
    return [(at * _INTERVAL_S, mean(of[at] for of in intervals)) for at in sorted(common)]


def left_out(rows):
    """Sentences about the runs left out of all charts."""
    broken = Counter(row["engine"] for row in rows if row.get("consistent") == "no")
    all_of = Counter(row["engine"] for row in rows if row["benchmark"] == "tpcc")
    return [f"Left out: {engine}, {count} of {form.plural(all_of[engine], 'run')}, for inconsistent data"
            for engine, count in broken.items()]


class _Charts:
    """Draws rows and series into a directory. Owns: the shade of each engine or build in all charts."""

    def __init__(self, rows, runs, directory):
        self.directory, self.notes = directory, left_out(rows)
        # In the order of the rows, including those left out.
        known = [*(row["engine"] for row in rows), *(run.engine for run in runs)]
        self.shades = style.shades(list(dict.fromkeys(known)))
        self.rampups = sorted({row["rampup_min"] * 60 for row in rows if row.get("rampup_min")})

    def _in_order(self, engines):
        return [engine for engine in self.shades if engine in engines]

    def bars(self, rows, column, title, ylabel, name):
        """One bar per engine. Returns the paths; none if no row has the figure."""
        spread = _spread(rows, column)
        if not spread:
            return []
        figure, axes = _new(title, ylabel)
        engines = self._in_order(spread)
        values = [spread[engine] for engine in engines]
        bars = axes.bar(range(len(engines)), [median(of) for of in values], yerr=style.whiskers(values), capsize=5,
                        width=0.6, color=[self.shades[engine] for engine in engines])
        axes.bar_label(bars, [_number(median(of)) for of in values], padding=3)
        names = [engine.replace("-", "\n") for engine in engines]  # A build's label side by side with others.
        axes.set_xticks(range(len(engines)), [f"{text}\n{len(of)} runs" if len(of) > 1 else text
                                              for text, of in zip(names, values)])
        axes.margins(y=0.15)
        return style.save(figure, self.directory, name, self.notes)

    def grouped(self, rows, groups, title, ylabel, name, notes):
        """groups: (label below the bars, column). One bar per engine in each."""
        spreads = [(label, _spread(rows, column)) for label, column in groups]
        engines = self._in_order({engine for _, spread in spreads for engine in spread})
        if not engines:
            return []
        figure, axes = _new(title, ylabel)
        width = 0.8 / len(engines)
        for number, engine in enumerate(engines):
            at = [index for index, (_, spread) in enumerate(spreads) if engine in spread]
            values = [spreads[index][1][engine] for index in at]
            bars = axes.bar([index - 0.4 + width * (number + 0.5) for index in at], [median(of) for of in values],
                            width * 0.92, yerr=style.whiskers(values), capsize=4, color=self.shades[engine], label=engine)
            if len(engines) <= _FEW:
                axes.bar_label(bars, [_number(median(of)) for of in values], padding=2, fontsize=8)
        axes.set_xticks(range(len(spreads)), [label for label, _ in spreads])
        axes.margins(y=0.25)
        if len(engines) > _FEW:
            axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3)
        else:
            axes.legend(loc="upper left")
        return style.save(figure, self.directory, name, notes)

    def over_time(self, lines, title, ylabel, name):
        """lines: (engine, figure, points) of each run. One panel per figure; thin lines: runs, thick: an engine's mean."""
        panels = {}
        for engine, what, points in lines:
            panels.setdefault(what, {}).setdefault(engine, []).append(points)
        if not panels:
            return []
        figure, grid = style.pyplot().subplots(len(panels), 1, squeeze=False, figsize=(7.5, 2.2 + 2.5 * len(panels)),
                                               sharex=True)
        several = any(len(runs) > 1 for of in panels.values() for runs in of.values())
        figure.suptitle(title + ("; thin: each run, thick: their mean" if several else ""), fontsize=11)
        for (what, of), axes in zip(panels.items(), grid[:, 0]):
            self._mark_rampup(axes)
            for engine in self._in_order(of):
                self._runs(axes, engine, of[engine])
            axes.set_ylabel(f"{what}, {ylabel}" if what else ylabel)
            axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.set_xlabel("seconds")
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)  # Inside, it would hide lines.
        return style.save(figure, self.directory, name, self.notes)

    def _runs(self, axes, engine, runs):
        colour = self.shades[engine]
        for points in runs if len(runs) > 1 else ():
            axes.plot([second for second, _ in points], [value for _, value in points], linewidth=0.7, color=colour,
                      alpha=0.6)
        whole = _mean(runs) if len(runs) > 1 else runs[0]
        axes.plot([second for second, _ in whole], [value for _, value in whole], marker="o", markersize=4, color=colour,
                  linewidth=2, label=engine)

    def _mark_rampup(self, axes):
        if self.rampups:
            upto = "up to " if len(self.rampups) > 1 else ""
            axes.axvspan(0, self.rampups[-1], color="#000000", alpha=0.08, linewidth=0,
                         label=f"ramp-up, {upto}{self.rampups[-1]:.0f} s")

    def hotspots(self, runs):
        runs = [run for run in runs if run.hotspots]
        if not runs:
            return []
        figure, panels = style.pyplot().subplots(len(runs), 1, figsize=(8.5, 2.8 * len(runs)), squeeze=False)
        for run, axes in zip(runs, panels[:, 0]):
            names = [f"{spot.symbol[:60]}  ({spot.object})" for spot in run.hotspots]
            bars = axes.barh(range(len(names)), [spot.percent for spot in run.hotspots], color=self.shades[run.engine])
            axes.bar_label(bars, [f"{spot.percent:.1f}" for spot in run.hotspots], padding=2, fontsize=8)
            axes.set_yticks(range(len(names)), names, fontsize=7)
            axes.invert_yaxis()
            axes.set_title(f"{run.engine} {run.name}".strip() + ": where the server's CPU time goes")
            axes.set_xlabel("% of samples")
        return style.save(figure, self.directory, "chart_perf_hotspots", self.notes)


def draw(rows, runs, directory):
    """Draws all charts of the rows and the runs' series. Returns the paths, and for each missing chart the reason.

    A run that left wrong data is in no chart, and each chart says so. REQUIRES: runs contains no such run.
    """
    charts = _Charts(rows, runs, directory)
    tpcc = [row for row in rows if row["benchmark"] == "tpcc" and row.get("consistent") != "no"]
    tpch = [row for row in rows if row["benchmark"] == "tpch"]
    throughput = [(run.engine, "", run.tpm) for run in runs if run.tpm]
    latency = [(run.engine, line, points) for run in runs for line, points in run.latency.items() if points]
    drawn = {
        "chart_tpcc_nopm": charts.bars(tpcc, "nopm", "TPROC-C: new orders a minute", "NOPM", "chart_tpcc_nopm"),
        "chart_tpcc_tpm": charts.bars(tpcc, "tpm", "TPROC-C: transactions a minute", "TPM", "chart_tpcc_tpm"),
        "chart_tpcc_latency": charts.grouped(
            tpcc, [(f"{label}\n{what}", f"{name}_{key}_ms") for label, name in _LATENCIES
                   for key, what in (("avg", "mean"), ("p95", "p95"))],
            "TPROC-C: response times", "ms", "chart_tpcc_latency", charts.notes),
        "chart_tpch": charts.grouped(tpch, [("geometric mean", "tpch_geomean_sec"), ("query set", "tpch_total_sec")],
                                     "TPROC-H: query times", "seconds", "chart_tpch", ()),
        "chart_build_time": charts.bars(tpcc or tpch, "build_sec", "Time to build the schema", "seconds",
                                        "chart_build_time"),
        "chart_tpcc_throughput_timeline": charts.over_time(
            throughput, "TPROC-C: throughput over time", "transactions a minute", "chart_tpcc_throughput_timeline"),
        "chart_tpcc_latency_timeline": charts.over_time(
            latency, "TPROC-C: new orders' response times over time", "ms", "chart_tpcc_latency_timeline"),
        "chart_perf_hotspots": charts.hotspots(runs),
    }
    why = {"chart_tpch": "no TPROC-H results",
           "chart_tpcc_throughput_timeline": "the runs were shorter than ten seconds" if runs else "no logs beside the CSV",
           "chart_tpcc_latency_timeline": "the logs have no response times over time (HammerDB 5 and 6 keep none), or less "
                                          "than ten seconds" if runs else "no logs beside the CSV",
           "chart_perf_hotspots": "no recording by --perf"}
    return ([path for paths in drawn.values() for path in paths],
            {name: why.get(name, "; ".join(charts.notes) or "no results") for name, paths in drawn.items() if not paths})
