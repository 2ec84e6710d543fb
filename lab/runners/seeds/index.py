"""The index of all studies: each seed's statement, its figures beside ours, differences, and the report's place."""

import html
import re
from dataclasses import dataclass, field
from pathlib import Path

from lab.record import form, statistics
from lab.reports import markdown
from lab.reports.tables import Table
from lab.runners.seeds import ours, seed_figures
from lab.runners.seeds.builds import LARGE
from lab.runners.seeds.texts import TEXTS

_UNITS = ((("p95", "p99", "mean", "maximum", "latency"), "ms"), (("time",), "s"),
          (("memory", "before it"), "MB"), (("deleted", "(p5)", "(p95)", "20 s", "second"), "rows/s"))
_STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
body{color:#222;background:#fff}table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}
th,td{padding:.2rem .7rem;border-bottom:1px solid #ccc;text-align:right}th.n,td.n{text-align:left}
code{background:#f2f2f2;display:block;padding:.5rem;white-space:pre-wrap;word-break:break-word}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}code{background:#2a2a2a}}"""


PACKED = "report.html.gz"
HOW_TO_OPEN = (f"The page is this run's interactive report, packed: run gunzip --keep {PACKED}, and open report.html "
               "in a browser; it needs no network. Each run makes such a page; one is published as an example.")


@dataclass
class Done:
    """A run's results. report, page: paths from the index to its report.md and report.html, which may be packed (.gz); ""
    if there is none."""
    run: object          # Of studies.
    study: object        # Of a report; None: it did not finish.
    folder: str
    report: str
    page: str
    files: int = 0
    bytes: int = 0
    charts: list = field(default_factory=list)   # Paths from the index.
    whole: bool = True   # False: part of it failed, or was interrupted.


def _unit(measure, of_seed):
    if of_seed is not None:
        return of_seed.unit
    if "ratio" in measure:
        return ""
    if "gain" in measure or "efficiency" in measure:
        return "%"
    return next((unit for words, unit in _UNITS if measure.endswith(words)), "")


def interval(measure, values):
    """The ends of the confidence interval of a gain's or a ratio's geometric mean; None for anything else, and if
    there is no interval."""
    if "gain" in measure:
        ends = statistics.interval_of_ratios([1 + value / 100 for value in values])
        return ends and tuple(100 * (end - 1) for end in ends)
    return statistics.interval_of_ratios(values) if "ratio" in measure else None


def _interval(measure, values):
    ends = interval(measure, values or ())
    if not ends:
        return ""
    return "{:+.1f} to {:+.1f}".format(*ends) if "gain" in measure else "{:.3g}–{:.3g}".format(*ends)


def table(study, found, caption=""):
    """The seed's figures beside ours; found: of ours.figures(). Rows in the seed's order, then those that it lacks. Only
    ours if no seed has figures."""
    of_seed = seed_figures.of(study)
    if not of_seed:
        rows = [[subject, measure + (f", {unit}" if (unit := _unit(measure, None)) else ""), form.spread(values),
                 _interval(measure, values)] for (subject, measure), values in found.items()]
        return Table(caption, ["", "figure", "here", "95 %"], rows, names=2)
    rows = []
    for key in [*of_seed, *(key for key in found if key not in of_seed)]:
        figure = of_seed.get(key)
        unit = _unit(key[1], figure)
        rows.append([key[0], key[1] + (f", {unit}" if unit else ""), figure.place if figure else "",
                     f"{figure.value:,.6g}" if figure else "–", form.spread(found.get(key)),
                     _interval(key[1], found.get(key))])
    return Table(caption, ["", "figure", "in the seed", "seed", "here", "95 %"], rows, names=3)


def without_places(text):
    """text without this machine's directories: keeps enough of a path's end to distinguish it from others of its name."""
    pattern = r"(?<=[=\s])(/[^\s']+)"
    alike = {}
    for parts in {Path(path).parts[1:] for path in re.findall(pattern, text)}:
        alike.setdefault(parts[-1], []).append(parts)

    def end(path):
        others = alike[Path(path).name]
        length = next(n for n in range(1, 1000) if len({parts[-n:] for parts in others}) == len(others))
        return "/".join(Path(path).parts[1:][-length:])

    return re.sub(pattern, lambda found: end(found.group(1)), text)


def _apart(found):
    """found: runs by their value. The value, or if they differ, each value with its runs."""
    return next(iter(found)) if len(found) == 1 else "differs: " + "; ".join(
        f"{said} ({', '.join(runs)})" for said, runs in found.items())


def _machine(done):
    known = [(one.run.name, one.study.provenance) for one in done if one.study and one.study.provenance]
    if not known:
        return ""
    facts, commits = known[0][1], {}
    for name, of in known:
        commits.setdefault(of["commit"], []).append(name)
    return (f"{facts['cpu']}, {facts['memory_mb']:,} MB of memory, {facts['disk']['file_system']}; "
            f"{facts['distribution']}, kernel {facts['kernel']}; {facts['date']}, commit {_apart(commits)}")


def _binaries(done):
    """Name, version and checksum of the measured programs; if builds changed between runs, each with its runs."""
    found, versions = {}, {}
    for one in done:
        binaries = (one.study.provenance or {}).get("binaries", {}) if one.study else {}
        for name, version in one.study.versions().items() if one.study else ():
            digest = f"SHA-256 {binaries[name]['sha256'][:16]}…" if name in binaries else ""
            versions.setdefault(name, version)
            if digest:
                found.setdefault(name, {}).setdefault(digest, []).append(one.run.name)
    return {name: ", ".join(filter(None, (version, _apart(found[name]) if name in found else "")))
            for name, version in versions.items()}


class Page:
    """Blocks of a page, written as Markdown or as HTML."""

    def __init__(self):
        self._blocks = []

    def add(self, kind, content):
        """kind: title, heading, text, code, list, table, links (of (text, path)) or picture."""
        if content:
            self._blocks.append((kind, content))

    def markdown(self):
        plain = markdown.plain
        form_of = {"title": lambda c: f"# {plain(c)}", "heading": lambda c: f"## {plain(c)}", "text": plain,
                   "code": lambda c: f"```\n{c}\n```", "list": lambda c: "\n".join(f"- {plain(one)}" for one in c),
                   "table": lambda c: (f"**{plain(c.title)}**\n\n" if c.title else "") + markdown.table(c).rstrip("\n"),
                   "links": lambda c: " · ".join(f"[{text}]({path})" for text, path in c),
                   "picture": lambda c: f"![{c}]({c})"}
        return "\n\n".join(form_of[kind](content) for kind, content in self._blocks) + "\n"

    def html(self):
        e = html.escape
        form_of = {"title": lambda c: f"<h1>{e(c)}</h1>", "heading": lambda c: f"<h2>{e(c)}</h2>",
                   "text": lambda c: f"<p>{e(c)}</p>", "code": lambda c: f"<code>{e(c)}</code>",
                   "list": lambda c: "<ul>" + "".join(f"<li>{e(one)}</li>" for one in c) + "</ul>",
                   "table": _html_table, "picture": lambda c: f'<p><img src="{e(c)}" alt="{e(c)}" width="100%"></p>',
                   "links": lambda c: "<p>" + " · ".join(f'<a href="{e(to)}">{e(text)}</a>' for text, to in c) + "</p>"}
        body = "\n".join(form_of[kind](content) for kind, content in self._blocks)
        title = next(content for kind, content in self._blocks if kind == "title")
        return ('<!doctype html>\n<html lang="en"><meta charset="utf-8">'
                '<meta name="viewport" content="width=device-width,initial-scale=1">'
                f"<title>{e(title)}</title><style>{_STYLE}</style>\n{body}\n</html>\n")


def _html_table(of):
    def row(tag, cells):
        kinds = [" class=n" if at < of.names else "" for at in range(len(cells))]
        return "<tr>" + "".join(f"<{tag}{kind}>{html.escape(cell)}</{tag}>" for kind, cell in zip(kinds, cells)) + "</tr>"

    caption = f"<p><b>{html.escape(of.title)}</b></p>" if of.title else ""
    return caption + "<table>" + row("th", of.head) + "".join(row("td", cells) for cells in of.rows) + "</table>"


def _builds(name, labels):
    """The builds of a table, if its rows do not name them."""
    if name == "003":
        return " against ".join(reversed(labels))
    return next((label.removesuffix(LARGE) for label in labels if name == "001-cache" and label.endswith(LARGE)), "")


def _soundness(of):
    """Errors, inconsistent databases, interruptions."""
    errors = sum(error.count for run in of.runs for error in run.errors)
    said = [f"{form.plural(errors, 'error')} in all runs of the command (conflicts among them)." if errors else
            "No errors.",
            *of.history]
    return " ".join(said)


def _say_study(page, name, done):
    """Shows charts only at the run's first study, since a run may serve several."""
    text = TEXTS[name]
    page.add("heading", f"{name}: {text.title}")
    page.add("text", f"{text.article}. {text.says}")
    page.add("list", [f"Seed: {text.machine}; {text.size}." if text.machine else f"The runner's own: {text.size}.",
                      *dict.fromkeys(f"Here: {one.run.about}." for one in done), *text.differs])
    for one in done:
        page.add("code", without_places(one.run.command))
        if one.study is None:
            page.add("text", f"{one.folder}: did not finish; nothing to show.")
            continue
        page.add("text", "" if one.whole else "Incomplete: part of it failed, or was interrupted.")
        page.add("table", table(name, ours.figures(name, one.study), _builds(name, one.study.labels())))
        page.add("text", _soundness(one.study))
        if one.report:
            page.add("links", [("report", one.report), *([("page", one.page)] if one.page else [])])
        if one.page.endswith(".gz"):
            page.add("text", HOW_TO_OPEN)
        for chart in one.charts if one.run.studies[0] == name else ():
            page.add("picture", chart)
        page.add("text", f"Raw data: {form.plural(one.files, 'file')}, {form.megabytes(one.bytes)} MB, in SHA256SUMS.")


def page(done, said=(), command=""):
    """done: Done of every run. said: sentences about what was left out, and notes. command: the whole command."""
    made = Page()
    made.add("title", "The seeds' studies, here")
    made.add("text", "Each seed's measurements, by our runners with its command line, scaled to this machine. The "
                     "seed's own figures stand beside ours: the median, and for several repetitions the lowest and "
                     "highest. Absolute "
                     "figures of another machine say little; compare ratios and shapes. A ratio or a gain "
                     "is the median over the pairs, not the ratio of the medians. A pair's two runs are from "
                     "one repetition, and each study gives their order (of three repetitions one of a "
                     "pair is first in two). Beside it is the 95 % interval of the pairs' geometric mean (Student's t, "
                     "wide for so few; for a few equal pairs it reaches to no change). An interval that contains no "
                     "change (0 %, a ratio of 1) may be noise. The reports have details.")
    made.add("code", without_places(command))
    made.add("text", f"This machine: {_machine(done)}." if _machine(done) else "")
    made.add("list", [f"{name}: {what}" for name, what in _binaries(done).items()])
    made.add("list", list(said))
    for name in TEXTS:
        of = [one for one in done if name in one.run.studies]
        if of:
            _say_study(made, name, of)
    return made
