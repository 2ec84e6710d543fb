"""A study as Markdown, to paste; its columns are aligned, so that it reads on a terminal too."""

from lab.report import tables


def table(of):
    """One Table."""
    head = [cell.replace("|", "\\|") for cell in of.head]
    rows = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in of.rows]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]

    def line(cells):
        return "| " + " | ".join(cell.ljust(width) if column < of.names else cell.rjust(width)
                                 for column, (cell, width) in enumerate(zip(cells, widths))) + " |"

    rule = "|" + "|".join("-" * (width + 2) if column < of.names else "-" * (width + 1) + ":"
                          for column, width in enumerate(widths)) + "|"
    return "\n".join([line(head), rule, *map(line, rows)]) + "\n"


def _section(of):
    return f"## {of.title}\n\n" + (f"{of.note}\n\n" if of.note else "") + table(of) if of else ""


def _bullets(title, sentences):
    return f"## {title}\n\n" + "".join(f"- {sentence}\n" for sentence in sentences) if sentences else ""


def figures(study):
    """The tables of figures alone: what a terminal shows."""
    made = [tables.gains(study), tables.throughput(study), tables.percentiles(study), tables.measures(study),
            tables.resources(study), tables.errors(study), tables.checks(study)]
    return "\n".join(filter(None, map(_section, made)))


def text(study):
    """The whole report."""
    parts = [f"# {study.title}\n\n{study.about}\n", figures(study), _bullets("What is not equal", study.unequal),
             _bullets("Interruptions and failures", study.history), _section(tables.configuration(study)),
             _section(tables.provenance(study)), _section(tables.files(study))]
    return "\n".join(part for part in parts if part)
