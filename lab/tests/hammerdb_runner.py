"""hammerdb_runner.sh against a private server: both engines, a run that is interrupted goes on, nothing is left behind.

Environment: see lab_server.py.
"""

import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from lab_server import TPCC, TREE, LabServer, environment

from lab.study import written
from lab.tests.runner_case import RunnerCase

RUNNER = TREE / "lab" / "hammerdb_runner.sh"
PASSWORD = "it's [a] $ecret"
SHORT = ["--warehouses", "1", "--tpcc-vu", "2", "--tpcc-build-vu", "2", "--rampup", "0.02", "--settle", "0"]


class Runner(RunnerCase):
    @classmethod
    def setUpClass(cls):
        cls.server = LabServer(environment())
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        cls.server.__enter__()
        quoted = PASSWORD.replace("'", "''")
        cls.server.sql(f"CREATE USER runner@localhost IDENTIFIED BY '{quoted}'; GRANT ALL ON *.* TO runner@localhost")
        cls.client = cls.server.environment.basedir / "bin" / "mariadb"
        cls.variables = {**os.environ, "TPCC": TPCC}

    def run_it(self, *options, password=True):
        argv = [RUNNER, *options]
        if "--resume" not in options:
            argv += ["-o", self.output, "-S", self.server.socket, "-u", "runner", "--mariadb-bin", self.client]
        return self.start(*argv, *(["--pass", PASSWORD] if password else []), env=self.variables)

    def test_a_run_that_is_interrupted_goes_on(self):
        engines = "innodb,tidesdb" if os.environ.get("TIDESDB_PLUGIN") else "innodb"
        process = self.run_it("-e", engines, *SHORT, "--duration", "0.1")
        logs = self._wait_for("innodb_tpcc/run.log")
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        said = self.finish(process, 130)
        self.assertIn(f"--resume {logs}", said)
        self.assertEqual(subprocess.run(["pgrep", "-f", f"{TPCC} run.*{self.server.socket}"], capture_output=True,
                                        check=False).stdout, b"")
        said = self.finish(self.run_it("--resume", logs))
        self.assertIn("Interrupted during: innodb tpcc run", said)
        rows = self.rows("hammerdb_results_*.csv")
        self.assertEqual([row["engine"] for row in rows], engines.split(","))
        for row in rows:
            self.assertGreater(int(row["nopm"]), 0)
            self.assertEqual((row["consistent"], row["generator"], row["warehouses"]), ("yes", "tpcc", "1"))
        self.assertFalse(self.server.sql("SHOW DATABASES LIKE 'tpcc'").strip())
        self.assertTrue((logs / "chart_tpcc_nopm.png").exists())
        self._sees_the_server(logs)
        for path in self.output.rglob("*"):
            self.assertFalse(path.is_file() and PASSWORD.encode() in path.read_bytes(), path)

    def _sees_the_server(self, logs):
        """As it does a private one."""
        study = written.read(logs)
        self.assertFalse([said for said in study.unequal if "not known" in said and "block device" not in said])
        self.assertIn("mariadbd", study.provenance["binaries"])
        for run in study.runs:
            self.assertGreater(run.cpu_s, 0)
            self.assertGreater(run.memory["resident, peak"], 1 << 20)
            self.assertGreater(run.sizes["server's directory after the run"], 1 << 20)
            self.assertGreater(run.status["Com_commit"], 0)
            self.assertEqual(run.variables["performance_schema"], "OFF")
            self.assertIn("server CPU", run.series)
            self.assertRegex(run.configuration["server"], "MariaDB")

    def _wait_for(self, name):
        for _ in range(1200):
            found = list(self.output.glob(f"hammerdb_logs_*/{name}"))
            if found:
                return next(self.output.glob("hammerdb_logs_*"))
            time.sleep(0.1)
        self.fail(f"{name} does not come")

    def test_a_wrong_password_says_what_to_do(self):
        said = self.finish(self.run_it("-e", "innodb", password=False), 1)
        self.assertRegex(said, "(?s)Access denied.*--private-server")
        self.assertEqual(list(self.output.iterdir()), [])

    def test_a_debug_run_ends_at_the_first_error(self):
        self.addCleanup(self.server.sql, "DROP DATABASE IF EXISTS debugged")
        said = self.finish(self.run_it("-e", "innodb", "--debug-run", "--warehouses", "1", "--settle", "0", "--no-check",
                                      "--tpcc-db", "debugged"), 1)
        self.assertIn("--debug-run: the first error, which ended it: Record has changed", said)
        self.assertIn(f"--resume {self.output}", said)
        self.assertNotIn("measure 60 s", next(self.output.glob("*/innodb_tpcc/run.log")).read_text())

    def test_an_engine_that_is_not_there(self):
        self.assertIn("has no engine RocksDB", self.finish(self.run_it("-e", "rocksdb"), 1))


if __name__ == "__main__":
    if not re.search(r"\btpcc$", TPCC) or not Path(TPCC).exists():
        sys.exit(f"{TPCC}: the load generator is not built")
    unittest.main()
