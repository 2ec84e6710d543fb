"""Writes a study in all its forms into a directory: report.html, report.md, runs.csv, charts/*.png and *.pdf."""

from pathlib import Path

from installer.shell import Failed, say
from lab.reports import markdown, page, sheet

SHEET = "runs.csv"  # A row for each run.


def write_page(study, path):
    """The written paths: path, or none with a message if the page lacks plotly.js or Jinja2."""
    try:
        text = page.render(study)
    except Failed as error:
        say(f"{Path(path).name} is left out: {error}")
        return []
    Path(path).write_text(text, encoding="utf-8")
    return [Path(path)]


def write(study, directory, charts=True, name="report"):
    """Returns the paths of the page and of the text. charts: also charts and CSV, for a runner without its own.

    Raises Failed for a study without a measurement.
    """
    directory = Path(directory)
    if not study.runs:
        raise Failed(f"{directory}: has no finished measurement to report")
    text = directory / f"{name}.md"
    text.write_text(markdown.text(study), encoding="utf-8")
    written = [*write_page(study, directory / f"{name}.html"), text]
    if charts:
        (directory / SHEET).write_text(sheet.text(study), encoding="utf-8")
        # Imported last and here, because only charts need matplotlib, and it may be missing.
        from lab.reports import charts as drawing
        drawing.draw(study, directory / "charts")
    return written
