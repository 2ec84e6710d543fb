"""The self-contained HTML page of a study: it needs no other file or address."""

import base64
import gzip
import json
from pathlib import Path
from statistics import geometric_mean

from installer.shell import Failed
from lab.base import debian
from lab.record import form
from lab.record.gains import ALL, FIGURES, gains
from lab.record.run import LATENCIES, THROUGHPUT
from lab.reports import markdown, plotly, style, tables

_WEB = Path(__file__).resolve().parent / "web"
_SCRIPTS = ("base.js", "tables.js", "charts.js")
# A longer series is drawn as means of neighbours (a maximum as the highest), since a screen shows no more.
POINTS_MAX = 900
# The same colours for a dark page.
_ON_DARK = {"#0072B2": "#5DB0EE", "#D55E00": "#F58F4A", "#009E73": "#3FCB9F", "#CC79A7": "#E6A5C9", "#E69F00": "#F2BE4A",
            "#56B4E9": "#8CD0F5", "#000000": "#D9DDE5"}
# Operations that are columns of the plots over threads.
_QUANTILES = ("mean_ms", "p50_ms", "p95_ms", "p99_ms", "p999_ms", "max_ms")


def packed(text):
    """Compressed, as text for a page; web/base.js unpacks it."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def thinned(points, highest):
    """At most POINTS_MAX points; for each stretch the mean, or the highest."""
    width = -(-len(points) // POINTS_MAX)
    if width <= 1:
        return points
    stretches = [points[at:at + width] for at in range(0, len(points), width)]
    return [(of[-1][0], max(v for _, v in of) if highest else sum(v for _, v in of) / len(of)) for of in stretches]


def _short(value):
    """Rounds to six digits, more than any figure here needs."""
    return value if value is None or isinstance(value, int) else float(f"{value:.6g}")


def _series(run):
    made = {}
    for name, metric in run.series.items():
        points = [(at, value) for at, value in metric.points if value is not None]
        if points:
            points = thinned(points, "maximum" in name)
            made[name] = {"unit": metric.unit, "at": [_short(at) for at, _ in points],
                          "values": [_short(value) for _, value in points]}
    return made


def data(study):
    """The data for the page's scripts, as plain lists and dictionaries."""
    labels, points = study.labels(), study.points()
    runs = [{"label": labels.index(run.label), "point": points.index(run.point), "repetition": run.repetition,
             "throughput": _short(run.throughput), "unit": run.unit,
             "latency": {of.operation: {name: _short(getattr(of, name)) for name in _QUANTILES
                                        if getattr(of, name) is not None} for of in run.latencies},
             "series": _series(run), "status": run.status} for run in study.runs]
    return {"labels": labels, "runs": runs, "scales": study.scales(), "throughput": THROUGHPUT,
            "latencies": list(LATENCIES),
            "points": [{"condition": point.condition, "workload": point.workload, "threads": point.threads,
                        "name": point.name} for point in points]}


def _peak(runs, name):
    return max((run.memory[name] for run in runs if run.memory.get(name)), default=None)


def _cards(study):
    """One card for each label: its comparison, and the caveats."""
    labels, compared = study.labels(), study.compared()
    whole = {gain.label: gain for gain in (gains(study) if study.paired else [])
             if gain.where == ALL and gain.figure is FIGURES[0]}
    cards = []
    for number, label in enumerate(labels):
        runs = [run for run in study.runs if run.label == label]
        here = [row[label] for _, row in compared if label in row]
        ratios = [of.ratio for of in here if of.ratio]
        lines = []
        if len(here) == 1:
            big, unit = form.number(here[0].median), runs[0].unit
            if number and ratios and not study.paired:
                lines.append(f"{ratios[0]:.2f}× of {labels[0]}" + _verdict(here[0]))
        elif number and ratios:
            big, unit, of_each = _ratios(labels[0], compared, label)
            lines += of_each
        elif not number and here:
            big, unit = "1×", f"what the others are compared with, {form.plural(len(here), 'measurement')}"
        else:
            broken = [run for run in runs if run.broken]
            big, unit = "–", f"inconsistent: {broken[0].inconsistency()}" if broken else "nothing was measured"
        if label in whole:
            lines.append(f"{whole[label].change}: {whole[label].verdict}")
        measures = {name: value for run in runs for name, value in run.measures.items() if value is not None}
        if len(runs) == 1:
            lines += [f"{form.number(value)} {name}" for name, value in list(measures.items())[:2]]
        amplification = sorted(run.write_amplification for run in runs if run.write_amplification)
        if amplification and len({run.point for run in runs}) == 1:  # A median over several points would belong to no run.
            lines.append(f"write amplification {form.spread(amplification)}")
        resident = _peak(runs, "resident, peak")
        if resident:
            lines.append(f"{form.megabytes(resident)} MB resident at most")
        cards.append({"label": label, "number": number, "big": big, "unit": unit, "lines": lines, "bad": _bad(runs),
                      "consistency": _consistency(runs)})
    return cards


