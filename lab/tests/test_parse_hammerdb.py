"""Tests of lab/works/hammerdb_output: what 5.0, 6.0 and etprof of 4.12 wrote is read; other text is refused, by line."""

import unittest

from lab.base.errors import BadInput
from lab.observe import perf
from lab.runners.hammerdb import hammerdb_csv
from lab.tests.cases import recorded, refused
from lab.works import hammerdb_output as hammerdb
from lab.works import tpcc_output as tpcc

class RunLog(unittest.TestCase):
    def test_both_versions(self):
        for version, nopm, tpm in (("5.0", 8834, 20928), ("6.0", 8750, 20059)):
            log = hammerdb.run_log(recorded(f"hammerdb-{version}/hammerdb.log"), "x.log")
            self.assertEqual((log.nopm, log.tpm, log.users, log.server_version), (nopm, tpm, 2, "10.11.18"))
            self.assertEqual((sum(log.errors.values()), log.failed_users), (0, ()))

    def test_the_result_with_tpm_first(self):
        log = hammerdb.run_log("Vuser 1:TEST RESULT : System achieved 20928 MariaDB TPM at 8834 NOPM\n", "x.log")
        self.assertEqual((log.nopm, log.tpm), (8834, 20928))

    def test_what_users_say_of_errors_is_counted(self):
        text = recorded("hammerdb-5.0/hammerdb.log")
        message = "Deadlock found when trying to get lock; try restarting transaction"
        text = text.replace("Vuser 1:Test complete", f"Vuser 2:{message}\nVuser 3:{message}\nVuser 1:Test complete")
        text += "Error in Virtual User 3: Payment : gone away\nVuser 3:FINISHED FAILED\n"
        log = hammerdb.run_log(text, "x.log")
        self.assertEqual(log.errors, {message: 2, "Payment : gone away": 1})
        self.assertEqual(log.failed_users, (3,))

    def test_etprof_s_blocks_are_no_errors(self):
        self.assertFalse(hammerdb.run_log(recorded("hammerdb-4.12/etprof.log"), "x.log").errors)

    def test_other_texts(self):
        text = recorded("hammerdb-5.0/hammerdb.log")
        refused(self, hammerdb.run_log, "x.log",
                ("", "x.log:1: is empty"), ("sysbench 1.0.20\n", "x.log:1: is not a log of HammerDB"),
                (text[:text.index("TEST RESULT")], r"x.log:\d+: ends without a TEST RESULT"))


class Latencies(unittest.TestCase):
    def test_json_of_both_versions(self):
        for version, average, p95 in (("5.0", 7.249, 16.034), ("6.0", 7.505, 17.246)):
            read = hammerdb.latency_json(recorded(f"hammerdb-{version}/timing.json"), "t.json")
            self.assertEqual(set(read), set(hammerdb.TRANSACTIONS))
            self.assertEqual((read["NEWORD"].avg_ms, read["NEWORD"].p95_ms), (average, p95))

    def test_the_text_says_what_the_json_says(self):
        for version in ("5.0", "6.0"):
            said = hammerdb.latency_json(recorded(f"hammerdb-{version}/timing.json"), "t.json")
            read = hammerdb.profile(recorded(f"hammerdb-{version}/hdbxtprofile.log"), "p.log")
            for name in hammerdb.TRANSACTIONS:
                self.assertEqual((read.summary[name].avg_ms, read.summary[name].p95_ms),
                                 (said[name].avg_ms, said[name].p95_ms))

    def test_calls_are_counted_once(self):
        read = hammerdb.profile(recorded("hammerdb-5.0/hdbxtprofile.log"), "p.log")
        self.assertEqual(read.users[2]["NEWORD"].calls + read.users[3]["NEWORD"].calls, 8976)
        self.assertEqual(read.summary["NEWORD"].calls, 8976)  # The log says 17952.
        self.assertEqual(hammerdb.profile(recorded("hammerdb-6.0/hdbxtprofile.log"), "p.log").summary["NEWORD"].calls,
                         9004)

    def test_other_texts(self):
        text = recorded("hammerdb-6.0/timing.json")
        refused(self, hammerdb.latency_json, "t.json", ("", "t.json: is empty"), ("[]", "t.json:1: holds no"),
                (text[:500], r"t.json:\d+: is not JSON, or cut off"),
                ('{"NEWORD": {"calls": "1"}}', "t.json:1: lacks a part of 'NEWORD'"))
        text = recorded("hammerdb-6.0/hdbxtprofile.log")
        refused(self, hammerdb.profile, "p.log",
                ("", "p.log:1: is empty"), ("HammerDB\n", "p.log:1: is not a time profile"),
                (text[:text.index(">>>>> SUMMARY")], r"p.log:\d+: ends before the summary"),
                (text[:text.rindex("P99")], r"p.log:\d+: OSTAT lacks P50, P95, P99"))

    def test_the_blocks_of_etprof(self):
        series = hammerdb.windows(recorded("hammerdb-4.12/etprof.log"), "e.log")
        self.assertEqual(set(series), set(hammerdb.TRANSACTIONS))
        first = series["NEWORD"][0]
        self.assertEqual(str(first.begin), "2026-11-22 12:44:02")
        self.assertLess(first.p50_us, first.p95_us)
        self.assertEqual(hammerdb.windows(recorded("hammerdb-5.0/hammerdb.log"), "x"), {})


