#!/usr/bin/env python3
"""Runs iibench against a private server: every step, and each of its checks and counts made to fail.

Usage: lab/tests/iibench_test.py [unittest's options]
Environment: see lab_server.py. With TIDESDB_PLUGIN the steps run on TidesDB too.
"""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab_server  # noqa: E402
from installer.shell import Unavailable  # noqa: E402
from lab.server import cgroup  # noqa: E402
from lab_server import FAILED, INCONSISTENT, OK, SERVER_LOST, UNEXPECTED_ERRORS  # noqa: E402

STEPS = "l.i0,l.x,l.i1,l.i2,qr200,qp200"
SMALL = ["--load-rows", "3000", "--i1-rows", "1020", "--i2-rows", "202", "--query-seconds", "1"]
COLUMNS = "cashregisterid, customerid, productid, price, data"


class IibenchTest(unittest.TestCase):
    """One server. Tests that need a table make it; tests that break one use a separate database."""

    @classmethod
    def setUpClass(cls):
        cls.server = lab_server.LabServer(lab_server.environment(), ["--innodb-lock-wait-timeout=1"])
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        cls.files = tempfile.mkdtemp(prefix="iibench-test-")
        cls.addClassCleanup(shutil.rmtree, cls.files, True)
        cls.result_path = os.path.join(cls.files, "result.json")
        done = cls.iibench("run", "--phases", "l.i0,l.x", "--load-rows", "3000", "--no-check")
        if done.returncode != OK:
            raise RuntimeError(done.stdout + done.stderr)

    @classmethod
    def iibench(cls, name, *options):
        return subprocess.run(cls.server.iibench(name, *options), capture_output=True, text=True, check=False,
                              timeout=120)

    def start(self, *options):
        """Starts a run in the background, and returns after its first insert."""
        if os.path.exists(self.result_path):
            os.remove(self.result_path)
        before = self.high()
        run = subprocess.Popen(self.server.iibench("run", "--json", self.result_path, *options),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(run.kill)
        while self.high() == before:
            self.assertIsNone(run.poll())
            time.sleep(0.05)
        return run

    def finish(self, run):
        """Its output and its result."""
        said = run.communicate(timeout=120)[0]
        with open(self.result_path, encoding="utf-8") as file:
            return said, json.load(file)

    def high(self):
        return self.server.value("SELECT MAX(transactionid) FROM iibench.pi1")

    def assert_exit(self, done, code):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)

    # Every step.

    def all_steps(self, engine):
        result_path = os.path.join(self.files, f"{engine}.json")
        timeline_path = os.path.join(self.files, f"{engine}.csv")
        database = f"steps_{engine.lower()}"
        done = self.iibench("run", "--db", database, "--engine", engine, "--clients", "2", "--phases", STEPS, *SMALL,
                            "--json", result_path, "--timeline", timeline_path, "--progress", "1")
        self.assert_exit(done, OK)
        self.assertRegex(done.stdout, r"(?m)^  qr200 1 s .*left: \d+ s$")
        with open(result_path, encoding="utf-8") as file:
            result = json.load(file)
        self.assertEqual(result["server"]["engine"], engine)
        self.assertEqual(result["errors"], [])
        phases = {phase["name"]: phase for phase in result["phases"]}
        self.assertEqual(",".join(phases), STEPS)
        self.assertTrue(all(phase["complete"] for phase in result["phases"]))
        counted = {name: (phase["inserted"], phase["deleted"]) for name, phase in phases.items()}
        self.assertEqual(counted["l.i0"], (6000, 0))
        self.assertEqual(counted["l.i1"], (2040, 2040))
        self.assertEqual(counted["l.i2"], (404, 404))
        self.check_operations(phases)
        self.check_timeline(result, timeline_path)
        left = sum(inserted - deleted for inserted, deleted in counted.values())
        tables = result["rows_check"]["tables"]
        self.assertEqual(sum(table["expected"] for table in tables), left)
        for table in tables:
            # Each index was read, none skipped.
            self.assertEqual(len(table["rows"]), 4)
            self.assertEqual(set(table["rows"].values()), {table["expected"]})
            self.assertEqual(int(self.server.value(f"SELECT COUNT(*) FROM {database}.{table['table']}")),
                             table["expected"])
        self.assert_exit(self.iibench("check", "--db", database), OK)
        self.assert_exit(self.iibench("drop", "--db", database), OK)
        self.assertEqual(self.server.value(f"SHOW DATABASES LIKE '{database}'"), "")

    def check_operations(self, phases):
        kinds = {name: set(phase["operations"]) for name, phase in phases.items()}
        writes = {"insert", "find_low", "delete"}
        self.assertEqual(kinds, {"l.i0": {"insert"}, "l.x": {"create_index"}, "l.i1": writes, "l.i2": writes,
                                 "qr200": writes | {"range_query"}, "qp200": writes | {"point_query"}})
        self.assertEqual(phases["l.i1"]["operations"]["insert"]["count"], 2 * 21)  # 20 of 50 rows, one of 20.
        self.assertEqual(phases["l.i2"]["operations"]["delete"]["rows"], 404)
        self.assertGreater(phases["qr200"]["operations"]["range_query"]["rows"], 0)
        for phase in phases.values():
            for entry in phase["operations"].values():
                for less, more in (("p50_us", "p99_us"), ("p99_us", "p999_us"), ("p999_us", "max_us")):
                    self.assertLessEqual(entry[less], entry[more])

    def check_timeline(self, result, path):
        with open(path, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for phase in result["phases"]:
            for name, entry in phase["operations"].items():
                of_it = [row for row in rows if (row["phase"], row["operation"]) == (phase["name"], name)]
                self.assertEqual(sum(int(row["rows"]) for row in of_it), entry["rows"])
                self.assertEqual(max(int(row["max_us"]) for row in of_it), entry["max_us"])
            self.assertEqual(len(phase["timeline"]["rows"]),
                             sum(row["phase"] == phase["name"] for row in rows))

    def test_all_steps_on_innodb(self):
        self.all_steps("InnoDB")

    @unittest.skipUnless(os.environ.get("TIDESDB_PLUGIN"), "TIDESDB_PLUGIN names no plugin")
    def test_all_steps_on_tidesdb(self):
        self.all_steps("TidesDB")

    def test_the_same_seed_makes_the_same_rows(self):
        sums = []
        for seed in ("7", "7", "8"):
            done = self.iibench("run", "--db", "seeded", "--replace", "--seed", seed, "--phases", "l.i0,l.i1", *SMALL,
                                "--no-check")
            self.assert_exit(done, OK)
            sums.append(self.server.value(f"SELECT SUM(CRC32(CONCAT_WS(',', {COLUMNS}))) FROM seeded.pi1"))
        self.assertEqual(sums[0], sums[1])
        self.assertNotEqual(sums[0], sums[2])

    # What is counted, and the checks.

    def test_rows_that_somebody_else_took_or_gave_are_found(self):
        for change, difference in (("DELETE FROM iibench.pi1 WHERE transactionid = {middle}", -1),
                                   (f"INSERT INTO iibench.pi1 ({COLUMNS}) VALUES (1, 1, 1, 1, 'x')", 1)):
            with self.subTest(change):
                run = self.start("--phases", "qp100", "--query-seconds", "2")
                middle = self.server.value("SELECT (MIN(transactionid) + MAX(transactionid)) DIV 2 FROM iibench.pi1")
                self.server.sql(change.format(middle=middle))
                said, result = self.finish(run)
                self.assertEqual(run.returncode, INCONSISTENT, said)
                self.assertIn("BROKEN", said)
                table = result["rows_check"]["tables"][0]
                self.assertEqual({rows - table["expected"] for rows in table["rows"].values()}, {difference})
                self.assertEqual(len(table["faults"]), 4)
        self.assert_exit(self.iibench("check"), OK)

    def test_a_stall_is_a_missed_target(self):
        run = self.start("--phases", "qr500", "--query-seconds", "4", "--no-check")
        self.server.sql("FLUSH TABLES WITH READ LOCK; DO SLEEP(1.5)")
        said, result = self.finish(run)
        self.assertEqual(run.returncode, OK, said)
        phase = result["phases"][0]
        self.assertEqual(phase["target"]["rows_per_s"], 500)
        self.assertGreaterEqual(phase["target"]["batches_late"], 10)
        self.assertGreaterEqual(phase["target"]["missed_seconds"], 2)
        self.assertGreater(phase["target"]["behind_max_us"], 1_000_000)
        self.assertGreater(phase["operations"]["insert"]["max_us"], 1_000_000)
        # It has caught up: all due batches are done.
        self.assertGreaterEqual(phase["target"]["batches_done"], phase["target"]["batches_due"])
        self.assertRegex(said, r"target 500 rows/s, reached \d+; \d+ of \d+ batches late")

    def test_a_lock_wait_timeout_is_counted_and_tried_again(self):
        holder = subprocess.Popen(self.server.reading_client(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.addCleanup(holder.kill)
        holder.stdin.write("BEGIN; SELECT MIN(transactionid) FROM iibench.pi1 INTO @low;"
                           "SELECT 1 FROM iibench.pi1 WHERE transactionid = @low FOR UPDATE;\n")
        holder.stdin.flush()
        # Asked more often than every 0.1 s, innodb_trx gives the same answer forever.
        while self.server.value("SELECT COALESCE(SUM(trx_rows_locked), 0) FROM information_schema.innodb_trx") == "0":
            time.sleep(0.2)
        run = self.start("--phases", "l.i2", "--i2-rows", "50")
        time.sleep(2)  # Twice the server's lock wait timeout.
        holder.communicate()
        said, result = self.finish(run)
        self.assertEqual(run.returncode, OK, said)
        self.assertEqual([error["code"] for error in result["errors"]], [1205])
        self.assertEqual(result["phases"][0]["deleted"], 50)
        self.assertGreaterEqual(result["phases"][0]["operations"]["delete"]["failed"], 1)

    def test_an_error_that_does_not_go_away_ends_the_run(self):
        done = self.iibench("run", "--phases", "l.i1,qp100", *SMALL[2:], "--json", self.result_path, "--session-sql",
                            "SET SESSION tx_read_only = 1")
        self.assert_exit(done, UNEXPECTED_ERRORS)
        with open(self.result_path, encoding="utf-8") as file:
            result = json.load(file)
        self.assertEqual({error["code"] for error in result["errors"]}, {1792})
        self.assertEqual([(phase["name"], phase["complete"]) for phase in result["phases"]], [("l.i1", False)])

    def test_a_signal_ends_a_run_in_order(self):
        run = self.start("--phases", "l.i1,l.i2", "--i1-rows", "100000000")
        run.send_signal(signal.SIGINT)
        said, result = self.finish(run)
        self.assertEqual(run.returncode, OK, said)
        self.assertTrue(result["interrupted"])
        self.assertEqual([(phase["name"], phase["complete"]) for phase in result["phases"]], [("l.i1", False)])
        self.assertEqual(result["rows_check"]["tables"][0]["faults"], [])

    def test_a_limit_in_seconds_ends_a_step(self):
        done = self.iibench("run", "--phases", "l.i1", "--i1-rows", "100000000", "--write-seconds", "1",
                            "--json", self.result_path)
        self.assert_exit(done, OK)
        with open(self.result_path, encoding="utf-8") as file:
            phase = json.load(file)["phases"][0]
        self.assertTrue(phase["complete"])
        self.assertLess(phase["inserted"], 100000000)
        self.assertLessEqual(phase["inserted"] - phase["deleted"], 8 * 50)

    def test_zz_a_killed_server_is_said(self):
        run = self.start("--phases", "qr100", "--query-seconds", "600")
        self.server.kill()
        said, result = self.finish(run)
        self.assertEqual(run.returncode, SERVER_LOST, said)
        self.assertTrue(result["server_lost"])
        self.assertIsNone(result["rows_check"])
        self.server.start()

    # What cannot run.

    def test_what_cannot_run_is_refused(self):
        refused = {
            "--replace": ("--phases", "l.i0"),  # There are tables.
            "NoSuchEngine": ("--db", "other", "--engine", "NoSuchEngine"),
            "'l.i7' is unknown": ("--phases", "l.i7"),
            "seed-001-deletes": ("--profile", "none"),
            "run l.i0 first": ("--phases", "l.i1", "--clients", "2"),
            "has its indexes already": ("--phases", "l.x"),
            "goes with l.i0": ("--phases", "l.i1", "--replace"),
            "no end": ("--phases", "l.i1", "--i1-rows", "0"),
        }
        for said, options in refused.items():
            with self.subTest(said):
                done = self.iibench("run", *options)
                self.assert_exit(done, FAILED)
                self.assertIn(said, done.stderr)

    def test_range_queries_want_the_indexes(self):
        self.assert_exit(self.iibench("run", "--db", "bare", "--phases", "l.i0", "--load-rows", "100"), OK)
        done = self.iibench("run", "--db", "bare", "--phases", "qr100")
        self.assert_exit(done, FAILED)
        self.assertIn("run l.x", done.stderr)

    def test_a_missing_server_is_said(self):
        done = subprocess.run([lab_server.IIBENCH, "check", "-S", os.path.join(self.files, "nothing.sock")],
                              capture_output=True, text=True, check=False)
        self.assert_exit(done, SERVER_LOST)
        self.assertIn("nothing.sock", done.stderr)


class MemoryLimitTest(unittest.TestCase):
    def test_a_server_below_a_limit(self):
        limit = 256 << 20
        try:
            group = cgroup.MemoryGroup("iibench-test", limit).__enter__()
        except Unavailable as error:
            self.skipTest(str(error))
        self.addCleanup(group.remove)
        with lab_server.LabServer(lab_server.environment(), within=group.command) as server:
            self.assertIn(server.pid(), group.processes())
            done = subprocess.run(server.iibench("run", "--phases", "l.i0,l.x", "--load-rows", "20000", "-q"),
                                  capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual(done.returncode, OK, done.stdout + done.stderr)
            usage = group.usage()
        self.assertEqual(usage.limit, limit)
        self.assertLessEqual(usage.current, limit)
        self.assertGreater(usage.anonymous, 20 << 20)
        self.assertEqual(usage.oom_kills, 0)


if __name__ == "__main__":
    if lab_server.environment() is None:
        sys.exit("no MariaDB server is installed, and TIDESDB_SERVER names none")
    unittest.main(verbosity=2)
