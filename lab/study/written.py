"""The files that every runner leaves for a report: a header, a journal, and the Runs of each unit.

Owns: the names study.json, journal.jsonl and runs/.
"""

import gzip
import json
import re
from pathlib import Path

from installer.shell import Failed
from lab.base import figures
from lab.record import provenance
from lab.record.run import LATENCIES, THROUGHPUT, Metric, Study, of_plain, plain
from lab.study import journal

HEADER, JOURNAL, RUNS = "study.json", "journal.jsonl", "runs"
FORMAT = 1
_KEPT = "runs"  # In a unit's journal entry: the file of its Runs.
# A browser cannot easily open a page with more figures than this: 144 runs of 15 minutes have 100 million.
_VALUES_MAX = 4_000_000
_ALWAYS_WHOLE = (THROUGHPUT, *LATENCIES)


def write_header(directory, header):
    """header: kind, title, about, unequal, configuration, provenance, labels, units (how many), paired."""
    (Path(directory) / HEADER).write_text(json.dumps({"format": FORMAT, **header}, indent=1) + "\n", encoding="utf-8")


def save(directory, unit, runs):
    """Writes a unit's Runs; returns the journal's entry."""
    path = Path(directory) / RUNS / (re.sub(r"[^\w.+-]+", "_", unit) + ".json.gz")
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=3) as out:
        json.dump([plain(run) for run in runs], out)
    return {_KEPT: f"{RUNS}/{path.name}"}


def is_one(directory):
    """Whether a runner made this folder."""
    return (Path(directory) / HEADER).exists()


def _runs(directory, name):
    try:
        with gzip.open(directory / name, "rt", encoding="utf-8") as file:
            return [of_plain(one) for one in json.load(file)]
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise Failed(f"{directory / name}: has no runs, or is cut off: {error!r}") from error


def read(directory):
    """The Study in a folder. Raises Failed."""
    directory = Path(directory)
    header = figures.of_json(figures.read(directory / HEADER), directory / HEADER)
    if header.get("format") != FORMAT:
        raise Failed(f"{directory / HEADER}: has format {header.get('format')}; this report reads format {FORMAT}")
    record = journal.read(directory / JOURNAL)
    done = [result[_KEPT] for result in record.results().values() if isinstance(result, dict) and _KEPT in result]
    runs = [run for name in done for run in _runs(directory, name)]
    labels = header["labels"]  # In the order of labels, not of runs: the others are compared with the first.
    runs.sort(key=lambda run: labels.index(run.label) if run.label in labels else len(labels))
    history = record.history()
    if len(done) < header["units"]:
        history.append(f"The study did not finish: {len(done)} of {header['units']} measurements.")
    width = thin(runs)
    more = f" Metrics except throughput and latency are means of {width} s here; the raw files have every second."
    files = dict.fromkeys([HEADER, *(name for run in runs for name in run.files)])
    return Study(header["kind"], header["title"], header["about"] + (more if width > 1 else ""), runs, header["unequal"],
                 history, [tuple(pair) for pair in header["configuration"]], header["provenance"],
                 {name: provenance.sha256(directory / name) for name in files if (directory / name).exists()},
                 header["paired"])


def thin(runs, values_max=_VALUES_MAX):
    """Takes means of neighbours if all series together have more values than that; returns their seconds, 1 for none."""
    total = sum(len(metric.points) for run in runs for name, metric in run.series.items() if name not in _ALWAYS_WHOLE)
    width = -(-total // values_max) or 1
    if width > 1:
        for run in runs:
            run.series = {name: metric if name in _ALWAYS_WHOLE else _means(metric, width)
                          for name, metric in run.series.items()}
    return width


def _means(metric, width):
    stretches = [metric.points[at:at + width] for at in range(0, len(metric.points), width)]
    return Metric(metric.unit, [(of[-1][0], sum(value for _, value in of) / len(of)) for of in stretches])
