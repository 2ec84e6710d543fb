"""Many iterations as one: a CSV of all rows, a table of medians and ranges."""

from statistics import median

_FIGURES = (("NOPM", "nopm", "{:,.0f}"), ("TPM", "tpm", "{:,.0f}"), ("new order p95, ms", "neword_p95_ms", "{:.2f}"),
            ("payment p95, ms", "payment_p95_ms", "{:.2f}"), ("delivery p95, ms", "delivery_p95_ms", "{:.2f}"),
            ("server CPU a new order, ms", "server_cpu_ms_per_neword", "{:.3f}"),
            ("client CPU a new order, ms", "client_cpu_ms_per_neword", "{:.3f}"))
# The only figures of an iteration that left wrong data.
_OF_ALL = (("build, s", "build_sec", "{:,.0f}"), ("errors", "errors", "{:,.0f}"))
_WRONG = "inconsistent"


def _cell(rows, column, form):
    values = sorted(row[column] for row in rows if row.get(column) is not None)
    if not values:
        return "–"
    middle = form.format(median(values))
    if values[0] == values[-1]:
        return middle
    return f"{middle} ({form.format(values[0])}–{form.format(values[-1])})"


def markdown(rows, notes=()):
    """One column per engine, one row per figure: median, lowest and highest of the iterations with correct data."""
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    of = {engine: [row for row in rows if row["engine"] == engine] for engine in engines}
    lines = ["| median (least–most) | " + " | ".join(engines) + " |", "|---" * (1 + len(engines)) + "|",
             "| iterations | " + " | ".join(str(len(of[engine])) for engine in engines) + " |"]
    sound = {engine: [row for row in of[engine] if row.get("consistent") != "no"] for engine in engines}
    for label, column, form in _FIGURES:
        lines.append(f"| {label} | " + " | ".join(_cell(sound[engine], column, form) if sound[engine] else _WRONG
                                                  for engine in engines) + " |")
    for label, column, form in _OF_ALL:
        lines.append(f"| {label} | " + " | ".join(_cell(of[engine], column, form) for engine in engines) + " |")
    broken = {engine: len(of[engine]) - len(sound[engine]) for engine in engines}
    checked = {engine: sum(row.get("consistent") is not None for row in of[engine]) for engine in engines}
    lines.append("| consistent | " + " | ".join(
        "not checked" if not checked[e] else "yes" if not broken[e] else
        f"INCONSISTENT in {broken[e]} of {checked[e]}, which have no throughput" for e in engines) + " |")
    return "\n".join([*lines, "", *notes]).rstrip() + "\n"
