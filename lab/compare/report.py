"""The runs as a Markdown table: medians, spread, and ratios to the first engine."""

from statistics import median


def _figure(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _cell(runs):
    speeds = sorted(run["per_s"] for run in runs)
    return f"{_figure(median(speeds))} ({_figure(speeds[0])}–{_figure(speeds[-1])})"


def _notes(runs):
    """What of an engine's runs a throughput does not say."""
    notes = []
    errors = sum(run["errors"] for run in runs)
    if errors:
        notes.append(f"{errors} errors")
    if any(run.get("consistent") is False for run in runs):
        notes.append("INCONSISTENT")
    return f" [{', '.join(notes)}]" if notes else ""


def markdown(runs, engines):
    """A table for each sync mode: a row for each kind of work; the figures are per second."""
    lines = []
    for sync in dict.fromkeys(run["sync"] for run in runs):
        lines += [f"### Commits synced: {sync}", "",
                  "| per second, median (lowest–highest) | " + " | ".join(engines) + " | "
                  + " | ".join(f"{e} / {engines[0]}" for e in engines[1:]) + " |",
                  "|---" * (2 * len(engines)) + "|"]
        for work in dict.fromkeys(run["work"] for run in runs if run["sync"] == sync):
            of = {e: [r for r in runs if (r["sync"], r["work"], r["engine"]) == (sync, work, e)] for e in engines}
            cells = [_cell(of[e]) + _notes(of[e]) if of[e] else "–" for e in engines]
            lines.append(f"| {work} | " + " | ".join(cells) + " | "
                         + " | ".join(_ratio(of[e], of[engines[0]]) for e in engines[1:]) + " |")
        lines += ["", "| p95 / maximum, ms | " + " | ".join(engines) + " |", "|---" * (1 + len(engines)) + "|"]
        for work in dict.fromkeys(run["work"] for run in runs if run["sync"] == sync):
            cells = []
            for engine in engines:
                of = [r for r in runs if (r["sync"], r["work"], r["engine"]) == (sync, work, engine)]
                cells.append(f"{median(r['p95_ms'] for r in of):.2f} / {max(r['max_ms'] for r in of):.0f}" if of
                             else "–")
            lines.append(f"| {work} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def _ratio(runs, base):
    """The ratio of the medians, and the ratios of each round's pair: its spread."""
    if not runs or not base:
        return "–"
    pairs = sorted(a["per_s"] / b["per_s"] for a, b in zip(runs, base) if b["per_s"])
    ratio = median(r["per_s"] for r in runs) / median(r["per_s"] for r in base)
    return f"**{ratio:.2f}** ({pairs[0]:.2f}–{pairs[-1]:.2f})"
