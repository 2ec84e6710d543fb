"""The comparison as text, for a terminal."""

from lab.report.results import CONFLICTS, TRANSACTIONS


def count(value):
    return "-" if value is None else f"{value:,.0f}"


def milliseconds(microseconds):
    value = microseconds / 1000
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:,.0f}"


def plural(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def ratio(value, base):
    """"0.84x" of the base; "" where there is nothing to divide."""
    return f"{value / base:.2f}x" if value is not None and base else ""


def rows(results):
    """The comparison's rows: a name and a text for each result."""
    base = results[0]
    table = [["", *[result.label for result in results]],
             ["NOPM", *[count(result.nopm) for result in results]],
             ["TPM", *[count(result.tpm) for result in results]]]
    if len(results) > 1:
        table.append([f"NOPM, of {base.label}'s", *[ratio(result.nopm, base.nopm) for result in results]])
    for name in TRANSACTIONS:
        for key in ("p50", "p95", "p99", "max"):
            table.append([f"{name} {key} ms",
                          *[milliseconds(result.transaction(name)[f"{key}_us"]) for result in results]])
    for code, what in CONFLICTS.items():
        table.append([f"{code} {what}", *[count(result.errors(code)) for result in results]])
    table.append(["other errors", *[count(result.other_errors()) for result in results]])
    table.append(["consistency", *[result.consistency() for result in results]])
    return table


def text(results):
    table = rows(results)
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = []
    for row in table:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"