def _ratios(base, compared, label):
    """(the big figure, its meaning, lines). Several workloads have no mean: loading says nothing about reading."""
    of = {}
    for point, row in compared:
        if label in row and row[label].ratio:
            of.setdefault(point.workload, []).append(row[label].ratio)
    means = {workload: geometric_mean(ratios) for workload, ratios in of.items()}
    if len(means) > 1:
        ends = dict.fromkeys(f"{end(means.values()):.2f}" for end in (min, max))
        lines = [f"{workload}: {mean:.2f}×" for workload, mean in means.items()]
        return f"{'–'.join(ends)}×", f"of {base}, by workload", lines
    (mean,), (ratios,) = means.values(), of.values()
    return (f"{mean:.2f}×", f"of {base}, geometric mean of {form.plural(len(ratios), 'measurement')}",
            [f"from {min(ratios):.2f}× to {max(ratios):.2f}×"])


def _verdict(of):
    return f", {of.verdict}" if of.verdict else ""


def _consistency(runs):
    states = {run.consistency() for run in runs}
    return "BROKEN" if "BROKEN" in states else "holds" if "holds" in states else ""


def _bad(runs):
    """The problems of some runs, in words."""
    unexpected = sum(error.count for run in runs for error in run.errors if error.code and not error.conflict)
    said = [form.plural(unexpected, "unexpected error")] if unexpected else []
    said += list(dict.fromkeys(note for run in runs for note in run.notes))
    incomplete = sum(not run.complete for run in runs)
    return said + ([f"{form.plural(incomplete, 'run')} not complete"] if incomplete else [])


def colours(labels):
    """(light, dark) by label, the light ones as in the PNG charts."""
    return list(zip(style.shades(labels).values(), style.shades(labels, _ON_DARK.__getitem__).values()))


def render(study, plotly_text=None):
    """The page's text. plotly_text: plotly.js; None: from plotly.source(). Raises Failed."""
    if not study.runs:
        raise Failed(f"{study.title}: no measurement came to its end; there is nothing to show")
    jinja = debian.load("jinja2", "python3-jinja2")
    environment = jinja.Environment(loader=jinja.FileSystemLoader(_WEB), autoescape=True, trim_blocks=True,
                                    lstrip_blocks=True, undefined=jinja.StrictUndefined)
    plotly_text = plotly.source() if plotly_text is None else plotly_text
    return environment.get_template("page.html").render(
        study=study, cards=_cards(study), colours=colours(study.labels()),
        throughput=tables.throughput(study), gains=tables.gains(study), percentiles=tables.percentiles(study),
        measures=tables.measures(study), resources=tables.resources(study), errors=tables.errors(study),
        checks=tables.checks(study), variables=tables.variables(study), kind_of=tables.kind,
        configuration=tables.configuration(study), run_configuration=tables.run_configuration(study),
        provenance=tables.provenance(study), files=tables.files(study),
        has_series=any(run.series for run in study.runs), has_status=any(run.status for run in study.runs),
        markdown=packed(markdown.text(study)), css=(_WEB / "page.css").read_text(encoding="utf-8"),
        scripts=[(_WEB / name).read_text(encoding="utf-8") for name in _SCRIPTS],
        data=packed(json.dumps(data(study), separators=(",", ":"))), plotly=packed(plotly_text),
        plotly_version=plotly.version(plotly_text))
