"""The charts of hammerdb_runner.sh, from the rows of its CSVs and the logs beside them.

A bar is the median of an engine's runs, its whiskers the least and the most.
"""

from collections import Counter
from dataclasses import dataclass, field
from statistics import median

from lab.charts import style
from lab.report import form

_MARKS = "os^Dv*"
_FEW = 4  # More are told by a legend below the figure.
_LATENCIES = (("New order", "neword"), ("Payment", "payment"), ("Delivery", "delivery"))


@dataclass
class RunSeries:
    """What one run's logs hold over time. Empty: the logs are not there, or do not say it."""
    label: str
    tpm: list = field(default_factory=list)        # (second, transactions a minute)
    latency: dict = field(default_factory=dict)    # By name of a line: (second, ms).
    hotspots: list = field(default_factory=list)   # lab.parse.perf.Hotspot


def _new(title, xlabel="", ylabel=""):
    figure, axes = style.pyplot().subplots(figsize=(7.5, 4.5))
    axes.set_title(title)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    return figure, axes


def _engine(label):
    """The engine of a run's label: its first word."""
    return label.split()[0]


def _spread(rows, column):
    """By engine: the median, and how far the least and the most are from it."""
    found = {}
    for row in rows:
        if row.get(column) is not None:
            found.setdefault(row["engine"], []).append(row[column])
    return {engine: (median(v), median(v) - min(v), max(v) - median(v), len(v)) for engine, v in found.items()}


def _number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _whiskers(spread):
    several = any(count > 1 for *_, count in spread)
    return [[low for _, low, _, _ in spread], [high for _, _, high, _ in spread]] if several else None


def left_out(rows):
    """Sentences on the runs that are in no chart."""
    broken = Counter(row["engine"] for row in rows if row.get("consistent") == "no")
    all_of = Counter(row["engine"] for row in rows if row["benchmark"] == "tpcc")
    return [f"Left out: {engine}, {count} of {form.plural(all_of[engine], 'run')}, for inconsistent data"
            for engine, count in broken.items()]


def _bars(rows, column, title, ylabel, directory, name, notes=()):
    """One bar an engine. Returns the paths; none where no row has the figure."""
    spread = _spread(rows, column)
    if not spread:
        return []
    figure, axes = _new(title, ylabel=ylabel)
    values = list(spread.values())
    bars = axes.bar(range(len(spread)), [middle for middle, *_ in values], yerr=_whiskers(values), capsize=5, width=0.6,
                    color=list(style.shades(list(spread)).values()))
    axes.bar_label(bars, [_number(middle) for middle, *_ in values], padding=3)
    names = {engine: engine.replace("-", "\n") for engine in spread}  # A build's label side by side with others.
    axes.set_xticks(range(len(spread)), [f"{names[engine]}\n{count} runs" if count > 1 else names[engine]
                                         for engine, (*_, count) in spread.items()])
    axes.margins(y=0.15)
    return style.save(figure, directory, name, notes)


def _grouped(rows, groups, title, ylabel, directory, name, notes=()):
    """groups: (what is below the bars, column). A bar an engine in each."""
    spreads = [(label, _spread(rows, column)) for label, column in groups]
    engines = list(dict.fromkeys(engine for _, spread in spreads for engine in spread))
    if not engines:
        return []
    figure, axes = _new(title, ylabel=ylabel)
    width, colours, many = 0.8 / len(engines), style.shades(engines), len(engines) > _FEW
    for number, engine in enumerate(engines):
        at = [index for index, (_, spread) in enumerate(spreads) if engine in spread]
        values = [spreads[index][1][engine] for index in at]
        bars = axes.bar([index - 0.4 + width * (number + 0.5) for index in at], [middle for middle, *_ in values],
                        width * 0.92, yerr=_whiskers(values), capsize=4, color=colours[engine], label=engine)
        if not many:
            axes.bar_label(bars, [_number(middle) for middle, *_ in values], padding=2, fontsize=8)
    axes.set_xticks(range(len(spreads)), [label for label, _ in spreads])
    axes.margins(y=0.25)
    if many:
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3)
    else:
        axes.legend(loc="upper left")
    return style.save(figure, directory, name, notes)


