#!/usr/bin/env python3
"""lab/sqlbench.sh against real servers: seed 004's command scaled down, interrupted and resumed; a server that
runs already; and with TIDESDB_SERVER=debian13 on this machine another release's server.

Environment: as lab_server.py says.
"""

import os
import re
import shutil
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from installer.shell import TREE  # noqa: E402
from lab.tests import lab_server  # noqa: E402
from lab.tests.runner_case import RunnerCase, servers_below  # noqa: E402
from lab.tests.test_sqlbench import SEED_004  # noqa: E402

_ENVIRONMENT = lab_server.environment()
_PLUGIN = os.environ.get("TIDESDB_PLUGIN")
_HERE = _ENVIRONMENT is not None and _ENVIRONMENT.root is None
_DOOR = TREE / "lab" / "sqlbench.sh"
# Settings that are smaller than the seed's.
_SCALED = {"TABLE_SIZES": "2000", "THREAD_COUNTS": "2", "TIME": "2", "WARMUP": "1", "REPORT_INTERVAL": "1", "PLOT": "0"}


class SqlbenchCase(RunnerCase):
    def setUp(self):
        super().setUp()
        self.base, self.output = self.output, self.output / "results"

    def begin(self, variables):
        # TIDESDB_SERVER names the server to make; sqlbench refuses it together with a given server.
        made = not {"MYSQLD", "SOCKET"} & set(variables)
        environment = {name: value for name, value in os.environ.items() if made or name != "TIDESDB_SERVER"}
        return self.start(_DOOR, env={**environment, "OUTPUT_DIR": str(self.output), **variables})

    def run_it(self, variables, code=0):
        return self.finish(self.begin(variables), code)

    def table(self, kind):
        return self.rows(f"{kind}_*.csv")

    def check_rates(self, rows):
        """tps is what the raw output counted, by its time."""
        for row in rows:
            raw = self.only("raw_*") / (f"{row['engine']}_{row['workload']}_{row['threads']}t_{row['table_size']}r_"
                                        f"{row['iteration']}.txt")
            count = int(re.search(r"^ +transactions: +(\d+)", raw.read_text(), re.M).group(1))
            self.assertGreater(count, 0)
            self.assertAlmostEqual(float(row["tps"]), count / float(row["total_time_s"]), delta=1 + count * 0.01)


