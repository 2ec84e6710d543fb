"""The small part of a sitting that is worth keeping beside the sources: index, reports, tables, some charts, all
checksums, and as an example the interactive page of one run.

SHA256SUMS also has the files left out (samples, logs, the other pages of three megabytes):
sha256sum --check --ignore-missing SHA256SUMS.
"""

import csv
import gzip
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import median

from installer.shell import Failed
from lab.record import form, provenance
from lab.runners.seeds import index, left, ours, seed_figures

STUDY_BYTES_MAX = 1_000_000   # Of each run.
_TABLE_BYTES_MAX = 150_000
_SHOWN = 2                    # Charts in the index; the others are beside it.
EXAMPLE_BYTES_MAX = 2 << 20   # Nearly all of this is plotly.js.
_EXAMPLES = ("deletes", "engines", "sqlbench", "sweeps", "tprocc")  # The first that exists and is small enough, packed.
FIGURES = "figures.csv"


def _plain(values):
    return [f"{value:.6g}" for value in values]


def write_figures(done, path):
    """One table of all figures, the seeds' and ours."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["run", "study", "subject", "figure", "seed", "median", "lowest", "highest", "interval_low",
                      "interval_high", "repetitions"])
        for one in done:
            for study in one.run.studies if one.study else ():
                of_seed = seed_figures.of(study)
                for key, values in ours.figures(study, one.study).items():
                    seed = of_seed[key].value if key in of_seed else ""
                    ends = index.interval(key[1], values)
                    out.writerow([one.folder, study, *key, seed, *_plain((median(values), min(values), max(values))),
                                  *(_plain(ends) if ends else ("", "")), len(values)])


def _copy(paths, target, room):
    """Copies as much as there is room for; returns the names and the rest of the room."""
    names = []
    for path in paths:
        size = path.stat().st_size
        if size <= room:
            shutil.copyfile(path, target / path.name)
            names.append(path.name)
            room -= size
    return names, room


def _example(done, directory):
    """(folder, packed page) of the one run whose page is published; ("", b"") without one."""
    for name in _EXAMPLES:
        for one in done:
            if one.run.name == name and one.page:
                # Without a time, so that the same page gives the same file.
                packed = gzip.compress((Path(directory) / one.page).read_bytes(), 9, mtime=0)
                if len(packed) <= EXAMPLE_BYTES_MAX:
                    return one.folder, packed
    return "", b""


def _with_pdf(paths):
    """Each chart, and then all of them as PDF."""
    return [*paths, *(pdf for path in paths if (pdf := path.with_suffix(".pdf")).exists())]


def _one(one, directory, target):
    """Publishes a run. Returns its Done with the published paths."""
    source, to = Path(directory) / one.folder, target / one.folder
    to.mkdir()
    room, report = STUDY_BYTES_MAX, ""
    if one.report:
        kept, room = _copy([Path(directory) / one.report], to, room)
        report = f"{one.folder}/{kept[0]}" if kept else ""
    _, room = _copy([path for path in left.tables_of(one.run, source) if path.stat().st_size <= _TABLE_BYTES_MAX], to, room)
    names, room = _copy(_with_pdf(left.charts_of(one.run, source)), to, room)
    charts = [f"{one.folder}/{name}" for name in names if name.endswith(".png")]
    return replace(one, report=report, page="", charts=charts[:_SHOWN])


def check(target):
    """Raises Failed if target is unsuitable."""
    if Path(target).exists() and (not Path(target).is_dir() or any(Path(target).iterdir())):
        raise Failed(f"--publish: {target} is not empty; name a new directory")


def publish(done, said, command, directory, target):
    """Writes target, which must be new or empty. Returns its size in bytes. Raises Failed."""
    check(target)
    target = Path(target)
    target.mkdir(parents=True, exist_ok=True)
    published = [_one(one, directory, target) for one in done]
    folder, packed = _example(done, directory)
    for one in published:
        if one.folder == folder:
            one.page = f"{folder}/{index.PACKED}"
            (target / one.page).write_bytes(packed)
    (target / "README.md").write_text(index.page(published, said, command).markdown(), encoding="utf-8")
    write_figures(done, target / FIGURES)
    sums = {path.relative_to(directory): path for one in done for path in provenance.files(Path(directory) / one.folder)}
    sums |= {path.relative_to(target): path for path in sorted(target.rglob("*")) if path.is_file()}
    (target / provenance.CHECKSUMS).write_text(
        "".join(f"{provenance.sha256(path)}  {name}\n" for name, path in sums.items()), encoding="utf-8")
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())


def describe(size, target):
    return f"published: {form.megabytes(size)} MB in {target}"
