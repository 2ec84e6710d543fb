#!/usr/bin/env python3
"""lab/pgo_study.sh on a real server: one plugin against itself, interrupted and resumed; its report in a browser.

Environment: as lab_server.py says; TIDESDB_SERVER and TIDESDB_PLUGIN are wanted.
"""

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from installer.shell import TREE  # noqa: E402
from lab.observe import iostat, metrics  # noqa: E402
from lab.record.gains import ALL, gains  # noqa: E402
from lab.record.provenance import CHECKSUMS  # noqa: E402
from lab.reports import tables  # noqa: E402
from lab.study import written  # noqa: E402
from lab.tests.browser import Browser  # noqa: E402
from lab.tests.runner_case import RunnerCase, servers_below  # noqa: E402

_DOOR = TREE / "lab" / "pgo_study.sh"
_SMALL = ["--tiers", "16M", "--threads", "1,2", "--repetitions", "2", "--tables", "1", "--rows", "1000", "--seconds", "2",
          "--warmup-read", "0", "--warmup-write", "1"]
_SECOND = "[3/9] again, 16M cache, 1 thread, repetition 1 ..."
# Figures for each second in every study of TidesDB: sysbench's, the server's, the engine's, and each tool's.
_SERIES = ("throughput", "p95 latency", "server CPU", "Com_commit", "Handler_update", "vmstat: cs", "mpstat CPU all: %sys",
           "threads: the busiest one")


class PgoStudy(RunnerCase):
    def test_a_plugin_against_itself(self):
        output = self.output / "study"
        of = [f"server={os.environ['TIDESDB_SERVER']}", f"plugin={os.environ['TIDESDB_PLUGIN']}"]
        child = self.start(_DOOR, "--build", "plain", *of, "--build", "again", *of, *_SMALL, "-o", output)
        self.assertIn(f"--resume {output}", self.interrupt_at(child, _SECOND).splitlines()[-1])
        self.assertEqual(servers_below(output), [])

        said = self.finish(self.start(_DOOR, "--resume", output))
        self.assertIn("[2/9] plain, 16M cache, 1 thread, repetition 1: done in an earlier sitting", said)
        self.assertEqual(servers_below(output), [])
        self.assertFalse((output / "data").exists())
        self.look_at(output)

    def look_at(self, output):
        study = written.read(output)
        self.assertEqual([len([run for run in study.runs if run.label == label]) for label in ("plain", "again")], [4, 4])
        self.assertEqual([note for run in study.runs for note in run.notes], [])
        self.assertTrue(all(run.throughput > 0 and run.cpu_s > 0 for run in study.runs))
        for name in _SERIES:
            self.assertTrue(all(name in run.series for run in study.runs), name)
        # A disk that was idle in these seconds (the data fit the cache, nothing is synced) correctly has no series.
        outputs = sorted(output.glob("**/*.iostat.txt"))
        self.assertEqual(len(outputs), len(study.runs))
        moved = {name for path in outputs for report in iostat.parse(path.read_text(), path)
                 for name, _, value in metrics.of_iostat(report) if value}
        shown = {name for run in study.runs for name in run.series if name.startswith("iostat ")}
        self.assertLessEqual(shown, moved)
        self.assertTrue(all(any(name.startswith("Tidesdb_") for name in run.series) for run in study.runs))
        # Checks only that there is a verdict: two seconds cannot decide it. test_statistics.py checks measured figures.
        self.assertEqual([gain.change.pairs for gain in gains(study) if gain.where == ALL], [2, 2])
        self.assertIn("Interrupted during: again, 16M cache, 1 thread, repetition 1", study.history[0])
        self.assertEqual([row for row in tables.variables(study).rows if tables.kind(row) == tables.DIFFERENT], [])
        subprocess.run(["sha256sum", "--check", "--quiet", CHECKSUMS], cwd=output, check=True)
        for name in ("gain", "throughput", "latency_p95", "over_time"):
            for kind in ("png", "pdf"):
                self.assertGreater((output / "charts" / f"{name}.{kind}").stat().st_size, 1000)
        self.assertIn("label,condition,workload,", (output / "runs.csv").read_text())
        self.assertRegex((output / "report.md").read_text(), r"(?s)^# Gain of again over plain\n.*\n## Gain over plain\n")
        with Browser(output.parent) as browser:
            shown = browser.open(output / "report.html")
            shown.wait("document.documentElement.dataset.ready === 'yes'")
            self.assertEqual(shown.run("document.querySelectorAll('#gains tbody tr').length"), 3)
            shown.choose("#explorer-controls [name=metric]", "vmstat: cs")
            self.assertEqual(shown.run("(document.querySelector('#explorer-plot').data || []).length"), 2)
            self.assertEqual(shown.problems, [])


if __name__ == "__main__":
    unittest.main()
