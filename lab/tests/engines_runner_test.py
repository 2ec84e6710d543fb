#!/usr/bin/env python3
"""mariadb_engines_runner.sh with the real harness on a running server: interrupted, resumed, up to its report; and with a
foreign database of the name that it wants.

Environment: as lab_server.py says; the plugin is needed.
"""

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from installer import host  # noqa: E402
from lab.tests.lab_server import TPCC  # noqa: E402
from lab.tests.runner_case import OnARunningServer  # noqa: E402

# Ten seconds in all, because charts over time show multiples of ten seconds.
_SHORT = ["--engines", "innodb,tidesdb", "--iterations", "1", "--warehouses", "1", "--run-vu", "2", "--build-vu", "2",
          "--rampup", "0.02", "--duration", "0.16", "--settle", "0", "--no-restart",
          *([] if host.is_root() else ["--no-drop-cache", "--no-perf"])]
_MINE = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'tpcc' AND table_name = 'mine'"


class EnginesRunner(OnARunningServer):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.server.sql, "DROP DATABASE IF EXISTS tpcc")

    def run_it(self, *resume):
        options = resume or (*_SHORT, "-o", self.output, "--socket", self.server.socket, "--user", "runner",
                             "--mariadb-bin", self.server.tool("mariadb"))
        return self.start_by("mariadb_engines_runner.sh", *options, "--pass", self.PASSWORD)

    def results(self):
        return self.only("results_*")

    def test_an_interrupted_run_goes_on_to_its_report(self):
        said = self.interrupt_when(self.run_it(), "results_*/tidesdb/iter1/run.log")
        self.assertIn(f"--resume {self.results()}", said)
        self.assertIn("Until then the database tpcc is kept.", said)
        engines = "SELECT DISTINCT engine FROM information_schema.tables WHERE table_schema = 'tpcc'"
        self.assertEqual(self.server.value(engines), "TidesDB")

        said = self.finish(self.run_it("--resume", self.results()))
        self.assertIn("innodb iteration 1 run: done in an earlier sitting", said)
        self.assertIn("tidesdb iteration 1 build: done in an earlier sitting", said)
        self.assertFalse(self.server.value("SHOW DATABASES LIKE 'tpcc'"))
        self.check_rows("results_*/final/merged/hammerdb_results_merged.csv", ["innodb", "tidesdb"])
        self._check_report()
        self._check_sums()
        self.check_that_no_file_has_the_password()

    def _check_report(self):
        """Charts, tables and the page; each says that the run was interrupted."""
        merged = self.results() / "final" / "merged"
        if host.is_root():
            for engine in ("innodb", "tidesdb"):
                self.assertIn("mariadbd", (self.results() / engine / "iter1" / "perf.txt").read_text())
        for chart in ("nopm", "tpm", "latency", "throughput_timeline", "latency_timeline"):
            for kind in ("png", "pdf"):
                self.assertGreater((merged / f"chart_tpcc_{chart}.{kind}").stat().st_size, 1000, chart)
        self.assertGreater((merged / "report.html").stat().st_size, 100_000)
        for name in ("summary.md", "report.md"):
            text = (merged / name).read_text(encoding="utf-8")
            self.assertIn("Interrupted during: tidesdb iteration 1", text)
        for wanted in ("TPROC-C: InnoDB and TidesDB", "1 iteration of TPROC-C, 1 warehouse", "SHA-256"):
            self.assertIn(wanted, text)
        self.assertNotIn("fair", text)  # The server was not started with this profile.

    def _check_sums(self):
        lines = (self.results() / "SHA256SUMS").read_text().splitlines()
        self.assertTrue([line for line in lines if line.endswith("tidesdb/iter1/run.log")])
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=self.results(), check=True)

    def test_somebody_s_database_stays(self):
        self.server.sql("CREATE DATABASE tpcc; CREATE TABLE tpcc.mine (a INT)")
        said = self.finish(self.run_it(), 1)
        for engine in ("innodb", "tidesdb"):
            self.assertRegex(said, f"Failed: {engine} iteration 1 build: there is a database tpcc")
        self.assertNotIn("the database tpcc is kept", said)
        self.assertEqual(self.server.value(_MINE), "1")


if __name__ == "__main__":
    if not os.environ.get("TIDESDB_PLUGIN") or not Path(TPCC).exists():
        sys.exit("TIDESDB_PLUGIN and TPCC: the plugin and the load generator are wanted")
    unittest.main()
