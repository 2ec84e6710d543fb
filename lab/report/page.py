"""The self-contained HTML page: no file and no address beside it is needed to read it."""

import hashlib
import html
from pathlib import Path

from lab.report import charts
from lab.report.results import CONFLICTS, TRANSACTIONS
from lab.report.table import count, milliseconds, plural, ratio

_HERE = Path(__file__).resolve().parent

# Settings that decide what a commit costs and how much memory there is; shown without being asked for.
_SHOWN = ("flush_log_at_trx_commit", "buffer_pool_size", "block_cache_size", "sync_mode", "sync_binlog", "log_bin",
          "snapshot_isolation", "doublewrite", "flush_method", "pessimistic_locking", "compression",
          "max_memory_usage", "write_buffer_size", "performance_schema", "log_file_size")


def _text(value):
    return html.escape(str(value))


def _table(head, body, kind=""):
    cells = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    lines = []
    for row in body:
        lines.append("<tr>" + f"<th>{_text(row[0])}</th>" + "".join(f"<td>{_text(cell)}</td>" for cell in row[1:])
                     + "</tr>")
    return (f'<div class="scroll"><table class="{kind}"><thead><tr>{cells}</tr></thead><tbody>'
            + "".join(lines) + "</tbody></table></div>")


def _legend(results):
    keys = "".join(f'<span class="key s{number}"><i></i>{_text(result.label)}</span>'
                   for number, result in enumerate(results))
    return f'<p class="legend">{keys}</p>'


def _cards(results):
    cards = []
    for number, result in enumerate(results):
        compared = ""
        if number and result.nopm and results[0].nopm:
            compared = f"<p>{ratio(result.nopm, results[0].nopm)} of {_text(results[0].label)}</p>"
        state = result.consistency()
        notes = []
        if result.raw["interrupted"]:
            notes.append("interrupted")
        if result.raw["server_lost"]:
            notes.append("connection lost")
        if result.other_errors():
            notes.append(f"{count(result.other_errors())} unexpected errors")
        cards.append(
            f'<div class="card s{number}"><h3>{_text(result.label)}</h3><p class="big">{count(result.nopm)}</p>'
            f"<p>new orders a minute (NOPM)</p>{compared}<p>{count(result.tpm)} TPM</p>"
            f'<p class="{"bad" if state == "BROKEN" else ""}">consistency: {state}</p>'
            + (f'<p class="bad">{_text(", ".join(notes))}</p>' if notes else "") + "</div>")
    return '<div class="cards">' + "".join(cards) + "</div>"


def _rampup(results):
    """The ramp-up to shade; none when the runs differ in it."""
    values = {result.config["rampup_s"] for result in results}
    return values.pop() if len(values) == 1 else 0


def _over_time(results):
    rampup = _rampup(results)
    orders = charts.lines("New orders a second", [(r.label, r.series("NEWORD")) for r in results], "new orders/s", rampup)
    every = charts.lines("Transactions a second", [(r.label, r.transactions_per_second()) for r in results],
                         "transactions/s", rampup)
    most = charts.lines("Longest transaction of each second",
                        [(r.label, [(s, us / 1000) for s, us in r.series("max_us")]) for r in results], "ms", rampup, max)
    errors = charts.lines("Errors a second", [(r.label, r.series("errors")) for r in results], "errors/s", rampup)
    legend = _legend(results)
    return (f"<h2>Throughput over time</h2><h3>New orders a second</h3>{legend}{orders}"
            f"<h3>All transactions a second</h3>{legend}{every}"
            f"<h2>Stalls</h2><h3>Longest transaction of each second</h3>{legend}{most}"
            f"<h3>Errors a second</h3>{legend}{errors}")