class Counter(unittest.TestCase):
    def test_each_version(self):
        read = hammerdb.transaction_counts(recorded("hammerdb-5.0/hdbtcount.log"), "c.log")
        self.assertEqual(read[0], (10, 16332))
        self.assertEqual(len(read), 6)
        with_times = hammerdb.transaction_counts(recorded("hammerdb-4.12/hdbtcount.log"), "c.log", interval_s=1)
        self.assertEqual(with_times[:2], [(10, 21732), (20, 22596)])

    def test_other_texts(self):
        text = recorded("hammerdb-6.0/hdbtcount.log")
        refused(self, hammerdb.transaction_counts, "c.log", ("", "c.log:1: is empty"), ("a,b\n", "c.log:1: is not a log"),
                (text[:-4], "c.log:9: '24198 MariaDB ' is not a reading"))


class Queries(unittest.TestCase):
    def test_both_versions(self):
        for version, total in (("5.0", 5), ("6.0", 3)):
            read = hammerdb.queries(recorded(f"hammerdb-{version}/tproch.log"), "h.log")
            self.assertEqual((len(read.seconds), read.total_s), (22, total))
            self.assertGreater(read.geomean_s, 0.001)
            self.assertFalse(read.errors)

    def test_a_query_that_failed_is_counted(self):
        message = "mariaexec/db server: Unknown column 'inf' in 'SELECT'"
        text = recorded("hammerdb-6.0/tproch.log")
        self.assertEqual(hammerdb.queries(f"{text}\nVuser 1:{message}\n", "h.log").errors, {message: 1})
        text = text[:text.index("query 12 ")] + f"\nError in Virtual User 1: Query Error : {message}\n"
        with self.assertRaisesRegex(BadInput, "without the queries 12; the first error: .*Unknown column 'inf'"):
            hammerdb.queries(text, "h.log")

    def test_other_texts(self):
        text = recorded("hammerdb-6.0/tproch.log")
        refused(self, hammerdb.queries, "h.log",
                ("", "h.log:1: holds no query"),
                (text[:text.index("query 12 ")], "without the queries 12$"),
                (text[:text.index("Completed 1")], "before the query set of Vuser 1 was complete"))


