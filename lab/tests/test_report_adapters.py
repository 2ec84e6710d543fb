"""Reads the folder of a hammerdb_runner.sh measurement as a run of a report."""

import json
import shutil
import unittest

from lab.observe.sampler import Samples
from lab.record.run import THROUGHPUT
from lab.runners.hammerdb import options, runs
from lab.tests.cases import RECORDED, folder, recorded
from lab.tests.test_report import made

FACTS = {"generator": "tpcc", "date": "2026-01-31", "commit": "0123", "distribution": "Debian", "kernel": "6.1",
         "cpu": "A CPU", "governor": "performance", "huge_pages": "never", "memory_mb": 24000, "disk": {}, "binaries": {}}


def row(engine, nopm=1000, **more):
    return {"benchmark": "tpcc", "engine": engine, "warehouses": 2, "virtual_users": 4, "rampup_min": 1, "duration_min": 1,
            "settle_sec": 5, "build_sec": 9.5, "nopm": nopm, "tpm": nopm * 2, "errors": 0, "generator": "tpcc",
            "consistent": True, "server_cpu_ms_per_neword": 2.0, "client_cpu_ms_per_neword": 0.5, **more}


class Folders(unittest.TestCase):
    def setUp(self):
        self.folder = folder(self) / "innodb_tpcc"
        self.folder.mkdir()

    def recorded(self, version):
        for path in (RECORDED / f"hammerdb-{version}").iterdir():
            shutil.copy(path, self.folder)

    def run_of(self, **more):
        return runs.run_of(row("innodb", **more), self.folder, "InnoDB", 1, ["--a=1"], self.folder.parent)

    def test_the_built_in_generator(self):
        (self.folder / "result.json").write_text(json.dumps(made("innodb")))
        run = self.run_of()
        self.assertEqual((run.label, run.throughput, run.repetition), ("InnoDB", 1000.0, 1))
        self.assertEqual(run.cpu_s, 0.2)  # 2 ms for each of 100 new orders.
        self.assertEqual(run.measures["build, s"], 9.5)
        self.assertEqual(run.files, ["innodb_tpcc/result.json"])
        self.assertEqual(run.configuration["server options"], "--a=1")

    def test_what_was_asked_for(self):
        asked = dict(runs.asked(options.parse(["-e", "innodb", "--warehouses", "2", "--private-server", "--pass", "x"])))
        self.assertEqual((asked["warehouses"], asked["benchmarks"]), (2, "tpcc"))
        self.assertFalse({"querysets", "degree", "tpch db", "perf frequency", "password"} & {*asked})
        # Paths are this machine's.
        self.assertEqual(runs.words(["-o", "/somewhere/all", "--harness=/somewhere/x.sh"]), "-o all --harness=x.sh")

    def test_the_real_one(self):
        for version, new_orders in (("5.0", 8976), ("6.0", 9004)):
            with self.subTest(version):
                self.recorded(version)
                run = self.run_of(generator=version)
                self.assertEqual([latency.operation for latency in run.latencies],
                                 ["NEWORD", "PAYMENT", "DELIVERY", "SLEV", "OSTAT"])
                self.assertEqual(run.latencies[0].count, new_orders)  # 5.0's timing.json says 17,952.
                self.assertGreater(len(run.series[THROUGHPUT].points), 1)
                self.assertEqual((run.notes, run.consistency()), ([], "holds"))
                self.assertEqual(run.configuration["server"], "10.11.18")  # As HammerDB reports it.

    def test_variables_and_samples_of_the_real_one(self):
        self.recorded("5.0")
        samples = Samples(peak_resident=3 << 20)
        for second, written in ((0.0, 1000), (59.0, 189_000)):
            samples.add(second, {"cpu seconds": second, "disk bytes": written}, {"Com_commit": second * 10})
        samples.save(self.folder / "samples.json")
        for name, found in (("variables.json", {"version": "10.11.18", "version_comment": "Debian", "datadir": "/var/x/",
                                                "sync_binlog": "0"}),
                            ("server.json", {"memory": {}, "directory_bytes": None})):
            (self.folder / name).write_text(json.dumps(found))
        run = self.run_of(generator="HammerDB 5.0")
        self.assertEqual(run.variables, {"version": "10.11.18", "version_comment": "Debian", "sync_binlog": "0"})
        self.assertEqual(run.configuration["server"], "10.11.18 Debian")
        self.assertEqual((run.status, run.written_bytes), ({"Com_commit": 590}, 188_000))
        self.assertGreater(run.write_amplification, 0)
        self.assertEqual((run.memory, run.sizes), ({"resident, peak": 3 << 20}, {}))

    def test_of_hammerdb_s_data_the_broken_condition_is_told(self):
        self.recorded("6.0")
        self.assertEqual(self.run_of(generator="HammerDB 6.0", consistent=False).inconsistency(), "all conditions: broken")
        # As lab/generators/tpcc/consistency.cc writes it.
        (self.folder / "check.log").write_text(
            "  1        holds   w_ytd = sum(d_ytd)\n  2        BROKEN  d_next_o_id - 1 = max(o_id)\n"
            "      w 1 d 2: 3001, 3000\n      and 4 more\n  balance  skipped c_balance (not asked for)\n")
        run = self.run_of(generator="HammerDB 6.0", consistent=False)
        self.assertEqual([(check.name[:2], check.state) for check in run.checks],
                         [("1:", "holds"), ("2:", "broken"), ("ba", "skipped")])
        self.assertEqual(run.inconsistency(), "2: d_next_o_id - 1 = max(o_id) (w 1 d 2: 3001, 3000): broken")
        self.assertEqual(run.versions["HammerDB"], "6.0")

    def test_what_hammerdb_6_makes_unequal_is_said(self):
        args = options.parse([])
        for generator, said in (("HammerDB 6.0", True), ("HammerDB 5.0", False), ("tpcc", False)):
            self.assertEqual("innodb_snapshot_isolation off" in " ".join(runs.unequal(args, generator)), said)

    def test_logs_that_are_gone_are_named(self):
        run = self.run_of()
        self.assertIn("innodb_tpcc/hdbxtprofile.log", run.notes[0])
        self.assertEqual(run.throughput, 1000)

    def test_tproc_h(self):
        message = "mariaexec/db server: Unknown column 'inf' in 'SELECT'"
        said = recorded("hammerdb-6.0/tproch.log") + f"\nVuser 1:{message}\n"
        (self.folder / "run.log").write_text(said)
        run = self.run_of(benchmark="tpch", virtual_users=1, scale_factor=1, querysets=1, tpch_geomean_sec=0.5,
                          tpch_total_sec=40.0, generator="HammerDB 6.0", errors=1)
        self.assertEqual([(error.count, error.message) for error in run.errors], [(1, message)])
        self.assertEqual((run.workload, run.throughput), ("TPROC-H, scale 1", 7200))
