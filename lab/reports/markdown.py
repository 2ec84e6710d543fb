"""A study as Markdown, to paste; aligned columns make it readable on a terminal too.

A study's texts are plain: plain() escapes Markdown in labels, variables and messages, which may hold anything.
"""

import re
from dataclasses import replace

from lab.reports import tables

# Characters with a meaning within a line; an underscore within a word has none.
_MARKS = re.compile(r"[\\`*<|~]|(?<!\w)_++|_++(?![^\W_])|&(?=#?\w+;)|(?<=])\(")


def plain(text):
    """A text as Markdown that shows it unchanged, on one line."""
    return _MARKS.sub(lambda found: "".join("\\" + mark for mark in found.group()), text.replace("\n", " "))


def table(of):
    """One Table."""
    head, *rows = [[plain(cell) for cell in row] for row in (of.head, *of.rows)]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]

    def line(cells):
        return "| " + " | ".join(cell.ljust(width) if column < of.names else cell.rjust(width)
                                 for column, (cell, width) in enumerate(zip(cells, widths))) + " |"

    rule = "|" + "|".join("-" * (width + 2) if column < of.names else "-" * (width + 1) + ":"
                          for column, width in enumerate(widths)) + "|"
    return "\n".join([line(head), rule, *map(line, rows)]) + "\n"


def _section(of):
    if not of:
        return ""
    below = "".join(f"- {plain(name)} of {plain(whom)}: {plain(text)}\n" for name, whom, text in of.below)
    return "\n".join(filter(None, (f"## {plain(of.title)}\n", f"{plain(of.note)}\n" if of.note else "",
                                   table(of) if of.rows else "", below)))


def _bullets(title, sentences):
    return f"## {title}\n\n" + "".join(f"- {plain(sentence)}\n" for sentence in sentences) if sentences else ""


def figures(study):
    """Only the tables of figures, for a terminal."""
    made = [tables.gains(study), tables.throughput(study), tables.percentiles(study), tables.measures(study),
            tables.resources(study), tables.errors(study), tables.checks(study)]
    return "\n".join(filter(None, map(_section, made)))


def _variables(study):
    """The variables that differ; the page has all variables, and the counters."""
    whole = tables.variables(study)
    if not whole:
        return ""
    counters = len({name for run in study.runs for name in run.status})
    beside = f", and {counters} status counters side by side" if counters else ""
    note = f"{whole.note} The page has them all{beside}."
    return _section(replace(tables.variables_that_differ(study) or replace(whole, rows=[]), note=note))


def text(study):
    """The whole report, without the parts that only the page has room for: series, all variables, counters."""
    parts = [f"# {plain(study.title)}\n\n{plain(study.about)}\n", figures(study),
             _bullets("What is not equal", study.unequal), _bullets("Interruptions and failures", study.history),
             _section(tables.configuration(study)), _section(tables.run_configuration(study)), _variables(study),
             _section(tables.provenance(study)), _section(tables.files(study))]
    return "\n".join(part for part in parts if part)
