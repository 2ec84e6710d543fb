"""What hammerdb_runner.sh and mariadb_engines_runner.sh leave, as studies."""

import json
import shutil
import tempfile
import unittest
from pathlib import Path

from installer.shell import Failed
from lab.observe.sampler import Samples
from lab.record import turns
from lab.record.run import THROUGHPUT
from lab.reports import markdown
from lab.runners import pick
from lab.runners.hammerdb import builds_study
from lab.runners.hammerdb import record as hammerdb
from lab.study.journal import Journal
from lab.tests.test_report import made

RECORDED = Path(__file__).resolve().parent / "recorded"
FACTS = {"generator": "tpcc", "date": "2026-01-31", "commit": "0123", "distribution": "Debian", "kernel": "6.1",
         "cpu": "A CPU", "governor": "performance", "huge_pages": "never", "memory_mb": 24000, "disk": {}, "binaries": {}}


def row(engine, nopm=1000, **more):
    return {"benchmark": "tpcc", "engine": engine, "warehouses": 2, "virtual_users": 4, "rampup_min": 1, "duration_min": 1,
            "settle_sec": 5, "build_sec": 9.5, "nopm": nopm, "tpm": nopm * 2, "errors": 0, "generator": "tpcc",
            "consistent": True, "server_cpu_ms_per_neword": 2.0, "client_cpu_ms_per_neword": 0.5, **more}


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = Path(folder.name)

    def logs(self, directory, rows, *argv, end=True, binaries=(), facts=()):
        """A hammerdb_logs_* folder; rows: by engine; facts: of its own provenance."""
        directory.mkdir(parents=True)
        (directory / "provenance.json").write_text(json.dumps({**FACTS, **dict(facts)}))
        plan = {"argv": [*(["-e", ",".join(rows)] if rows else []), "--warehouses", "2", "--tpcc-vu", "4", *argv],
                "binaries": dict(binaries)}
        with Journal(directory / "journal.jsonl", "hammerdb", plan) as journal:
            for engine, result in rows.items():
                step = f"{engine} {result['benchmark']} run"
                journal.begin(step)
                journal.finish(step, result)
                (directory / f"{engine}_{result['benchmark']}").mkdir()
            if end:
                journal.end()
        return directory