@unittest.skipUnless(_HERE and _PLUGIN, "a server of this machine and TIDESDB_PLUGIN are wanted")
class OnThisMachine(SqlbenchCase):
    def seed_command(self):
        plugins = self.base / "plugin"
        plugins.mkdir()
        for path in [*_ENVIRONMENT.plugin_dir.glob("*.so"), Path(_PLUGIN)]:
            if not (plugins / path.name).exists():
                (plugins / path.name).symlink_to(path)
        return {**SEED_004, **_SCALED, "BUILD_DIR": str(_ENVIRONMENT.basedir), "MYSQLD": str(_ENVIRONMENT.mariadbd),
                "MYSQL_BIN": str(_ENVIRONMENT.basedir / "bin" / "mariadb"), "PLUGIN_DIR": str(plugins),
                "DATA_DIR": str(self.base / "db-bench")}

    def test_the_seed_s_command_interrupted_and_gone_on_with(self):
        variables = self.seed_command()
        self.interrupt_at(self.begin(variables),
                          "[2/8] TidesDB oltp_read_write, 2 threads, 2000 rows, iteration 1 ...")
        self.assertEqual(servers_below(self.base / "db-bench"), [])
        self.assertFalse((self.base / "db-bench").exists())

        said = self.run_it(variables)
        self.assertIn("[1/8] InnoDB oltp_read_write, 2 threads, 2000 rows, iteration 1: done in an earlier sitting", said)
        self.assertFalse((self.base / "db-bench").exists())
        summary = self.table("summary")
        self.assertEqual([(row["workload"], row["engine"]) for row in summary],
                         [(workload, engine) for workload in SEED_004["WORKLOADS"].split()
                          for engine in ("InnoDB", "TidesDB")])
        self.check_rates(summary)
        self.assertTrue(all(float(row["data_size_after_run_mb"]) > 0 for row in summary))
        # How many intervals sysbench reports of two seconds is a matter of luck.
        self.assertEqual({(row["workload"], row["engine"]) for row in self.table("detail")},
                         {(row["workload"], row["engine"]) for row in summary})
        self.assertEqual(len(self.table("latency")), 8 * 7)
        phases = {row["phase"] for row in self.table("sizes")}
        self.assertLessEqual({"after_prepare", "after_run", "after_run_log", "after_run_undo"}, phases)
        variables = (self.only("raw_*") / "TidesDB_oltp_insert_2t_2000r_1.variables.tsv").read_text()
        self.assertIn("tidesdb_unified_memtable_sync_mode\tNONE\n", variables)
        text = self.only("report_*.md").read_text()
        self.assertIn("Interrupted during: TidesDB oltp_read_write", text)
        self.assertRegex(text, r"(?m)^\| oltp_insert +\| +[\d,]+ +\| +[\d,]+ +\| +[\d.]+ \|$")  # And the ratio.
        self.assertIn("write amplification", text)

    def test_a_server_that_runs_already_is_measured_and_left_as_it_was(self):
        with lab_server.LabServer(_ENVIRONMENT, ["--tidesdb-block-cache-size=32M"]) as server:
            variables = {**_SCALED, "SOCKET": str(server.socket), "ENGINES": "TidesDB", "WORKLOADS": "oltp_point_select",
                         "MYSQL_BIN": str(_ENVIRONMENT.basedir / "bin" / "mariadb"), "MYSQL_DB": "measured"}
            databases = server.sql("SHOW DATABASES")
            self.run_it(variables)
            self.check_rates(self.table("summary"))
            self.assertIn("The server runs with tidesdb_block_cache_size=33554432, not with the requested 268435456.",
                          self.only("report_*.md").read_text())
            self.assertEqual(server.sql("SHOW DATABASES"), databases)
            for inside in ("", "CREATE PROCEDURE measured.p() SELECT 1", "CREATE TABLE measured.sbtest1 (a INT)"):
                server.sql(f"CREATE DATABASE measured; {inside}")
                self.assertIn("MYSQL_DB: the server at", self.run_it(variables, code=1))
                server.sql("DROP DATABASE measured")
        self.assertIn("SOCKET: nothing answers at", self.run_it(variables, code=1))

    def test_on_a_server_that_runs_already_a_killed_run_is_gone_on_with(self):
        with lab_server.LabServer(_ENVIRONMENT, []) as server:
            variables = {**_SCALED, "SOCKET": str(server.socket), "ENGINES": "InnoDB", "WORKLOADS": "oltp_point_select",
                         "MYSQL_BIN": str(_ENVIRONMENT.basedir / "bin" / "mariadb")}
            databases = server.sql("SHOW DATABASES")
            child = self.begin(variables)
            while server.sql("SHOW DATABASES") == databases:
                self.assertIsNone(child.poll(), "it ended before it was killed")
                time.sleep(0.05)
            child.kill()
            child.communicate(timeout=60)
            self.assertNotEqual(server.sql("SHOW DATABASES"), databases)
            self.run_it(variables)
            self.assertIn("Interrupted during: InnoDB oltp_point_select", self.only("report_*.md").read_text())
            self.assertEqual(server.sql("SHOW DATABASES"), databases)


class WithCharts(SqlbenchCase):
    def test_a_time_below_the_interval_as_a_new_user_would_run_it(self):
        """The default REPORT_INTERVAL, and charts."""
        variables = {name: value for name, value in _SCALED.items() if name not in ("PLOT", "REPORT_INTERVAL")}
        said = self.run_it({**variables, "ENGINES": "InnoDB", "WORKLOADS": "oltp_point_select",
                            "DATA_DIR": str(self.base / "data")})
        self.assertIn("no interval of a run ended", said)
        self.assertTrue((self.only("charts_*") / "oltp_point_select_tps_bar.png").exists())


@unittest.skipIf(_HERE or not _PLUGIN, "this is for a server of another release, with TIDESDB_PLUGIN")
class OfAnotherRelease(SqlbenchCase):
    def test_a_server_of_sqlbench_s_own_with_its_data_elsewhere(self):
        """The data is in a directory that roots do not share."""
        elsewhere = Path(tempfile.mkdtemp(prefix="sqlbench-test-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, elsewhere, ignore_errors=True)
        self.run_it({**_SCALED, "WORKLOADS": "oltp_write_only", "INNODB_COMPRESSION": "LZ4",
                     "DATA_DIR": str(elsewhere / "data")})
        self.check_rates(self.table("summary"))
        self.assertEqual(len(self.table("summary")), 2)


if __name__ == "__main__":
    unittest.main()
