"""Tests of lab/works/sysbench_output: recorded outputs are read, every other text is refused with its place."""

import unittest

from lab.tests import cases
from lab.works import sysbench_output as sysbench


# Recorded on Debian 12 with MariaDB 10.11.18 and sysbench 1.0.20+ds-5, on Debian 13 with 11.8.6 and 1.0.20+ds-7.
RELEASES = ("", "debian13-")


def recorded(name, release=""):
    return cases.recorded(f"sysbench-1.0.20-{release}{name}.txt")


def of_both(name):
    return [recorded(name, release) for release in RELEASES]


class Finished(unittest.TestCase):
    def test_the_summary(self):
        run = sysbench.parse(recorded("errors"))
        self.assertEqual((run.version, run.threads), ("1.0.20", 8))
        self.assertEqual((run.reads, run.writes, run.other, run.queries), (20076, 5122, 2651, 27849))
        self.assertEqual((run.transactions, run.tps, run.qps), (1217, 302.30, 6917.56))
        self.assertEqual((run.errors, run.reconnects, run.total_s), (217, 0, 4.0255))
        self.assertEqual(run.latency, sysbench.Latency(1.25, 26.29, 364.93, 31994.12, 95, 104.84))
        self.assertAlmostEqual(run.reads_per_s, 20076 / 4.0255)
        self.assertAlmostEqual(run.writes_per_s, 5122 / 4.0255)

    def test_the_summary_of_debian_13(self):
        run = sysbench.parse(recorded("errors", "debian13-"))
        self.assertEqual((run.version, run.threads), ("1.0.20", 8))
        self.assertEqual((run.reads, run.writes, run.other, run.queries), (32228, 2837, 2795, 37860))
        self.assertEqual((run.transactions, run.tps, run.qps), (493, 161.78, 12423.77))
        self.assertEqual((run.errors, run.reconnects, run.total_s), (1809, 0, 3.0469))
        self.assertEqual(run.latency, sysbench.Latency(4.80, 48.95, 411.77, 24132.16, 95, 164.45))
        self.assertEqual(run.intervals[0], sysbench.Interval(1, 8, 151.78, 11781.11, 10044.60, 864.76, 871.75, 95, 147.61,
                                                             561.20, 0.0))

    def test_rates_are_counts_by_time(self):
        for text in [text for name in ("read_write", "errors", "no_percentile", "p99") for text in of_both(name)]:
            run = sysbench.parse(text)
            self.assertAlmostEqual(run.transactions / run.total_s, run.tps, delta=run.tps / 1000)
            self.assertAlmostEqual(run.queries / run.total_s, run.qps, delta=run.qps / 1000)
            self.assertEqual(run.reads + run.writes + run.other, run.queries)

    def test_the_intervals(self):
        run = sysbench.parse(recorded("errors"))
        self.assertEqual([interval.second for interval in run.intervals], [1, 2, 3])
        self.assertEqual(run.intervals[0], sysbench.Interval(1, 8, 193.84, 4607.50, 3349.44, 824.77, 433.29, 95, 186.54,
                                                             38.01, 0.0))
        reconnecting = recorded("errors").replace("reconn/s: 0.00", "reconn/s: 1.50", 1)
        self.assertEqual(sysbench.parse(reconnecting).intervals[0].reconnects, 1.5)

    def test_the_intervals_average_is_that_of_the_whole_and_not_p95(self):
        for text in of_both("read_write"):
            run = sysbench.parse(text)
            ended = sum(interval.tps for interval in run.intervals)
            mean = sum(interval.latency_avg_ms * interval.tps for interval in run.intervals) / ended
            self.assertAlmostEqual(mean, run.latency.avg_ms, delta=run.latency.avg_ms * 0.02)
            self.assertTrue(all(interval.latency_avg_ms < interval.latency_ms for interval in run.intervals))

    def test_an_interval_in_which_nothing_ended_has_no_average(self):
        line = "[ 10s ] thds: 4 tps: 0.00 qps: 0.00 (r/w/o: 0.00/0.00/0.00) lat (ms,95%): 0.00 err/s: 0.00 reconn/s: 0.00"
        self.assertIsNone(sysbench.parse_interval(line).latency_avg_ms)
        self.assertIsNone(sysbench.parse_interval("Threads started!"))

    def test_percentiles_of_the_histogram(self):
        for text in [*of_both("read_write"), *of_both("errors")]:
            run = sysbench.parse(text)
            self.assertEqual(sum(count for _, count in run.histogram), run.transactions)
            self.assertAlmostEqual(run.percentile(95), run.latency.percentile_ms, places=2)
            self.assertAlmostEqual(run.percentile(100), run.latency.max_ms, delta=run.latency.max_ms * 0.02)
            self.assertAlmostEqual(run.percentile(0), run.latency.min_ms, delta=run.latency.min_ms * 0.02)
        self.assertIsNone(sysbench.parse(recorded("p99")).percentile(50))

    def test_another_percentile_and_none(self):
        for text in of_both("p99"):
            run = sysbench.parse(text)
            self.assertEqual((run.latency.percent, run.intervals), (99, []))
        for text in of_both("no_percentile"):
            run = sysbench.parse(text)
            self.assertEqual((run.latency.percent, run.latency.percentile_ms), (0, 0.0))


class Refused(unittest.TestCase):
    def refuse(self, text, pattern):
        cases.refused(self, sysbench.parse, "raw.txt", (text, pattern))

    def test_empty(self):
        self.refuse("", "^raw.txt: is empty")
        self.refuse(" \n", "^raw.txt: is empty")

    def test_foreign(self):
        self.refuse("Vuser 1:TEST RESULT\n", "^raw.txt:1: is not output of sysbench: it begins with 'Vuser 1")
        self.refuse("sysbench 0.4.12: multi-threaded\n", "^raw.txt:1: is of sysbench 0.4.12")

    def test_of_a_sysbench_that_crashed(self):
        for text, last in zip(of_both("crashed"), (13, 14)):
            self.refuse(text, rf"^raw.txt:{last}: is cut off: sysbench's count of read queries is missing")

    def test_of_a_sysbench_that_failed(self):
        for text in of_both("fatal"):
            self.refuse(text, r"^raw.txt:13: sysbench failed: mysql_drv_query\(\) returned error 1146")