class HammerdbTest(Folders):
    def test_the_built_in_generator(self):
        logs = self.logs(self.base / "hammerdb_logs_1", {"innodb": row("innodb"), "tidesdb": row("tidesdb")},
                         "--private-server")
        for engine in ("innodb", "tidesdb"):
            (logs / f"{engine}_tpcc" / "result.json").write_text(json.dumps(made(engine)))
        (logs / "chart.png").write_bytes(b"")
        study = pick.study([logs])
        run = study.runs[1]
        self.assertEqual((run.label, run.throughput, run.repetition), ("TidesDB", 1000.0, 1))
        self.assertEqual(run.cpu_s, 0.2)  # 2 ms for each of 100 new orders.
        self.assertEqual(run.measures["build, s"], 9.5)
        self.assertEqual(run.files, ["tidesdb_tpcc/result.json"])
        self.assertIn("tidesdb_tpcc/result.json", study.files)
        self.assertNotIn("chart.png", study.files)
        self.assertIn("Profile fair", study.unequal[0])
        self.assertIn(("warehouses", 2), study.configuration)
        self.assertIn(("benchmarks", "tpcc"), study.configuration)
        self.assertFalse({"querysets", "degree", "tpch db", "perf frequency"} & {name for name, _ in study.configuration})

    def test_builds_and_their_repetitions(self):
        logs = self.logs(self.base / "hammerdb_logs_1", {}, "--build", "innodb", "server=debian12", "plugin=/secret/place/"
                         "ha_tidesdb.so", "--build", "pgo", "server=debian12", "plugin=built", "--repetitions", "2")
        plan = json.loads((logs / "journal.jsonl").read_text().splitlines()[0])["plan"]
        (logs / "journal.jsonl").unlink()
        with Journal(logs / "journal.jsonl", "hammerdb", {**plan, turns.KEY: turns.ORDER}) as journal:
            for repetition, label in builds_study.units(["pgo", "innodb"], 2):  # Not as asked for.
                work = builds_study.work_of(repetition, label)
                journal.finish(f"{work} run", row(label, 1000 + repetition, repetition=repetition))
                (logs / work.replace(" ", "_")).mkdir(parents=True)
                (logs / work.replace(" ", "_") / "result.json").write_text(json.dumps(made(label)))
            journal.end()
        study = pick.study([logs])
        self.assertEqual([(run.label, run.repetition) for run in study.runs],
                         [("innodb", 1), ("innodb", 2), ("pgo", 1), ("pgo", 2)])
        self.assertEqual(study.runs[3].files, ["rep2/pgo_tpcc/result.json"])
        self.assertEqual(study.title, "TPROC-C: innodb and pgo")
        self.assertTrue(study.about.endswith(" Each repetition was run in the reverse order of the one before."))
        self.assertNotIn("secret", str(study.configuration))
        self.assertIn("plugin=ha_tidesdb.so", str(study.configuration))

    def test_the_real_one(self):
        for version, new_orders in (("5.0", 8976), ("6.0", 9004)):
            with self.subTest(version):
                logs = self.logs(self.base / f"hammerdb_logs_{version}", {"innodb": row("innodb", generator=version)})
                for path in (RECORDED / f"hammerdb-{version}").iterdir():
                    shutil.copy(path, logs / "innodb_tpcc")
                run = hammerdb.study(logs).runs[0]
                self.assertEqual([latency.operation for latency in run.latencies],
                                 ["NEWORD", "PAYMENT", "DELIVERY", "SLEV", "OSTAT"])
                self.assertEqual(run.latencies[0].count, new_orders)  # 5.0's timing.json says 17,952.
                self.assertGreater(len(run.series[THROUGHPUT].points), 1)
                self.assertEqual((run.notes, run.consistency()), ([], "holds"))
                self.assertEqual(run.configuration["server"], "10.11.18")  # As HammerDB says it.

    def test_variables_and_samples_of_the_real_one(self):
        logs = self.logs(self.base / "hammerdb_logs_1", {"innodb": row("innodb", generator="HammerDB 5.0")})
        for path in (RECORDED / "hammerdb-5.0").iterdir():
            shutil.copy(path, logs / "innodb_tpcc")
        samples = Samples(peak_resident=3 << 20)
        for second, written in ((0.0, 1000), (59.0, 189_000)):
            samples.add(second, {"cpu seconds": second, "disk bytes": written}, {"Com_commit": second * 10})
        samples.save(logs / "innodb_tpcc" / "samples.json")
        for name, found in (("variables.json", {"version": "10.11.18", "version_comment": "Debian", "datadir": "/var/x/",
                                                "sync_binlog": "0"}),
                            ("server.json", {"memory": {}, "directory_bytes": None})):
            (logs / "innodb_tpcc" / name).write_text(json.dumps(found))
        run = hammerdb.study(logs).runs[0]
        self.assertEqual(run.variables, {"version": "10.11.18", "version_comment": "Debian", "sync_binlog": "0"})
        self.assertEqual(run.configuration["server"], "10.11.18 Debian")
        self.assertEqual((run.status, run.written_bytes), ({"Com_commit": 590}, 188_000))
        self.assertGreater(run.write_amplification, 0)
        self.assertEqual((run.memory, run.sizes), ({"resident, peak": 3 << 20}, {}))

    def test_of_hammerdb_s_data_the_broken_condition_is_told(self):
        left = row("innodb", generator="HammerDB 6.0", consistent=False)
        logs = self.logs(self.base / "hammerdb_logs_1", {"innodb": left})
        for path in (RECORDED / "hammerdb-6.0").iterdir():
            shutil.copy(path, logs / "innodb_tpcc")
        run = hammerdb.study(logs).runs[0]
        self.assertEqual(run.inconsistency(), "all conditions: broken")
        # As lab/generators/tpcc/consistency.cc writes it.
        (logs / "innodb_tpcc" / "check.log").write_text(
            "  1        holds   w_ytd = sum(d_ytd)\n  2        BROKEN  d_next_o_id - 1 = max(o_id)\n"
            "      w 1 d 2: 3001, 3000\n      and 4 more\n  balance  skipped c_balance (not asked for)\n")
        run = hammerdb.study(logs).runs[0]
        self.assertEqual([(check.name[:2], check.state) for check in run.checks],
                         [("1:", "holds"), ("2:", "broken"), ("ba", "skipped")])
        self.assertEqual(run.inconsistency(), "2: d_next_o_id - 1 = max(o_id) (w 1 d 2: 3001, 3000): broken")
        self.assertEqual((run.throughput, run.versions["HammerDB"]), (None, "6.0"))

    def test_what_hammerdb_6_makes_unequal_is_said(self):
        for generator, said in (("HammerDB 6.0", True), ("HammerDB 5.0", False), ("tpcc", False)):
            logs = self.logs(self.base / generator, {"innodb": row("innodb", generator=generator)})
            (logs / "provenance.json").write_text(json.dumps({**FACTS, "generator": generator}))
            self.assertEqual("innodb_snapshot_isolation off" in " ".join(hammerdb.study(logs).unequal), said)

    def test_logs_that_are_gone_are_named(self):
        run = hammerdb.study(self.logs(self.base / "hammerdb_logs_1", {"innodb": row("innodb")})).runs[0]
        self.assertIn("innodb_tpcc/hdbxtprofile.log", run.notes[0])
        self.assertEqual(run.throughput, 1000)

    def test_tproc_h(self):
        result = {"benchmark": "tpch", "engine": "innodb", "virtual_users": 1, "scale_factor": 1, "querysets": 1,
                  "build_sec": 5, "tpch_geomean_sec": 0.5, "tpch_total_sec": 40.0, "generator": "HammerDB 6.0", "errors": 1}
        logs = self.logs(self.base / "hammerdb_logs_1", {"innodb": result})
        message = "mariaexec/db server: Unknown column 'inf' in 'SELECT'"
        said = (RECORDED / "hammerdb-6.0" / "tproch.log").read_text() + f"\nVuser 1:{message}\n"
        (logs / "innodb_tpch" / "run.log").write_text(said)
        run = hammerdb.runs_of(logs)[0]
        self.assertEqual([(error.count, error.message) for error in run.errors], [(1, message)])
        self.assertEqual((run.workload, run.throughput), ("TPROC-H, scale 1", 7200))

    def test_an_interruption_is_told(self):
        logs = self.logs(self.base / "hammerdb_logs_1", {"innodb": row("innodb")}, end=False)
        plan = json.loads((logs / "journal.jsonl").read_text().splitlines()[0])["plan"]
        Journal(logs / "journal.jsonl", "hammerdb", plan).close()
        self.assertIn("Interrupted", markdown.text(hammerdb.study(logs)))

    def test_a_folder_without_facts_is_named(self):
        logs = self.logs(self.base / "hammerdb_logs_1", {"innodb": row("innodb")})
        (logs / "provenance.json").unlink()
        with self.assertRaisesRegex(Failed, "provenance.json: cannot be read"):
            hammerdb.study(logs)


