#!/usr/bin/env python3
"""Runs tpcc against a private InnoDB server: build, run, check, verify-log, and each check made to fail.

Usage: lab/tests/tpcc_test.py [unittest's options]
Environment: see lab_server.py.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import lab_server  # noqa: E402
from lab_server import FAILED, INCONSISTENT, OK, SERVER_LOST  # noqa: E402

# information_schema.innodb_trx refreshes only if nobody has asked for 0.1 s. Asked more often, it gives the same answer
# forever.
INNODB_TRX_FRESH_S = 0.2

# For each condition: a change that breaks it, and one that reverts that. All are in warehouse 1.
BREAKS = {
    "1": ("UPDATE warehouse SET w_ytd = w_ytd + 0.01",
          "UPDATE warehouse SET w_ytd = w_ytd - 0.01"),
    "2": ("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 4",
          "UPDATE district SET d_next_o_id = d_next_o_id - 1 WHERE d_id = 4"),
    "3": ("DELETE FROM new_order WHERE no_d_id = 5 AND no_o_id = 2999",
          "INSERT INTO new_order VALUES (1, 5, 2999)"),
    "4": ("UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 6 AND o_id = 100",
          "UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_d_id = 6 AND o_id = 100"),
    "5": ("UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 7 AND o_id = 101",
          "UPDATE orders SET o_carrier_id = 3 WHERE o_d_id = 7 AND o_id = 101"),
    # Two orders, so that the district's sum of condition 4 stays right.
    "6": ("UPDATE orders SET o_ol_cnt = o_ol_cnt + IF(o_id = 5, 1, -1) WHERE o_d_id = 8 AND o_id IN (5, 6)",
          "UPDATE orders SET o_ol_cnt = o_ol_cnt - IF(o_id = 5, 1, -1) WHERE o_d_id = 8 AND o_id IN (5, 6)"),
    "7": ("UPDATE order_line SET ol_delivery_d = NULL WHERE ol_d_id = 9 AND ol_o_id = 7 AND ol_number = 1",
          "UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_d_id = 9 AND ol_o_id = 7 AND ol_number = 1"),
    "8": ("UPDATE history SET h_amount = h_amount + 1 WHERE h_d_id = 1 LIMIT 1",
          "UPDATE history SET h_amount = h_amount - 1 WHERE h_d_id = 1 AND h_amount = 11"),
    "9": ("UPDATE district SET d_ytd = d_ytd + IF(d_id = 2, 5, -5) WHERE d_id IN (2, 3)",
          "UPDATE district SET d_ytd = d_ytd - IF(d_id = 2, 5, -5) WHERE d_id IN (2, 3)"),
    "11": ("UPDATE district SET d_next_o_id = 3002 WHERE d_id = 10;"
           "INSERT INTO orders VALUES (3001, 1, 10, 1, 1, 0, 1, NOW())",
           "UPDATE district SET d_next_o_id = 3001 WHERE d_id = 10; DELETE FROM orders WHERE o_id = 3001"),
    "balance": ("UPDATE customer SET c_balance = c_balance - 0.01 WHERE c_d_id = 1 AND c_id = 77",
                "UPDATE customer SET c_balance = c_balance + 0.01 WHERE c_d_id = 1 AND c_id = 77"),
    "rows": ("DELETE FROM item WHERE i_id = 100000",
             "INSERT INTO item VALUES (100000, 1, 'x', 1, 'x')"),
}
# Other conditions that a change must break too; all the rest must still hold.
ALSO = {"1": {"8"}, "8": {"9", "balance"}, "4": {"6"}, "3": {"5", "11"}, "5": {"7"}, "11": {"2"}}


class TpccTest(unittest.TestCase):
    """One server and one loaded database for all tests; those that change it take it back or run last."""

    @classmethod
    def setUpClass(cls):
        cls.server = lab_server.LabServer(lab_server.environment(), ["--innodb-lock-wait-timeout=1"])
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        cls.files = tempfile.mkdtemp(prefix="tpcc-test-files-")
        cls.addClassCleanup(shutil.rmtree, cls.files, True)
        # Made by somebody else before, with a character set that is not the tables'.
        cls.server.sql("CREATE DATABASE tpcc CHARACTER SET utf8mb4")
        done = cls.tpcc("build", "-w", "1", "--build-vu", "2")
        if done.returncode != OK:
            raise RuntimeError(done.stdout + done.stderr)

    @classmethod
    def command(cls, name, *options):
        return cls.server.tpcc(name, *options)

    @classmethod
    def tpcc(cls, name, *options):
        return subprocess.run(cls.command(name, *options), capture_output=True, text=True, check=False, timeout=300)

    def change(self, statements):
        return self.server.sql("USE tpcc; " + statements)

    def path(self, name):
        return os.path.join(self.files, name)

    def assert_exit(self, done, code):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)

    def run_measured(self, *options):
        """A short run; returns the process and its result."""
        result = self.path("result.json")
        if os.path.exists(result):
            os.remove(result)
        done = self.tpcc("run", "--vu", "2", "--rampup", "1", "--duration", "3", "--json", result, *options)
        with open(result, encoding="utf-8") as file:
            return done, json.load(file)

    def states(self, *options):
        """check's exit code, and the state of each condition."""
        done = self.tpcc("check", *options)
        return done.returncode, dict(re.findall(r"^  (\S+)\s+(holds|BROKEN|skipped)", done.stdout, re.M))

    # The tests run in the order of their names, those of the fresh load first.

    def test_a1_the_load_is_consistent(self):
        code, states = self.states("--after-load")
        self.assertEqual(code, OK)
        self.assertEqual(set(states.values()), {"holds"})
        self.assertEqual(len(states), 13)

    def test_a2_every_check_can_fail(self):
        for name, (damage, repair) in BREAKS.items():
            with self.subTest(condition=name):
                self.change(damage)
                code, states = self.states("--after-load")
                self.change(repair)
                broken = {check for check, state in states.items() if state == "BROKEN"}
                self.assertEqual(broken, {name} | ALSO.get(name, set()))
                self.assertEqual(code, INCONSISTENT)
        code, _ = self.states("--after-load")
        self.assertEqual(code, OK, "the repairs have left the database as it was")

    def test_a3_orphans_are_found(self):
        for name, table, values, condition in (
                ("a line without its order", "order_line", "(1, 1, 9999, 1, 1, NULL, 0, 1, 5, 'x')", "6"),
                ("a new order without its order", "new_order", "(1, 1, 2100)", "5")):
            with self.subTest(name):
                self.change(f"INSERT INTO {table} VALUES {values}")
                code, states = self.states()
                key = "ol_o_id = 9999" if table == "order_line" else "no_o_id = 2100"
                self.change(f"DELETE FROM {table} WHERE {key}")
                self.assertEqual(code, INCONSISTENT)
                self.assertEqual(states[condition], "BROKEN")

    def test_a4_a_database_with_tables_is_not_overwritten(self):
        done = self.tpcc("build", "-w", "1")
        self.assert_exit(done, FAILED)
        self.assertIn("--replace", done.stderr)

    def test_a5_an_unknown_engine_is_refused(self):
        done = self.tpcc("build", "-w", "1", "--db", "other", "--engine", "NoSuchEngine")
        self.assert_exit(done, FAILED)
        self.assertIn("NoSuchEngine", done.stderr)

    def test_a6_a_missing_server_is_said(self):
        done = subprocess.run([lab_server.TPCC, "check", "-S", self.path("nothing.sock")], capture_output=True, text=True,
                              check=False)
        self.assert_exit(done, SERVER_LOST)
        self.assertIn("nothing.sock", done.stderr)

    def test_b1_repeatable_read_keeps_the_balances(self):
        for _ in range(2):
            done, result = self.run_measured("--isolation", "rr")
            self.assert_exit(done, OK)
            states = {check["name"]: check["state"] for check in result["consistency"]["checks"]}
            self.assertEqual(states["balance"], "holds")
            self.assertLessEqual({error["code"] for error in result["errors"]}, {1213, 1205, 1020})

    def test_b2_a_run_reports_what_it_did(self):
        before = int(self.server.value("SELECT SUM(d_next_o_id) FROM tpcc.district"))
        done, result = self.run_measured("--isolation", "rc", "--timeline", self.path("timeline.csv"),
                                         "--label", "first")
        self.assert_exit(done, OK)
        after = int(self.server.value("SELECT SUM(d_next_o_id) FROM tpcc.district"))
        self.assertEqual(result["label"], "first")
        self.assertEqual(result["server"]["engine"], "InnoDB")
        new_orders = result["transactions"]["NEWORD"]
        committed = new_orders["count"] - new_orders["rolled_back"]
        # NOPM is from the server's tables, the count from the client. They differ by the transactions in flight
        # at the two samples, and on a busy machine by those that ran while the samples were taken.
        self.assertAlmostEqual(result["nopm"] / 60 * result["measured_s"], committed, delta=20 + committed / 5)
        # Every transaction ends in one COMMIT or ROLLBACK inside of its procedure.
        count = sum(entry["count"] for entry in result["transactions"].values())
        self.assertAlmostEqual(result["tpm"] / 60 * result["measured_s"], count, delta=20 + count / 5)
        rows = result["timeline"]["rows"]
        self.assertEqual(len(result["timeline"]["columns"]), len(rows[0]))
        # The timeline includes the ramp-up, and new orders that were rolled back.
        self.assertGreaterEqual(sum(row[1] for row in rows), after - before)
        for entry in result["transactions"].values():
            self.assertLessEqual(entry["p50_us"], entry["p95_us"])
            self.assertLessEqual(entry["p99_us"], entry["max_us"])
        with open(self.path("timeline.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 1 + 5 * len(rows))

    def test_b3_the_commit_log_of_a_whole_run_is_verified(self):
        log = self.path("whole.log")
        done, result = self.run_measured("--commit-log", log)
        self.assert_exit(done, OK)
        done = self.tpcc("verify-log", log)
        self.assert_exit(done, OK)
        self.assertIn("found beside them: 0 (in flight: at most 0)", done.stdout)
        with open(log, encoding="utf-8") as file:
            lines = file.readlines()
        self.assertEqual(lines[-1], "E\n")
        new_orders = result["transactions"]["NEWORD"]
        self.assertGreaterEqual(sum(line.startswith("N") for line in lines),
                                new_orders["count"] - new_orders["rolled_back"])
        self.check_that_losses_are_found(log, lines)

    def check_that_losses_are_found(self, log, lines):
        order = next(line for line in lines if line.startswith("N")).split()
        payment = next(line for line in lines if line.startswith("P")).split()
        delivery = next(line for line in lines if line.startswith("D") and ":" in line).split()
        d_id, o_id = delivery[4].split(",")[0].split(":")
        of_order = f"o_d_id = {order[3]} AND o_id = {order[4]}"
        of_lines = f"ol_d_id = {order[3]} AND ol_o_id = {order[4]}"
        of_payment = f"h_d_id = {payment[3]} AND h_amount = {payment[7]}"
        of_delivered = f"o_d_id = {d_id} AND o_id = {o_id}"
        of_delivered_lines = f"ol_d_id = {d_id} AND ol_o_id = {o_id}"
        # The table, a condition for its affected rows (to restore them), the change, which of these rows it changes.
        losses = {
            "a lost order": ("orders", of_order, "DELETE FROM orders", ""),
            "a lost line": ("order_line", of_lines, "DELETE FROM order_line", "LIMIT 1"),
            "a lost payment":
                ("history", of_payment, "DELETE FROM history", f"AND h_c_id = {payment[6]} LIMIT 1"),
            "another customer's payment":
                ("history", of_payment, "UPDATE history SET h_c_id = 3001", f"AND h_c_id = {payment[6]}"),
            "a lost delivery": ("orders", of_delivered, "UPDATE orders SET o_carrier_id = NULL", ""),
            "another carrier": ("orders", of_delivered, "UPDATE orders SET o_carrier_id = 77", ""),
            "half a delivery":
                ("order_line", of_delivered_lines, "UPDATE order_line SET ol_delivery_d = NULL", "LIMIT 1"),
            "more than was in flight":
                ("district", "d_id = 1", "UPDATE district SET d_next_o_id = d_next_o_id + 1", ""),
        }
        for name, (table, rows, change, which) in losses.items():
            with self.subTest(name):
                self.change(f"CREATE TABLE kept AS SELECT * FROM {table} WHERE {rows};"
                                f"{change} WHERE {rows} {which}")
                done = self.tpcc("verify-log", log)
                self.change(f"DELETE FROM {table} WHERE {rows}; INSERT INTO {table} SELECT * FROM kept;"
                                "DROP TABLE kept")
                self.assert_exit(done, INCONSISTENT)
        self.assert_exit(self.tpcc("verify-log", log), OK)

    def test_b4_a_log_is_not_overwritten(self):
        log = self.path("kept.log")
        with open(log, "w", encoding="utf-8") as file:
            file.write("witness\n")
        done = self.tpcc("run", "--duration", "1", "--commit-log", log)
        self.assert_exit(done, FAILED)
        self.assert_exit(self.tpcc("verify-log", log), FAILED)
        with open(log, encoding="utf-8") as file:
            self.assertEqual(file.read(), "witness\n")

    def test_c1_kill_9_loses_nothing_acknowledged(self):
        logs = []
        for round_ in range(2):
            logs.append(self.path(f"killed-{round_}.log"))
            run = subprocess.Popen(self.command("run", "--vu", "4", "--rampup", "0", "--duration", "60",
                                                "--commit-log", logs[-1]),
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            # After a number of commits instead of a time, so that a slow machine kills at the same depth.
            while not os.path.exists(logs[-1]) or os.path.getsize(logs[-1]) < 20000:
                self.assertIsNone(run.poll())
                time.sleep(0.01)
            self.server.kill()
            output = run.communicate(timeout=60)[0]
            self.assertEqual(run.returncode, SERVER_LOST, output)
            self.server.start()
            self.assert_exit(self.tpcc("verify-log", *logs), OK)
            self.assert_exit(self.tpcc("check"), OK)

    def test_d1_a_signal_ends_a_run_in_order(self):
        result = self.path("interrupted.json")
        log = self.path("interrupted.log")
        run = subprocess.Popen(self.command("run", "--vu", "2", "--rampup", "0", "--duration", "600",
                                            "--json", result, "--commit-log", log),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while not os.path.exists(log) or os.path.getsize(log) < 3000:
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        output = run.communicate(timeout=60)[0]
        self.assertEqual(run.returncode, OK, output)
        with open(result, encoding="utf-8") as file:
            self.assertTrue(json.load(file)["interrupted"])
        self.assert_exit(self.tpcc("verify-log", log), OK)

    def rows_locked(self):
        return int(self.server.value("SELECT COALESCE(SUM(trx_rows_locked), 0) FROM information_schema.innodb_trx"))

    def hold_districts(self):
        """A session that keeps every district locked until its client is ended."""
        holder = subprocess.Popen(self.server.reading_client(),
                                  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        holder.stdin.write("BEGIN; SELECT COUNT(*) FROM tpcc.district WHERE d_id > 0 FOR UPDATE;\n")
        holder.stdin.flush()
        while self.rows_locked() < 10:
            time.sleep(INNODB_TRX_FRESH_S)
        return holder

    def run_against_locks(self, *options):
        holder = self.hold_districts()
        try:
            return self.run_measured("--isolation", "rc", *options)
        finally:
            holder.kill()
            holder.communicate()
            while self.rows_locked() != 0:
                time.sleep(INNODB_TRX_FRESH_S)

    def test_e1_a_timeout_is_rolled_back(self):
        done, result = self.run_against_locks()
        self.assertEqual({error["code"] for error in result["errors"]}, {1205})
        self.assert_exit(done, OK)

    def test_e2_ignoring_errors_commits_halves(self):
        # The last test but one: it breaks the database for good. A payment that fails at its district leaves
        # w_ytd changed, and the next transaction's START TRANSACTION commits that.
        done, result = self.run_against_locks("--ignore-errors")
        self.assertEqual({error["code"] for error in result["errors"]}, {1205})
        self.assert_exit(done, INCONSISTENT)
        broken = {check["name"] for check in result["consistency"]["checks"] if check["state"] == "broken"}
        self.assertEqual(broken, {"1", "8"})

    def test_e3_a_customer_is_found_by_name_in_the_index(self):
        outputs = ",".join(f"@o{i}" for i in range(24))
        said = self.change("SET @id = 1, @name = 'BARBARBAR'; FLUSH STATUS; "
                           f"CALL PAYMENT(1, 1, 1, 1, @id, 1, 5, @name, {outputs}, NOW()); "
                           "SHOW STATUS LIKE 'Handler_read_next'")
        self.assertLess(int(said.split()[-1]), 100, "the scan walked a district's 3,000 customers")

    def test_f1_drop_drops(self):
        self.assert_exit(self.tpcc("drop"), OK)
        self.assertEqual(self.server.value("SHOW DATABASES LIKE 'tpcc'"), "")
        self.assert_exit(self.tpcc("drop"), OK)


if __name__ == "__main__":
    if lab_server.environment() is None:
        sys.exit("no MariaDB server is installed, and TIDESDB_SERVER names none")
    unittest.main(verbosity=2)
