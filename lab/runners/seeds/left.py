"""The results of a sitting's runs: where each report, its charts and tables are. Owns: the names of the folders."""

import zlib
from pathlib import Path

from installer.shell import Failed
from lab.record import provenance
from lab.runners import pick
from lab.runners.seeds import charts
from lab.runners.seeds.index import Done
from lab.study import written

_MERGED = {"mariadb_engines_runner.sh": "final/merged"}  # Where report and charts are, below the run's folder.
# The other runners' CSVs are in the given folder.
_TABLES_BESIDE_REPORT = ("mariadb_engines_runner.sh", "iibench_runner.sh", "pgo_study.sh")
# The most informative charts come first.
_CHARTS = {"hammerdb_runner.sh": ("chart_tpcc_tpm", "chart_tpcc_latency", "chart_tpcc_nopm",
                                  "chart_tpcc_throughput_timeline", "chart_tpcc_latency_timeline", "chart_build_time"),
           "mariadb_engines_runner.sh": ("chart_tpcc_nopm", "chart_tpcc_latency", "chart_tpcc_tpm",
                                         "chart_tpcc_throughput_timeline", "chart_tpcc_latency_timeline",
                                         "chart_build_time"),
           "iibench_runner.sh": ("charts/over_time", "charts/throughput", "charts/latency_p95"),
           "pgo_study.sh": ("charts/gain", "charts/throughput", "charts/latency_p95"),
           "sqlbench.sh": ("charts_*/01_throughput_tps", "charts_*/04_p95_latency", "charts_*/06_thread_scaling",
                           "charts_*/02_latency_avg", "charts_*/03_qps", "charts_*/05_latency_vs_throughput")}


def folder_of(run):
    """A run's own folder: the same command gets the same folder, and resumes there."""
    return f"{run.name}-{zlib.crc32(run.command.encode()) & 0xffff:04x}"


def begun(run, directory):
    """The folder of an earlier sitting's run; None: nothing to resume."""
    found = sorted(Path(directory).glob(f"*/{written.JOURNAL}")) if run.runner != "sqlbench.sh" else []  # It finds its own.
    return found[-1].parent if found else None


def command_of(run, directory, tree):
    """The command line that begins a run in directory or resumes it."""
    program = tree / "lab" / run.runner
    before = begun(run, directory)
    if before:
        return [program, "--resume", before]
    into = {"pgo_study.sh": ["-o", Path(directory) / "study"], "sqlbench.sh": []}.get(run.runner, ["-o", directory])
    return [program, *run.options, *into]


def environment_of(run, directory):
    """sqlbench takes variables, also for its output folder."""
    own = {"OUTPUT_DIR": str(directory), "DATA_DIR": str(Path(directory) / "servers")}
    return {**dict(run.environment), **(own if run.runner == "sqlbench.sh" else {})}


def _place(run, directory):
    """Where a run has its report and charts."""
    return (begun(run, directory) or Path(directory)) / _MERGED.get(run.runner, "")


def report_of(run, directory):
    """The path of its report.md; None if there is none."""
    directory = Path(directory)
    if run.runner == "sqlbench.sh":
        return max(directory.glob("report_*.md"), default=None)
    report = _place(run, directory) / "report.md"
    return report if report.exists() else None


def charts_of(run, directory):
    """The paths of its charts (PNG), most informative first; for a sweep our own, which has all points in one."""
    own = sorted(Path(directory).glob(f"{charts.SWEEP}.png"))
    return own or [path for name in _CHARTS[run.runner] for path in sorted(_place(run, directory).glob(f"{name}.png"))]


def tables_of(run, directory):
    """Its CSVs, small ones first; CSVs of single measurements are raw data."""
    place = _place(run, directory) if run.runner in _TABLES_BESIDE_REPORT else Path(directory)
    return sorted(place.glob("*.csv"), key=lambda path: (path.stat().st_size, path.name))


def done_of(run, directory, whole=True):
    """A Done. directory: that of all runs. whole: whether it finished."""
    directory = Path(directory)
    folder = directory / folder_of(run)
    try:
        study = pick.study([begun(run, folder) or folder])
    except Failed:
        study = None
    report, files = report_of(run, folder), provenance.files(folder)
    named = str(report.relative_to(directory)) if report else ""
    page = named.removesuffix(".md") + ".html" if report and report.with_suffix(".html").exists() else ""
    return Done(run, study if study and study.runs else None, folder.name, named, page, len(files),
                sum(path.stat().st_size for path in files), whole=whole)
