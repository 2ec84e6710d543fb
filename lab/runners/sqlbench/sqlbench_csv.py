"""The summary and detail CSVs of sqlbench, ours and those of the documented old form.

The old form has the same columns with other contents: tps and qps (and maybe reads and writes) are totals of the run,
and the detail's average latency is its 95th percentile. The figures themselves show both; `notes` says so in words.
"""

import csv
import io
from dataclasses import dataclass, field
from statistics import median

from lab.base import figures
from lab.base.errors import BadInput

_TEXT = ("engine", "workload")
_SIGNED = ("data_size_after_prepare_mb", "data_size_after_run_mb")
_WHOLE = ("threads", "table_size", "iteration")
SUMMARY = ("tps", "qps", "reads_per_sec", "writes_per_sec", "latency_avg_ms", "latency_min_ms", "latency_p95_ms",
           "latency_max_ms", "errors", "reconnects", "total_time_s", "warmup_s", "data_size_after_prepare_mb",
           "data_size_after_run_mb")
DETAIL = ("time_s", "tps", "qps", "latency_avg_ms", "latency_p95_ms")


@dataclass(frozen=True)
class Row:
    """figures: by column; None for an empty field."""
    engine: str
    workload: str
    threads: int
    table_size: int
    iteration: int
    figures: dict


@dataclass
class Table:
    rows: list
    notes: list = field(default_factory=list)  # Contents that differ from the columns' names.


def _read(text, source, columns):
    if not text.strip():
        raise BadInput(source, "is empty; the run ended before writing it")
    lines = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    try:
        head = [name.strip() for name in next(lines)]
    except csv.Error as error:
        raise BadInput(source, f"is not a CSV of sqlbench: {error}", 1) from error
    wanted = [*_TEXT, *_WHOLE, *columns]
    missing = [name for name in wanted if name not in head]
    if missing:
        raise BadInput(source, f"is not such a CSV of sqlbench: its head lacks {', '.join(missing)}", 1)
    rows = []
    try:
        for fields in lines:
            if fields:
                rows.append(_row(dict(zip(head, fields)), len(fields), len(head), columns, source, lines.line_num))
    except csv.Error as error:
        raise BadInput(source, f"is not a CSV: {error}", lines.line_num) from error
    if not text.endswith("\n"):
        raise BadInput(source, "is cut off: its last line has no end", lines.line_num)
    return rows


def _row(by_name, count, wanted, columns, source, number):
    if count != wanted:
        raise BadInput(source, f"has {count} fields for {wanted} columns; it may be cut off", number)

    def figure(name):
        # Sizes are growth since before the load; a purge can make them negative.
        return figures.number(by_name[name], source, number, name, name in _SIGNED) if by_name[name].strip() else None

    return Row(*(figures.label(by_name[name], source, number, name) for name in _TEXT),
               *(figures.whole(by_name[name], source, number, name, least=1) for name in _WHOLE),
               {name: figure(name) for name in columns})


def _busy(row):
    """The ratio of tps to what these threads can do with this latency; 1: it is a rate (Little's law)."""
    of = row.figures
    if not (of["tps"] and of["latency_avg_ms"] and of["total_time_s"]):
        return None
    return of["tps"] * of["latency_avg_ms"] / 1000 / row.threads


def _holds_totals(rows):
    """Whether tps is closer to transactions of the whole run than to transactions a second."""
    votes = [busy / (row.figures["total_time_s"] ** 0.5) for row in rows
             if (busy := _busy(row)) is not None and row.figures["total_time_s"] > 1.5]
    return bool(votes) and median(votes) > 1


def _as_rates(rows):
    """The same rows with rates instead of totals."""
    # Reads and writes far below the queries are rates already; as many as the queries, they are totals.
    parts = [((row.figures["reads_per_sec"] or 0) + (row.figures["writes_per_sec"] or 0)) / row.figures["qps"]
             * row.figures["total_time_s"] ** 0.5 for row in rows if row.figures["qps"] and row.figures["total_time_s"]]
    both = bool(parts) and median(parts) > 1
    totals = ["tps", "qps", *(["reads_per_sec", "writes_per_sec"] if both else [])]
    made = []
    for row in rows:
        seconds = row.figures["total_time_s"]
        changed = {name: row.figures[name] / seconds if row.figures[name] is not None and seconds else None
                   for name in totals}
        made.append(Row(row.engine, row.workload, row.threads, row.table_size, row.iteration,
                        {**row.figures, **changed}))
    return made, totals


def summary(text, source="summary.csv"):
    """The rows, with rates in tps, qps, reads_per_sec and writes_per_sec. Raises BadInput."""
    rows = _read(text, source, SUMMARY)
    if not rows:
        raise BadInput(source, "has a head but no rows: no measurement finished")
    if not _holds_totals(rows):
        return Table(rows)
    rows, totals = _as_rates(rows)
    return Table(rows, [f"{', '.join(totals)} of this file hold totals of the run, not rates; "
                        "here they are divided by total_time_s"])


def detail(text, source="detail.csv"):
    """The rows; leaves out an average that equals its p95 in every row. A file without rows is fine beside a summary.

    Raises BadInput.
    """
    rows = _read(text, source, DETAIL)
    if not rows:
        return Table([], ["has a head but no rows: no interval of a run ended (TIME was below REPORT_INTERVAL, or that "
                          "was 0)"])
    known = [row for row in rows if row.figures["latency_avg_ms"] and row.figures["latency_p95_ms"]]
    if not known or any(row.figures["latency_avg_ms"] != row.figures["latency_p95_ms"] for row in known):
        return Table(rows)
    rows = [Row(row.engine, row.workload, row.threads, row.table_size, row.iteration,
                {**row.figures, "latency_avg_ms": None}) for row in rows]
    return Table(rows, ["latency_avg_ms of this file repeats the 95th percentile; the file has no average"])
