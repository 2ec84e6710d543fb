"""The step that runs ./quickstart as a person would."""

import csv
import itertools
import os
import re
import shutil
import signal
import tempfile
from pathlib import Path

from installer import build_plugin, host
from installer.shell import TREE, Failed, run
from tools.run_tests.step import Outcome

_VISITS = r"Visits counted in a TidesDB table: (\d+)"


def whole(context):
    """Runs it, repeats it, repeats it after a kill -9 of its server, and stops it: the data and the report stay."""
    # First, so that an unsuitable machine is reported as in every step.
    build_plugin.prepare_and_build(host.host_server(), context.log)
    # Not in the tree: a user's quickstart may run there, and a socket's path must be short.
    home = Path(tempfile.mkdtemp(prefix="quickstart-"))
    environment = {"TIDESDB_QUICKSTART_DIR": str(home)}

    def quickstart(*options):
        run([TREE / "quickstart", *options], log=context.log, cwd=TREE, env=environment)
        return re.findall(_VISITS, context.log.read_text())

    try:
        small = ("--seconds", "3", "--scale-down", "20")
        quickstart(*small)
        report = (home / "report.html").read_text(encoding="utf-8")
        for said in ("its page cache counted", "SHA-256", "TidesDB 1.0", "write amplification", "TPROC-C", "iibench l.i1"):
            _expect(said in report, f"the report is there, and says {said}")
        comparison, = home.glob("compare_*")
        beside = ("report.md", "runs.csv", "charts/throughput.png", "charts/throughput.pdf")
        missing = [name for name in beside if not (comparison / name).exists()]
        _expect(not missing, f"beside it are its tables and charts; missing: {missing}")
        with open(comparison / "runs.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        measured = {(row["label"], row["workload"].split(",")[0]) for row in rows if float(row["throughput"] or 0) > 0}
        _expect(measured == set(itertools.product(("InnoDB", "TidesDB", "RocksDB"), ("TPROC-C", "iibench l.i1"))),
                f"each engine did both works: {measured}")
        _expect(not (comparison / "TidesDB").exists(), "the measured servers' data is gone")
        again = (comparison / "report.html").stat().st_mtime
        quickstart()
        os.kill(int((home / "mysqld.pid").read_text()), signal.SIGKILL)
        visits = quickstart()
        _expect(visits == ["1", "2", "3"], f"each run adds a visit and loses none: {visits}")
        _expect((comparison / "report.html").stat().st_mtime == again, "what was measured is kept")
        quickstart("--stop")
        _expect(not (home / "mysqld.pid").exists(), "the server is stopped")
        quickstart("--fresh", "--seconds", "1", "--scale-down", "100")
        _expect(quickstart("--stop")[3:] == ["1"], "--fresh starts over")
    finally:
        if (home / "mysqld.pid").exists():
            quickstart("--stop")
        shutil.rmtree(home)
    return Outcome(passed=1)


def _expect(holds, what):
    if not holds:
        raise Failed(f"./quickstart: not true: {what}")