_ARGV = ["--iterations", "3", "-o", "/somewhere/all", "--harness=/somewhere/x.sh"]


class EnginesTest(Folders):
    def test_iterations_are_repetitions(self):
        directory = self.base / "results_1"
        for number in (1, 2, 10):
            for engine, nopm in (("innodb", 1000), ("tidesdb", 1500)):
                self.logs(directory / engine / f"iter{number}" / "hammerdb_logs_1", {engine: row(engine, nopm + number)})
        with Journal(directory / "journal.txt", "engines_runner", {"argv": _ARGV, "seed": 1}) as journal:
            journal.fail("tidesdb iteration 3", "no server")
            journal.end()
        study = pick.study([directory])
        self.assertEqual(sorted({run.repetition for run in study.runs}), [1, 2, 10])
        (_, row_of), = study.compared()
        self.assertEqual(row_of["TidesDB"].verdict, "higher")
        self.assertAlmostEqual(row_of["TidesDB"].ratio, 1502 / 1002)
        self.assertEqual(study.history, ["Failed: tidesdb iteration 3: no server"])
        # Paths are this machine's.
        self.assertIn(("command line", "--iterations 3 -o all --harness=x.sh"), study.configuration)

    def test_the_first_engine_asked_for_is_what_the_others_are_compared_with(self):
        directory = self.base / "results_1"
        for engine in ("innodb", "rocksdb", "tidesdb"):
            self.logs(directory / engine / "iter1" / "hammerdb_logs_1", {engine: row(engine)})
        asked = {"argv": ["--engines", "TidesDB,innodb,rocksdb"]}
        with Journal(directory / "journal.txt", "engines_runner", asked) as journal:
            journal.end()
        study = pick.study([directory])
        self.assertEqual(study.labels(), ["TidesDB", "InnoDB", "RocksDB"])
        self.assertFalse({"engine", "engines", "scale down"} & {name for name, _ in study.configuration})

    def test_iterations_of_two_builds_are_told(self):
        directory = self.base / "results_1"
        for number, plugin in ((1, "a"), (2, "b")):
            for engine, of in (("innodb", {"mariadbd": "s"}), ("tidesdb", {"mariadbd": "s", "ha_tidesdb.so": plugin})):
                logs = directory / engine / f"iter{number}" / "hammerdb_logs_1"
                self.logs(logs, {engine: row(engine)}, binaries=of)
        with Journal(directory / "journal.txt", "engines_runner", {"argv": [], "seed": 1}) as journal:
            journal.end()
        self.assertEqual([said for said in pick.study([directory]).unequal if "build" in said],
                         ["Not of one build: ha_tidesdb.so was another one from tidesdb/iter2 on."])

    def test_where_the_figures_come_from_is_of_all_iterations(self):
        directory = self.base / "results_1"
        for engine, date, programs in (("innodb", "2026-01-01 10:00:00 UTC", {"mariadbd": {"sha256": "s"}}),
                                       ("tidesdb", "2026-01-01 11:00:00 UTC", {"ha_tidesdb.so": {"sha256": "p"}})):
            self.logs(directory / engine / "iter1" / "hammerdb_logs_1", {engine: row(engine)},
                      facts={"date": date, "binaries": programs})
        with Journal(directory / "journal.txt", "engines_runner", {"argv": ["--engines", "innodb,tidesdb"]}) as journal:
            journal.end()
        facts = pick.study([directory]).provenance
        self.assertEqual(facts["date"], "2026-01-01 10:00:00 UTC to 2026-01-01 11:00:00 UTC")
        self.assertEqual({name: known["sha256"] for name, known in facts["binaries"].items()},
                         {"mariadbd": "s", "ha_tidesdb.so": "p"})

    def test_a_run_without_an_iteration_is_refused(self):
        directory = self.base / "results_1"
        with Journal(directory / "journal.txt", "engines_runner", {"argv": []}):
            pass
        with self.assertRaisesRegex(Failed, "no iteration in it"):
            pick.study([directory])


if __name__ == "__main__":
    unittest.main()
