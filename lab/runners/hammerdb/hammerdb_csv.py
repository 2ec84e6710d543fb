"""Reads and writes hammerdb_results_*.csv, the results of hammerdb_runner.sh. Pure: text in, rows out.

The first 20 columns are those of the runner that the seeds used. Its rows do not fit its header: a TPC-C row has 21
fields, a TPC-H row 19, with the geometric mean and the total two columns too far left. The reader corrects both.
"""

import csv
import io

from lab.base import figures
from lab.base.errors import BadInput

COLUMNS = ("benchmark", "engine", "nopm", "tpm", "warehouses", "virtual_users", "rampup_min", "duration_min",
           "scale_factor", "querysets", "build_sec", "settle_sec", "neword_avg_ms", "neword_p95_ms", "payment_avg_ms",
           "payment_p95_ms", "delivery_avg_ms", "delivery_p95_ms", "tpch_geomean_sec", "tpch_total_sec")
# Our own columns. Errors: failed statements. Consistent: yes, no, or empty if not checked.
MORE = ("errors", "consistent", "generator", "server_cpu_ms_per_neword", "client_cpu_ms_per_neword")
_TEXT = ("benchmark", "engine", "consistent", "generator")
_OLD_TPCC_FIELDS, _OLD_TPCH_FIELDS = 21, 19
_BEFORE_TPCH = COLUMNS.index("tpch_geomean_sec")


def read(text, source):
    """One dictionary per row: text, numbers, or None for an empty field."""
    if not text.strip():
        raise BadInput(source, "is empty", 1)
    try:
        lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    except csv.Error as error:
        raise BadInput(source, f"is not a CSV: {error}", 1) from error
    header = tuple(lines[0])
    if header not in (COLUMNS, COLUMNS + MORE):
        raise BadInput(source, "is not a result of hammerdb_runner.sh: it has another header", 1)
    rows = [_row(header, fields, source, number) for number, fields in enumerate(lines[1:], 2) if fields]
    figures.refuse_cut(text, source, "hammerdb_runner.sh")
    if not rows:
        raise BadInput(source, "has only a header: no run has finished", 1)
    return rows


def _row(header, fields, source, number):
    if fields[0] not in ("tpcc", "tpch"):
        raise BadInput(source, f"the benchmark {fields[0]!r} is neither tpcc nor tpch", number)
    if header == COLUMNS and fields[0] == "tpcc" and len(fields) == _OLD_TPCC_FIELDS:
        fields = fields[:_BEFORE_TPCH] + ["", ""]
    elif header == COLUMNS and fields[0] == "tpch" and len(fields) == _OLD_TPCH_FIELDS:
        fields = fields[:_BEFORE_TPCH - 1] + [""] + fields[_BEFORE_TPCH - 1:]
    if len(fields) != len(header):
        raise BadInput(source, f"has {len(fields)} fields for {len(header)} columns; was it cut off?", number)
    row = {}
    for name, value in zip(header, fields):
        if name in _TEXT:
            row[name] = figures.label(value, source, number, name) if value or name == "engine" else None
        else:  # The old runner wrote "N/A" for a figure that it did not find.
            row[name] = figures.number(value, source, number, name) if value not in ("", "N/A", "-") else None
    return row


def _text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def write(rows):
    """The file of these rows. A key that is not a column is the caller's error."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS + MORE)
    for row in rows:
        unknown = set(row) - set(COLUMNS + MORE)
        if unknown:
            raise ValueError(f"no columns: {sorted(unknown)}")
        writer.writerow([_text(row.get(name)) for name in COLUMNS + MORE])
    return out.getvalue()
