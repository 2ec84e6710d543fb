"""A study's runs as a table for other programs (CSV): one row per run, one column per figure of any run. Pure."""

import csv
import io

_LATENCY = ("mean_ms", "p50_ms", "p95_ms", "p99_ms", "p999_ms", "max_ms")


def _row(run):
    peak = next((size for name, size in run.memory.items() if "peak" in name), None)
    row = {"label": run.label, "condition": run.condition, "workload": run.workload, "threads": run.threads,
           "repetition": run.repetition, "throughput": run.throughput, "unit": run.unit, "seconds": run.seconds,
           "operations": run.operations, "errors": sum(error.count for error in run.errors),
           "consistency": run.consistency(), "complete": "yes" if run.complete else "no", "cpu_s": run.cpu_s,
           "written_bytes": run.written_bytes, "row_bytes": run.row_bytes, "peak_memory_bytes": peak}
    row |= run.measures
    for latency in run.latencies:
        row |= {f"{latency.operation} {name}": getattr(latency, name) for name in _LATENCY}
    return row


def text(study):
    """Unrounded numbers; a cell is empty if a run lacks the figure."""
    rows = [_row(run) for run in study.runs]
    names = dict.fromkeys(name for row in rows for name in row)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow(_cell(row.get(name)) for name in names)
    return out.getvalue()


def _cell(value):
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else value