def _lines(series, title, ylabel, directory, name, notes=()):
    """series: (run, line, points, dashes). Runs of one engine share its colour, and each has a mark of its own."""
    if not series:
        return []
    runs = list(dict.fromkeys(run for run, *_ in series))
    colours = style.shades([_engine(run) for run in runs])
    marks = {run: _MARKS[[of for of in runs if _engine(of) == _engine(run)].index(run) % len(_MARKS)] for run in runs}
    figure, axes = _new(title, "seconds", ylabel)
    for run, line, points, dashes in series:
        axes.plot([second for second, _ in points], [value for _, value in points], dashes, marker=marks[run],
                  markersize=4, label=f"{run} {line}".strip(), color=colours[_engine(run)])
    axes.set_ylim(bottom=0)
    if len(series) > _FEW:  # Inside it would hide lines.
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=4)
    else:
        axes.legend(fontsize=8)
    return style.save(figure, directory, name, notes)


def _hotspots(runs, directory, notes=()):
    runs = [run for run in runs if run.hotspots]
    if not runs:
        return []
    figure, panels = style.pyplot().subplots(len(runs), 1, figsize=(8.5, 2.8 * len(runs)), squeeze=False)
    colours = style.colours([_engine(run.label) for run in runs])
    for run, axes in zip(runs, panels[:, 0]):
        names = [f"{spot.symbol[:60]}  ({spot.object})" for spot in run.hotspots]
        bars = axes.barh(range(len(names)), [spot.percent for spot in run.hotspots],
                         color=colours[_engine(run.label)])
        axes.bar_label(bars, [f"{spot.percent:.1f}" for spot in run.hotspots], padding=2, fontsize=8)
        axes.set_yticks(range(len(names)), names, fontsize=7)
        axes.invert_yaxis()
        axes.set_title(f"{run.label}: where the server's CPU time goes")
        axes.set_xlabel("% of samples")
    return style.save(figure, directory, "chart_perf_hotspots", notes)


def draw(rows, runs, directory):
    """Draws what the rows and the runs' series hold. Returns the paths, and by chart why it was not drawn.

    A run that left wrong data is in no chart, and each says so. REQUIRES: runs has none of it.
    """
    tpcc = [row for row in rows if row["benchmark"] == "tpcc" and row.get("consistent") != "no"]
    notes = left_out(rows)
    tpch = [row for row in rows if row["benchmark"] == "tpch"]
    throughput = [(run.label, "", run.tpm, "-") for run in runs if run.tpm]
    latency = [(run.label, line, points, "-" if index == 0 else "--")
               for run in runs for index, (line, points) in enumerate(run.latency.items())]
    drawn = {
        "chart_tpcc_nopm": _bars(tpcc, "nopm", "TPROC-C: new orders a minute", "NOPM", directory, "chart_tpcc_nopm", notes),
        "chart_tpcc_tpm": _bars(tpcc, "tpm", "TPROC-C: transactions a minute", "TPM", directory, "chart_tpcc_tpm", notes),
        "chart_tpcc_latency": _grouped(
            tpcc, [(f"{label}\n{what}", f"{name}_{key}_ms") for label, name in _LATENCIES
                   for key, what in (("avg", "mean"), ("p95", "p95"))],
            "TPROC-C: response times", "ms", directory, "chart_tpcc_latency", notes),
        "chart_tpch": _grouped(tpch, [("geometric mean", "tpch_geomean_sec"), ("query set", "tpch_total_sec")],
                               "TPROC-H: query times", "seconds", directory, "chart_tpch"),
        "chart_build_time": _bars(tpcc or tpch, "build_sec", "Time to build the schema", "seconds", directory,
                                  "chart_build_time", notes),
        "chart_tpcc_throughput_timeline": _lines(throughput, "TPROC-C: throughput over time", "transactions a minute",
                                                 directory, "chart_tpcc_throughput_timeline", notes),
        "chart_tpcc_latency_timeline": _lines(latency, "TPROC-C: new orders' response times over time", "ms", directory,
                                              "chart_tpcc_latency_timeline", notes),
        "chart_perf_hotspots": _hotspots(runs, directory, notes),
    }
    why = {"chart_tpch": "no TPROC-H results",
           "chart_tpcc_throughput_timeline": "no whole ten seconds were run" if runs else "no logs beside the CSV",
           "chart_tpcc_latency_timeline": "the logs hold no response times over time (HammerDB 5 and 6 keep none), or no "
                                          "whole ten seconds" if runs else "no logs beside the CSV",
           "chart_perf_hotspots": "nothing was recorded with --perf"}
    return ([path for paths in drawn.values() for path in paths],
            {name: why.get(name, "; ".join(notes) or "no results") for name, paths in drawn.items() if not paths})