def _latencies(results):
    groups = [(name, [(r.label, *[r.transaction(name)[f"{key}_us"] / 1000 for key in ("p50", "p95", "p99", "max")])
                      for r in results if r.transaction(name)["count"]]) for name in TRANSACTIONS]
    body = []
    for name in TRANSACTIONS:
        for result in results:
            entry = result.transaction(name)
            body.append([f"{name} · {result.label}", count(entry["count"]), count(entry["failed"]),
                         *[milliseconds(entry[f"{key}_us"]) for key in ("mean", "p50", "p95", "p99", "p999", "max")
                           if f"{key}_us" in entry]])
    return ("<h2>Latency percentiles</h2>"
            "<p>Thick line: p50 to p99, dot: p95, thin line: to the maximum. Logarithmic scale.</p>"
            + _legend(results) + charts.ranges("Latency percentiles of each transaction", groups)
            + _table(["transaction", "count", "failed", "mean ms", "p50", "p95", "p99", "p99.9", "max"], body, "numbers"))


def _errors(results):
    body = []
    for result in results:
        for entry in result.raw["errors"]:
            kind = CONFLICTS.get(entry["code"], "unexpected")
            body.append([result.label, f"{entry['code']} ({kind})", count(entry["count"]), entry.get("first_where", ""),
                         entry["first_message"]])
    if not body:
        return "<h2>Errors</h2><p>None.</p>"
    return "<h2>Errors</h2>" + _table(["run", "code", "count", "first in", "first message"], body)


def _consistency(results):
    checked = [result for result in results if result.raw["consistency"] is not None]
    if not checked:
        return "<h2>Consistency</h2><p>Not checked.</p>"
    body = []
    for at, check in enumerate(checked[0].raw["consistency"]["checks"]):
        row = [f"{check['name']}: {check['title']}"]
        for result in checked:
            one = result.raw["consistency"]["checks"][at]
            text = one["state"]
            if one["samples"]:
                text += ": " + "; ".join(one["samples"])
            row.append(text)
        body.append(row)
    return "<h2>Consistency</h2>" + _table(["condition", *[result.label for result in checked]], body)


def _variables(results, names):
    return [[name, *[result.server["variables"].get(name, "") for result in results]] for name in sorted(names)]


def _configuration(results):
    keys = list(results[0].config)
    body = [["started (UTC)", *[r.raw["started"] for r in results]],
            ["measured", *[f"{r.raw['measured_s']:.1f} s" for r in results]],
            ["server", *[f"{r.server['version']} {r.server.get('comment', '')}" for r in results]],
            ["engine", *[r.server["engine"] for r in results]]]
    body += [[key.replace("_", " "), *[r.config.get(key, "") for r in results]] for key in keys]
    names = {name for result in results for name in result.server["variables"]}
    shown = {name for name in names if any(part in name for part in _SHOWN)}
    head = ["", *[result.label for result in results]]
    return ("<h2>Configuration</h2>" + _table(head, body) + "<h3>Durability and memory</h3>"
            + _table(head, _variables(results, shown))
            + f"<details><summary>All {len(names)} recorded settings</summary>"
            + _table(head, _variables(results, names)) + "</details>")


def _provenance(results):
    body = [[str(r.path.name), hashlib.sha256(r.path.read_bytes()).hexdigest()] for r in results]
    return "<h2>Raw data</h2>" + _table(["file", "SHA-256"], body, "hash")


def render(results, title):
    """The page of one to SERIES_MAX results; the first is what the others are compared with."""
    first = results[0].config
    about = (f"{plural(first['warehouses'], 'warehouse')}, {plural(first['virtual_users'], 'virtual user')}, "
             f"{first['isolation']}, "
             f"{first['rampup_s']} s ramp-up, {first['duration_s']} s measured, one run each")
    style = (_HERE / "page.css").read_text(encoding="utf-8")
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    return ("<!DOCTYPE html>\n"
            '<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{_text(title)}</title><style>{style}</style></head><body><main>"
            f"<h1>{_text(title)}</h1><p>TPROC-C: {_text(about)}.</p>"
            + _cards(results) + _over_time(results) + _latencies(results) + _errors(results) + _consistency(results)
            + _configuration(results) + _provenance(results)
            + f'</main><div id="tip" hidden></div><script>{script}</script></body></html>\n')
