"""Samples of a process and of a server's status: rates, missing values, growth."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace

from installer.shell import TREE, Failed
from lab.observe.sampler import Disk, Sampler, Samples, StatusClient, allocated_bytes, is_gauge

# Answers like the command-line client in batch mode. The counter grows by two each time.
_CLIENT = """
import sys
asked = 0
for line in sys.stdin:
    asked += 1
    print(f"Com_commit\\t{asked * 2}")
    if "METRICS" in line:
        print(f"INNODB_METRICS: log_writes\\t{asked * 3}")
    print("Threads_running\\t3\\nSsl_cipher\\t\\nRpl_status\\tAUTH_MASTER\\nend-of-status", flush=True)
    if asked == int(sys.argv[1]):
        break
"""


def _client(answers=1000):
    return StatusClient([sys.executable, "-c", _CLIENT, str(answers)])


class SamplesTest(unittest.TestCase):
    def setUp(self):
        self.samples = Samples()
        for at, process, status in ((0.0, {"cpu seconds": 1.0, "disk bytes": 0, "resident bytes": 1 << 20},
                                     {"Com_commit": 10, "Innodb_pages_read": 5, "Odd": 3}),
                                    (1.0, {"cpu seconds": 1.5, "disk bytes": 2_000_000, "resident bytes": 2 << 20},
                                     {"Com_commit": 30, "Innodb_pages_read": 5, "Odd": 1}),
                                    (3.0, {}, {"Com_commit": 50, "Innodb_pages_read": 5, "Odd": 9, "Late": 1})):
            self.samples.add(at, process, status)

    def test_rates_are_of_the_time_between(self):
        series = {name: (unit, points) for name, unit, points in self.samples.series()}
        self.assertEqual(series["Com_commit"], ("1/s", [(1.0, 20.0), (3.0, 10.0)]))
        self.assertEqual(series["server CPU"], ("% of a CPU", [(1.0, 50.0)]))
        self.assertEqual(series["written by the disk"], ("MB/s", [(1.0, 2.0)]))
        self.assertEqual(series["resident memory"], ("MB", [(0.0, 1.0), (1.0, 2.0)]))
        self.assertEqual(series["Odd"], ("", [(0.0, 3), (1.0, 1), (3.0, 9)]))
        self.assertNotIn("Innodb_pages_read", series)

    def test_what_was_grown(self):
        self.assertEqual((self.samples.written_bytes, self.samples.cpu_s), (2_000_000, 0.5))
        self.assertEqual(self.samples.counters(), {"Com_commit": 40})

    def test_a_part_of_the_time_that_ends_between_samples(self):
        """20 per second until 1 s, then 10; 0.5 CPU seconds until 1 s, then unknown."""
        part = self.samples.between(0.5, 2.5)
        self.assertEqual((part.at, part.counters()["Com_commit"], part.cpu_s), ([0.5, 1.0, 2.5], 10 + 15, 0.25))
        self.assertEqual(part.written_bytes, 1_000_000)
        series = {name: points for name, _, points in part.series()}
        self.assertEqual(series["Com_commit"], [(1.0, 20.0), (2.5, 10.0)])

    def test_a_part_that_lies_between_two_samples(self):
        part = self.samples.between(0.25, 0.75)
        self.assertEqual((part.at, part.counters(), part.cpu_s), ([0.25, 0.75], {"Com_commit": 10}, 0.25))
        self.assertEqual(self.samples.between(1.0, 3.0).at, [1.0, 3.0])

    def test_what_there_is_has_no_value_between_samples(self):
        part = self.samples.between(0.5, 2.5)
        self.assertEqual((part.process["resident bytes"], part.status["Odd"]), ([None, 2 << 20, None], [None, 1, None]))
        self.assertIsNone(self.samples.between(0.25, 0.75).resident_most)

    def test_nothing_is_made_up_beyond_the_samples(self):
        self.assertEqual(self.samples.between(-1.0, 2.0).at, [0.0, 1.0, 2.0])
        self.assertEqual(self.samples.between(2.0, 9.0).at, [2.0, 3.0])
        for begin, end in ((-2.0, -1.0), (4.0, 5.0)):
            part = self.samples.between(begin, end)
            self.assertEqual((part.at, part.counters(), part.cpu_s, part.written_bytes), ([], {}, None, None))
        self.assertEqual(Samples().between(0.0, 1.0), Samples())

    def test_a_counter_that_was_not_to_be_had_for_a_while(self):
        self.samples.add(4.0, {"cpu seconds": 3.5}, {"Com_commit": 60})
        part = self.samples.between(2.0, 4.0)  # CPU seconds: 1.5 at 1 s, None at 3 s, 3.5 at 4 s.
        self.assertEqual((part.process["cpu seconds"][0], part.counters()["Com_commit"]), (1.5 + 2.0 / 3, 20))
        self.assertAlmostEqual(part.cpu_s, 4.0 / 3)
        self.assertEqual(part.status["Late"], [None, 1, None])

    def test_what_the_kernel_held_back_until_after_the_end_counts(self):
        self.samples.written_in_the_end = 7_000_000
        self.assertEqual(self.samples.written_bytes, 7_000_000)
        self.samples.add(9.0, {"disk bytes": 6_000_000}, {})
        self.assertEqual(self.samples.between(1.0, 9.0).written_bytes, 5_000_000)
        self.assertIsNone(self.samples.between(1.0, 3.0).written_bytes)
        self.assertEqual(self.samples.between(0.0, 3.0).written_bytes, 2_000_000)
        # From the middle of the first second on; the sync at the end belongs to this part.
        self.assertEqual(self.samples.between(0.5, 8.0).written_bytes, 6_000_000)

    def test_kept_and_read_again(self):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "samples.json"
            self.samples.save(path)
            self.assertEqual(Samples.load(path), self.samples)
            path.write_text(path.read_text()[:40])
            with self.assertRaisesRegex(Failed, "samples.json(:1)?: is not (JSON|a file of samples)"):
                Samples.load(path)

    def test_gauges(self):
        for name in ("Threads_running", "Tidesdb_memtable_bytes", "Innodb_buffer_pool_pages_dirty", "Open_tables",
                     "Innodb_history_list_length", "INNODB_METRICS: trx_rseg_history_len",
                     "INNODB_METRICS: lock_row_lock_current_waits"):
            self.assertTrue(is_gauge(name, [1, 2]), name)
        for name in ("Com_commit", "Opened_tables", "Innodb_rows_inserted", "Handler_write", "Bytes_sent",
                     "Innodb_os_log_written"):
            self.assertFalse(is_gauge(name, [1, 2]), name)
        self.assertTrue(is_gauge("Com_commit", [2, 1]))


class SamplerTest(unittest.TestCase):
    def test_a_process_and_its_status(self):
        with Sampler(os.getpid(), _client(), interval_s=0.01) as sampler:
            while len(sampler.samples.at) < 4:
                time.sleep(0.001)
        samples = sampler.samples
        self.assertGreaterEqual(len(samples.at), 5)  # The last one is taken when the context ends.
        self.assertEqual(samples.at, sorted(samples.at))
        self.assertEqual(samples.status["Com_commit"], [2 * (number + 1) for number in range(len(samples.at))])
        self.assertEqual(set(samples.status), {"Com_commit", "Threads_running"})
        self.assertGreater(samples.peak_resident, 1 << 20)
        self.assertGreaterEqual(samples.cpu_s, 0)

    def test_what_else_is_asked(self):
        client = StatusClient([sys.executable, "-c", _CLIENT, "1000"], also="SELECT x FROM METRICS")
        with Sampler(None, client, interval_s=0.01) as sampler:
            while len(sampler.samples.at) < 2:
                time.sleep(0.001)
        self.assertEqual(sampler.samples.status["INNODB_METRICS: log_writes"][:2], [3, 6])
        self.assertIn("INNODB_METRICS: log_writes", {name: unit for name, unit, _ in sampler.samples.series()})

    def test_what_its_group_has(self):
        group = SimpleNamespace(usage=lambda: SimpleNamespace(current=3 << 20, page_cache=1 << 20))
        with Sampler(None, group=group, interval_s=0.01) as sampler:
            pass
        self.assertEqual([(name, points[0][1]) for name, _, points in sampler.samples.series()],
                         [("memory with page cache", 3.0), ("page cache", 1.0)])

    def test_a_server_that_goes_away(self):
        child = subprocess.Popen(["sleep", "60"])
        with Sampler(child.pid, _client(answers=2), interval_s=0.01) as sampler:
            child.kill()
            child.wait()
            while len(sampler.samples.at) < 4:
                time.sleep(0.001)
        self.assertIsNone(sampler.samples.status["Com_commit"][-1])
        self.assertIsNone(sampler.samples.peak_resident)

    def test_on_another_machine(self):
        with Sampler(None, None, interval_s=0.01) as sampler:
            pass
        self.assertEqual((sampler.samples.written_bytes, list(sampler.samples.series())), (None, []))


class DiskTest(unittest.TestCase):
    def test_each_synced_append_reaches_the_disk(self):
        with tempfile.TemporaryDirectory(dir=TREE) as name, open(Path(name) / "log", "wb") as log:
            child = subprocess.Popen(["sleep", "60"], cwd=name)
            self.addCleanup(child.wait)
            self.addCleanup(child.kill)
            disk = Disk(f"/proc/{child.pid}/cwd")
            if disk.written() is None:
                self.assertEqual(os.major(os.stat(name).st_dev), 0, "a block device has a counter")
                return
            os.posix_fallocate(log.fileno(), 0, 8 << 20)
            os.fsync(log.fileno())
            before = disk.written()
            for _ in range(200):
                log.write(b"x" * 100)
                log.flush()
                os.fdatasync(log.fileno())
            self.assertGreaterEqual(disk.written() - before, 200 * 512)

    def test_of_nothing(self):
        self.assertIsNone(Disk("/nonexistent").written())


class AllocatedTest(unittest.TestCase):
    def test_holes_are_not_counted(self):
        with tempfile.TemporaryDirectory() as name:
            with open(Path(name) / "hole", "wb") as file:
                file.truncate(1 << 20)
            (Path(name) / "full").write_bytes(b"x" * 100_000)
            self.assertTrue(100_000 <= allocated_bytes(name) < 400_000)
