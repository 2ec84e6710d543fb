"""The figures over time in the logs beside a hammerdb_results_*.csv, for the charts."""

from pathlib import Path

from installer.shell import say
from lab.base import figures
from lab.base.errors import BadInput
from lab.observe import perf
from lab.runners.hammerdb.charts import RunSeries
from lab.works import hammerdb_output as hammerdb
from lab.works import tpcc_output as tpcc
from lab.works import tpcc_result as results


def series(csv, name, broken=()):
    """One RunSeries for each folder of the CSV's hammerdb_logs_*; [] if it is gone. name: of these runs, or "".

    broken: engines with a run that left wrong data; such a run has no series.
    """
    csv = Path(csv)
    logs = csv.parent / f"hammerdb_logs_{csv.stem.removeprefix('hammerdb_results_')}"
    found = []
    for folder in sorted([*logs.glob("*_tpcc"), *logs.glob("rep*/*_tpcc")]):
        engine = folder.name.removesuffix("_tpcc")
        if not (engine in broken and _left_wrong_data(folder)):
            found.append(of_folder(folder, engine, name))
    return found


def of_folder(folder, engine, name):
    """The series in a run's folder."""
    run = RunSeries(engine, name)
    for read in (_counter, _timeline, _blocks, _perf):
        try:
            read(folder, run)
        except BadInput as error:
            say(f"{error} (left out of the charts)")
    return run


def _left_wrong_data(folder):
    """The repetition of a folder; the real HammerDB has only one."""
    result = folder / "result.json"
    return not result.exists() or results.load(result).consistency() == "BROKEN"


def _counter(folder, run):
    path = folder / "hdbtcount.log"
    if path.exists():
        run.tpm = hammerdb.transaction_counts(figures.read(path), path)


def _timeline(folder, run):
    path = folder / "timeline.csv"
    if path.exists():
        seconds = tpcc.timeline(figures.read(path), path)
        run.tpm = tpcc.per_minute(seconds)
        windows = tpcc.latency_windows(seconds, "NEWORD")
        run.latency = {"mean": [(at, mean) for at, mean, _ in windows],
                       "maximum": [(at, worst) for at, _, worst in windows]}


def _blocks(folder, run):
    path = folder / "run.log"
    if not path.exists():
        return
    windows = hammerdb.windows(figures.read(path), path).get("NEWORD", [])
    for name in ("p50", "p95", "p99") if windows else ():
        begin = windows[0].begin
        run.latency[name] = [((w.begin - begin).total_seconds() + 10, getattr(w, f"{name}_us") / 1000) for w in windows]


def _perf(folder, run):
    path = folder / "perf.txt"
    if path.exists():
        run.hotspots = perf.report(figures.read(path), path)
