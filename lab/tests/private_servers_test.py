#!/usr/bin/env python3
"""The runners on private servers, each with another profile: sampled, within its limit, with a report; interrupted.

Environment: as lab_server.py says; TIDESDB_SERVER names the server.
"""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from installer import build_plugin, host  # noqa: E402
from installer.shell import TREE  # noqa: E402
from lab.server import profiles  # noqa: E402
from lab.server.private_server import PrivateServer  # noqa: E402
from lab.study.scratch import Scratch  # noqa: E402
from lab.tests.cases import folder  # noqa: E402
from lab.tests.runner_case import RunnerCase  # noqa: E402

_SERVER = os.environ.get("TIDESDB_SERVER") or host.host_server()

_KILLED = "The server was killed at its memory limit of 64 MB, its page cache counted; give it more"


class PrivateServers(RunnerCase):
    def report(self, pattern):
        """The text of the only report, with the servers' measurements; the page is beside it."""
        path = self.only(f"{pattern}report.md")
        text = path.read_text(encoding="utf-8")
        for wanted in (r"\| +write amplification \|", "memory: resident, peak", "disk: ", "## What is not equal",
                       "ha_tidesdb.so|mariadbd", "SHA-256"):
            self.assertRegex(text, wanted)
        self.assertGreater(path.with_suffix(".html").stat().st_size, 100_000)
        return text

    def test_iibench_interrupted_and_gone_on_with(self):
        argv = [TREE / "lab" / "iibench_runner.sh", "--server", _SERVER, "--engines", "InnoDB,TidesDB", "--scale-down",
                "1000", "--phases", "l.i0,l.x,l.i1,qr100", "--i1-rows", "0", "--write-seconds", "2", "--query-seconds", "1",
                "--bulk", "-o", self.output]
        said = self.interrupt_at(self.start(*argv), "[2/2] TidesDB, repetition 1 ...")
        begun = self.only("iibench_*")
        self.assertIn(f"--resume {begun}", said)
        self.assertFalse((begun / "server").exists())
        said = self.finish(self.start(argv[0], "--resume", begun))
        self.assertIn("[1/2] InnoDB, repetition 1: done in an earlier sitting", said)
        text = self.report("iibench_*/")
        self.assertIn("Interrupted during: TidesDB, repetition 1", text)
        self.assertRegex(text, "its page cache counted|is left out")
        self.assertIn("memory: resident, before", text)  # The server was restarted.
        self.assertRegex(text, r"\| iibench l\.i1 +\| seconds of the step +\| +[2-9]\S* +\| +[2-9]")  # By time.
        self.assertEqual(len(re.findall(r"^\| iibench (?:l\.i0|l\.x|l\.i1|qr100|INSERT \S+ SELECT) +\| (?:rows|queries)/s",
                                        text, re.M)), 5)
        rows = {(row["label"], row["workload"]): row for row in self.rows("iibench_*/runs.csv")}
        self.assertEqual(len(rows), 10)
        self.assertGreater(float(rows["TidesDB", "iibench l.i1"]["insert p99_ms"]), 0)

    @unittest.skipUnless(host.is_root(), "a limit of memory takes root")
    def test_a_cache_that_has_no_room_is_an_error(self):
        child = self.start(TREE / "lab" / "iibench_runner.sh", "--server", _SERVER, "--engines", "TidesDB", "--scale-down",
                           "1000", "--phases", "l.i0", "--vary", "cache=1G", "--memory-max", "512M", "-o", self.output)
        self.assertRegex(self.finish(child, 1), "block_cache_size=1G and runs with [23][0-9]{8}: tidesdb_max_memory_usage")

    def test_hammerdb_runner_with_a_seed_s_profile(self):
        self.finish(self.start(TREE / "lab" / "hammerdb_runner.sh", "-e", "tidesdb", f"--private-server={_SERVER}",
                               "--profile", "seed-000", "--scale-down", "40", "--rampup", "0.02", "--duration", "0.1",
                               "--settle", "0", "-o", self.output))
        text = self.report("hammerdb_logs_*/")
        self.assertIn("TidesDB without row locks", " ".join(text.split()))
        self.assertIn("Nothing limits a server's memory", text)
        self.assertIn("TPROC-C, 1 warehouse ", text)

    def test_compare_below_a_limit(self):
        self.finish(self.start(sys.executable, "-m", "lab.compare", "--server", _SERVER, "--engines", "InnoDB", "--profile",
                               "seed-004", "--memory-max", "300M", "--work", "read_write", "--rows", "10000",
                               "--scale-down", "10", "--warehouses", "0", "--seconds", "2", "--rounds", "1",
                               "-o", self.output))
        text = self.report("compare_*/")
        self.assertIn("in a memory cgroup of 300M", text)
        self.assertIn("commits not synced", text)
        self.assertIn("memory: with page cache, peak", text)

    def test_a_server_killed_at_its_limit_is_said(self):
        said = self.finish(self.start(TREE / "lab" / "pgo_study.sh", "--tiers", "16M:64M", "--threads", "1",
                                      "--repetitions", "1", "--tables", "1", "--rows", "1000", "--seconds", "1",
                                      "--warmup-read", "0", "--warmup-write", "0", "--pause", "0", "-o", self.output,
                                      "--build", "A", f"server={_SERVER}", "engine=InnoDB",
                                      "--build", "B", f"server={_SERVER}", "engine=InnoDB"), code=1)
        self.assertIn(_KILLED, said)
        said = self.finish(self.start(sys.executable, "-m", "lab.compare", "--server", _SERVER, "--engines", "InnoDB",
                                      "--memory-max", "64M", "--work", "read_write", "--warehouses", "0", "--rounds", "1",
                                      "-o", self.output), code=1)
        self.assertIn(_KILLED, said)
        said = self.finish(self.start(TREE / "lab" / "hammerdb_runner.sh", "-e", "innodb", f"--private-server={_SERVER}",
                                      "--memory-max", "64M", "--warehouses", "1", "--tpcc-build-vu", "1", "--tpcc-vu", "1",
                                      "-o", self.output), code=1)
        self.assertIn(_KILLED, said)


class NotSynced(unittest.TestCase):
    """With the profile fair, --sync NONE must be equally durable in both engines."""

    def setUp(self):
        self.directory = folder(self)
        self.environment, self.plugin = build_plugin.prepare_and_build(_SERVER, self.directory / "build.log", tests=True)

    def _rows_after_a_kill(self, engine):
        with Scratch() as sockets:
            server = PrivateServer(self.environment, self.directory / engine, socket=sockets / "mysqld.sock",
                                   options=profiles.options("fair", engine, "NONE"),
                                   plugin=self.plugin if engine == "TidesDB" else None)
            try:
                server.initialise()
                server.start()
                server.sql(f"CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE={engine};"
                           + "".join(f"INSERT INTO d.t VALUES ({row});" for row in range(300)))
                server.kill()
                server.start()
                return server.sql("SELECT COUNT(*) FROM d.t").strip()
            finally:
                server.end()

    def test_a_killed_server_has_lost_none(self):
        for engine in ("InnoDB", "TidesDB", "RocksDB"):
            self.assertEqual(self._rows_after_a_kill(engine), "300", engine)


if __name__ == "__main__":
    unittest.main()
