"""A study as Markdown, to paste; its columns are aligned, so that it reads on a terminal too.

A study's texts are plain: labels, variables and messages are anybody's, and mean nothing to Markdown (plain()).
"""

import re
from dataclasses import replace

from lab.report import tables

_CELL_MAX = 80

# What makes of a text within a line something else; an underscore within a word does not.
_MARKS = re.compile(r"[\\`*<|~]|(?<!\w)_++|_++(?![^\W_])|&(?=#?\w+;)|(?<=])\(")


def plain(text):
    """A text as Markdown that shows it as it is, on one line."""
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
    return f"## {plain(of.title)}\n\n" + (f"{plain(of.note)}\n\n" if of.note else "") + table(of)


def _bullets(title, sentences):
    return f"## {title}\n\n" + "".join(f"- {plain(sentence)}\n" for sentence in sentences) if sentences else ""


def figures(study):
    """The tables of figures alone: what a terminal shows."""
    made = [tables.gains(study), tables.throughput(study), tables.percentiles(study), tables.measures(study),
            tables.resources(study), tables.errors(study), tables.checks(study)]
    return "\n".join(filter(None, map(_section, made)))


def _of_each(study):
    """The runs' configuration; what is too long for a cell, as a server's options, below the table."""
    whole = tables.run_configuration(study)
    if not whole:
        return ""
    short = [row for row in whole.rows if max(map(len, row)) <= _CELL_MAX]
    made = [table(replace(whole, rows=short))] if short else []
    long = []
    for name, *values in (row for row in whole.rows if row not in short):
        said = {value: [label for label, of in zip(whole.head[1:], values) if of == value] for value in values if value}
        long += [f"- {plain(name)} of {plain(' and '.join(labels) if len(said) > 1 else 'each')}: {plain(value)}\n"
                 for value, labels in said.items()]
    return f"## {whole.title}\n\n" + "\n".join([*made, *(["".join(long)] if long else [])])


def _variables(study):
    """Those that differ: all of them, with the counters, are for the page."""
    whole, differing = tables.variables(study), tables.variables_that_differ(study)
    counters = len({name for run in study.runs for name in run.status})
    if not whole:
        return ""
    note = (f"Of {len(whole.rows)} that the servers have; what only one engine's server knows is no difference. The page "
            "has them all" + (f", and {counters} status counters side by side" if counters else "") + ".")
    return _section(replace(differing, note=note)) if differing else f"## {whole.title}\n\nNone differs. {note}\n"


def text(study):
    """The whole report, but for what only a page has room for: series, all variables, counters."""
    parts = [f"# {plain(study.title)}\n\n{plain(study.about)}\n", figures(study),
             _bullets("What is not equal", study.unequal), _bullets("Interruptions and failures", study.history),
             _section(tables.configuration(study)), _of_each(study), _variables(study), _section(tables.provenance(study)),
             _section(tables.files(study))]
    return "\n".join(part for part in parts if part)
