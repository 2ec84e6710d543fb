"""hammerdb_runner.sh against a private server: both engines, a run that is interrupted goes on, nothing is left behind.

Environment: see lab_server.py.
"""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lab.study import written  # noqa: E402
from lab.tests.lab_server import TPCC  # noqa: E402
from lab.tests.runner_case import OnARunningServer  # noqa: E402

SHORT = ["--warehouses", "1", "--tpcc-vu", "2", "--tpcc-build-vu", "2", "--rampup", "0.02", "--settle", "0"]


class Runner(OnARunningServer):
    def run_it(self, *options, password=True):
        if "--resume" not in options:
            options += ("-o", self.output, "-S", self.server.socket, "-u", "runner",
                        "--mariadb-bin", self.server.tool("mariadb"))
        return self.start_by("hammerdb_runner.sh", *options, *(["--pass", self.PASSWORD] if password else []))

    def test_a_run_that_is_interrupted_goes_on(self):
        engines = "innodb,tidesdb" if os.environ.get("TIDESDB_PLUGIN") else "innodb"
        child = self.run_it("-e", engines, *SHORT, "--duration", "0.1")
        said = self.interrupt_when(child, "hammerdb_logs_*/innodb_tpcc/run.log", pause_s=1)
        logs = self.only("hammerdb_logs_*")
        self.assertIn(f"--resume {logs}", said)
        self.assertEqual(subprocess.run(["pgrep", "-f", f"{TPCC} run.*{self.server.socket}"], capture_output=True,
                                        check=False).stdout, b"")
        said = self.finish(self.run_it("--resume", logs))
        self.assertIn("Interrupted during: innodb tpcc run", said)
        self.check_rows("hammerdb_results_*.csv", engines.split(","))
        self.assertFalse(self.server.sql("SHOW DATABASES LIKE 'tpcc'").strip())
        self.assertTrue((logs / "chart_tpcc_nopm.png").exists())
        self._sees_the_server(logs)
        self.check_that_no_file_has_the_password()

    def _sees_the_server(self, logs):
        """As it does a private one."""
        study = written.read(logs)
        self.assertFalse([said for said in study.unequal if "known" in said and "block device" not in said])
        self.assertIn("mariadbd", study.provenance["binaries"])
        for run in study.runs:
            self.assertGreater(run.cpu_s, 0)
            self.assertGreater(run.memory["resident, peak"], 1 << 20)
            self.assertGreater(run.sizes["server's directory after the run"], 1 << 20)
            self.assertGreater(run.status["Com_commit"], 0)
            self.assertEqual(run.variables["performance_schema"], "OFF")
            self.assertIn("server CPU", run.series)
            self.assertRegex(run.configuration["server"], "MariaDB")

    def test_a_wrong_password_says_what_to_do(self):
        said = self.finish(self.run_it("-e", "innodb", password=False), 1)
        self.assertRegex(said, "(?s)Access denied.*--private-server")
        self.assertEqual(list(self.output.iterdir()), [])

    def test_a_debug_run_ends_at_the_first_error(self):
        self.addCleanup(self.server.sql, "DROP DATABASE IF EXISTS debugged")
        said = self.finish(self.run_it("-e", "innodb", "--debug-run", "--warehouses", "1", "--settle", "0", "--no-check",
                                      "--tpcc-db", "debugged"), 1)
        self.assertIn("--debug-run: the first error ended the run: Record has changed", said)
        self.assertIn(f"--resume {self.output}", said)
        self.assertNotIn("measure 60 s", next(self.output.glob("*/innodb_tpcc/run.log")).read_text())

    def test_an_engine_that_is_not_there(self):
        self.assertIn("has no engine RocksDB", self.finish(self.run_it("-e", "rocksdb"), 1))


if __name__ == "__main__":
    if not re.search(r"\btpcc$", TPCC) or not Path(TPCC).exists():
        sys.exit(f"{TPCC}: the load generator is not built")
    unittest.main()