class Perf(unittest.TestCase):
    def test_the_top_eight(self):
        for version, symbol in (("6.1", "MYSQLparse"), ("6.12", "Item_func_sha2::val_str_ascii(String*)")):
            spots = perf.report(recorded(f"perf-{version}.txt"), "perf.txt")
            self.assertEqual(len(spots), 8)
            self.assertEqual(spots[0].symbol, perf.NO_SYMBOL)
            self.assertIn(("mariadbd", symbol), {(s.object, s.symbol) for s in spots})
            self.assertEqual([s.percent for s in spots], sorted((s.percent for s in spots), reverse=True))

    def test_other_texts(self):
        text = recorded("perf-6.1.txt")
        refused(self, perf.report, "perf.txt", ("", "perf.txt:1: is empty"), ("x\n", "perf.txt:1: is not a report"),
                (text[:text.index("     2.52%")], "names no function"))


class Timeline(unittest.TestCase):
    TEXT = "second,transaction,count,errors,mean_us,max_us\n" + "".join(
        f"{second},{name},{count},0,2000,{9000 + second}\n" for second in range(1, 24)
        for name, count in (("NEWORD", 10), ("SLEV", 1)))

    def test_rates_of_whole_intervals_only(self):
        seconds = tpcc.timeline(self.TEXT, "t.csv")
        self.assertEqual(tpcc.per_minute(seconds), [(10, 660), (20, 660)])
        self.assertEqual(tpcc.latency_windows(seconds, "NEWORD")[0], (10, 2.0, 9.01))

    def test_other_texts(self):
        refused(self, tpcc.timeline, "t.csv", ("", "t.csv:1: is empty"), ("a,b\n", "t.csv:1: is not a timeline"),
                (self.TEXT[:-12], r"t.csv:47: .* is not a line"))


class Csv(unittest.TestCase):
    HEADER = ",".join(hammerdb_csv.COLUMNS)
    # Of the documented form: 21 and 19 fields below 20 names.
    OLD_TPCC = "tpcc,tidesdb,68805,160223,40,8,1,2,,,95,5,2.1,5.33,1.2,3.1,9.0,17.26,,,"
    OLD_TPCH = "tpch,innodb,,,,1,,,1,1,300,60,,,,,,12.5,421.0"

    def test_an_old_file_is_read_as_it_was_meant(self):
        rows = hammerdb_csv.read(f"{self.HEADER}\n{self.OLD_TPCC}\n{self.OLD_TPCH}\n", "old.csv")
        self.assertEqual((rows[0]["nopm"], rows[0]["delivery_p95_ms"], rows[0]["tpch_total_sec"]), (68805, 17.26, None))
        self.assertEqual((rows[1]["tpch_geomean_sec"], rows[1]["tpch_total_sec"], rows[1]["delivery_p95_ms"]),
                         (12.5, 421.0, None))

    def test_what_is_written_is_read(self):
        row = {"benchmark": "tpcc", "engine": "tidesdb", "nopm": 68805, "neword_p95_ms": 5.33, "errors": 0,
               "consistent": True, "generator": "HammerDB 5.0"}
        text = hammerdb_csv.write([row])
        self.assertEqual({len(line.split(",")) for line in text.splitlines()}, {25})
        read = hammerdb_csv.read(text, "new.csv")[0]
        self.assertEqual((read["nopm"], read["neword_p95_ms"], read["consistent"], read["generator"], read["tpm"]),
                         (68805, 5.33, "yes", "HammerDB 5.0", None))

    def test_other_texts(self):
        refused(self, hammerdb_csv.read, "r.csv",
                ("", "r.csv:1: is empty"), ("a,b\n1,2\n", "r.csv:1: is not a result"),
                (f"{self.HEADER}\n", "r.csv:1: has only a header"),
                (f"{self.HEADER}\n{self.OLD_TPCC[:30]}\n", "r.csv:2: has 6 fields for 20 columns"),
                (f"{self.HEADER}\n{self.OLD_TPCC.replace('160223', 'many')}\n",
                 "r.csv:2: is damaged: tpm is 'many'"),
                (f"{self.HEADER}\nycsb,1\n", "r.csv:2: the benchmark 'ycsb'"),
                *((f"{self.HEADER}\n{self.OLD_TPCC.replace('tidesdb', name)}\n",
                   "r.csv:2: is damaged: engine is") for name in ("", "$x", "../x", "a\0b")))
