"""Tests of lab/runners/compare: what counts of a sysbench run, ratios are of one round."""

import io
import json
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer.shell import Failed
from lab.observe.sampler import Samples
from lab.reports import markdown
from lab.runners import pick
from lab.runners.compare import study
from lab.runners.compare import record as adapter
from lab.server import profiles
from lab.study.journal import Journal
from lab.tests import test_report
from lab.tests.test_parse_sysbench import recorded
from lab.works import sysbench_run as sysbench


class Sysbench(unittest.TestCase):
    def test_transactions_or_queries_are_what_is_counted(self):
        text = recorded("errors")
        figures = sysbench.figures(text, "transactions")
        self.assertEqual((figures.per_s, figures.p95_ms, figures.max_ms, figures.errors), (302.3, 104.84, 364.93, 217))
        self.assertEqual(sysbench.figures(text, "queries").per_s, 6917.56)


class Profiles(unittest.TestCase):
    def test_options_of_an_engine(self):
        for profile in profiles.known():
            ours = profiles.options(profile, "TidesDB", "FULL")
            self.assertTrue([o for o in ours if o.startswith("--tidesdb_block_cache_size=")], profile)
            self.assertEqual(ours[-1], "--tidesdb-unified-memtable-sync-mode=FULL")
            self.assertEqual(profiles.options(profile, "InnoDB", "FULL")[-1], "--innodb-flush-log-at-trx-commit=1")
            self.assertFalse([o for o in profiles.options(profile, "InnoDB", "NONE") if "tidesdb" in o])

    def test_the_seed_s_settings_are_there(self):
        innodb = profiles.options("seed-000", "InnoDB", "NONE")
        self.assertEqual([option for option in innodb if "flush" in option and "commit" in option],
                         ["--innodb_flush_log_at_trx_commit=0"])  # As the seed has it, unlike the profile fair.
        self.assertIn("--innodb_max_dirty_pages_pct_lwm=0.1", innodb)
        self.assertIn("--skip-log-bin", innodb)
        self.assertIn("--tidesdb_pessimistic_locking=OFF", profiles.options("seed-000", "TidesDB", "NONE"))

    def test_the_seed_without_a_configuration_has_that_of_seed_000(self):
        for name in ("InnoDB", "TidesDB", "RocksDB"):
            self.assertEqual(profiles.options("seed-002", name, "NONE"), profiles.options("seed-000", name, "NONE"))
        self.assertIn("--innodb_buffer_pool_size=64M", profiles.options("seed-002", "InnoDB", "NONE"))

    def test_each_profile_says_what_is_unequal(self):
        for profile in profiles.known():
            self.assertRegex(profiles.about(profile), "not equal|unequal", profile)
            self.assertNotIn("Groups", profiles.about(profile))
        self.assertIn("prints no my.cnf", profiles.about("seed-002"))

    def test_settings_that_no_seed_has_are_said_to_be_ours(self):
        seeds = [profile for profile in profiles.known() if profile.startswith("seed-")]
        self.assertEqual(len(seeds), 5)
        for profile in seeds:
            self.assertRegex(profiles.about(profile), "MyRocks (is|are) not in the seed.* (is|are) ours", profile)

    def test_seed_001_has_the_settings_of_seed_000(self):
        for engine in profiles.NAMES:
            self.assertEqual(profiles.options("seed-001", engine, "NONE"), profiles.options("seed-000", engine, "NONE"))

    def test_a_line_outside_a_group_is_named(self):
        with self.assertRaisesRegex(Failed, "x.cnf:2: 'a = 1' is in no"):
            profiles.read_profile("# text\na = 1\n", "x.cnf")


class GoesOn(unittest.TestCase):
    """With servers and tools that only say what they were asked for."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.args = SimpleNamespace(
            directory=Path(folder.name) / "study", profile="fair", memory_max="0", engines=["InnoDB", "BLACKHOLE"],
            sync=["NONE"], rounds=1, work=["insert"], rows=1000, threads=1, warehouses=1, users=1, seconds=2,
            tpcc_seconds=3)
        self.calls, self.trouble, self.servers = [], {}, mock.MagicMock()
        self.program = Path(folder.name) / "mariadbd"
        self.program.write_text("a build")
        self.environment = SimpleNamespace(mariadbd=self.program, version="11.8.6")
        server = self.servers.return_value
        server.sql.return_value = ""
        server.memory.return_value = {}
        server.failed.side_effect = lambda error: Failed(f"The limit, perhaps.\n{error}")
        server.data = self.args.directory
        figures = sysbench.Figures(1.0, 2.0, 3.0, 0)
        for target, name, value in (
                (study, "PrivateServer", self.servers), (study.sysbench, "prepare", mock.Mock()),
                (study.tpcc, "build", mock.Mock()), (study.Study, "_write_facts", mock.Mock()),
                (study.Study, "_report", mock.Mock()),
                (study.sysbench, "run", lambda server, work, *_: self.call(work) or figures),
                (study.tpcc, "run", lambda *_: self.call("tpcc") or figures)):
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def call(self, work):
        self.calls.append(work)
        if work in self.trouble:
            raise self.trouble[work]

    def go(self):
        self.args.directory.mkdir(exist_ok=True)
        it = study.Study(self.args, {"argv": []}, self.environment, None, None)
        with redirect_stdout(io.StringIO()):
            code = it.go()
        return code, it.journal

    def test_tpcc_is_not_run_on_what_keeps_no_rows(self):
        code, journal = self.go()
        self.assertEqual((code, self.calls), (0, ["point_select", "insert", "tpcc", "point_select", "insert"]))
        self.assertEqual(list(journal.results()), ["InnoDB: loading", "BLACKHOLE: loading", "InnoDB insert, NONE, round 1",
                                                   "InnoDB tpcc, NONE, round 1", "BLACKHOLE insert, NONE, round 1"])

    def test_each_round_is_in_the_reverse_order_of_the_one_before(self):
        self.args.engines, self.args.rounds = ["InnoDB", "TidesDB", "RocksDB"], 2
        self.assertEqual([engine for engine, _, _ in study.Study(self.args, {}, None, None, None).turns()],
                         ["InnoDB", "TidesDB", "RocksDB", "RocksDB", "TidesDB", "InnoDB"])

    def test_a_ceiling_has_no_limit(self):
        self.args.engines = ["InnoDB", "InnoDB-in-memory"]
        with mock.patch.object(study, "memory_limit", return_value=study.Limit(1 << 29, "512M")):
            self.go()
        self.assertEqual({call.args[1].name: call.args[2].bytes for call in self.servers.call_args_list},
                         {"InnoDB": 1 << 29, "InnoDB-in-memory": None})

    def test_what_is_done_is_not_done_again(self):
        self.trouble = {"tpcc": KeyboardInterrupt()}
        with self.assertRaises(KeyboardInterrupt):
            self.go()
        self.trouble, self.calls = {}, []
        code, journal = self.go()
        self.assertEqual((code, self.calls), (0, ["point_select", "tpcc", "point_select", "insert"]))
        self.assertIn("Interrupted during: InnoDB tpcc, NONE, round 1", journal.history()[0])

    def test_another_build_is_refused_by_name_and_nothing_is_written_over(self):
        self.go()
        study.Study._write_facts.reset_mock()
        self.program.write_text("another one")
        with self.assertRaisesRegex(Failed, r"begun with another build \(mariadbd was [0-9a-f]{12} and is [0-9a-f]{12}\)"):
            self.go()
        study.Study._write_facts.assert_not_called()

    def test_a_profile_that_has_changed_is_refused_by_name(self):
        self.go()
        with mock.patch.object(study.profiles, "options", return_value=["--innodb-flush-log-at-trx-commit=2"]), \
                self.assertRaisesRegex(Failed, r"what the server of InnoDB \(NONE\) is told was [0-9a-f]{12} and is"):
            self.go()

    def test_a_turn_that_fails_is_named_and_the_others_go_on(self):
        self.trouble = {"tpcc": Failed("no result")}
        code, journal = self.go()
        self.assertEqual((code, self.calls[-1]), (1, "insert"))
        self.assertEqual(journal.history(), ["Failed: InnoDB NONE round 1: The limit, perhaps."])

    def test_a_loading_that_fails_says_what_the_server_s_end_says(self):
        with mock.patch.object(study.tpcc, "build", side_effect=Failed("lost connection")), \
                self.assertRaisesRegex(Failed, "The limit, perhaps.\nlost connection"):
            self.go()


class Report(unittest.TestCase):
    """A directory as a study leaves it."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        asked = {"engines": ["InnoDB", "TidesDB"], "sync": ["FULL"], "rounds": 2, "rows": 1000, "threads": 4, "seconds": 2,
                 "warehouses": 1, "users": 4, "tpcc_seconds": 5, "work": ["read_write"], "directory": "/somewhere"}
        self.write(adapter.FACTS, {"asked": asked, "provenance": {}, "version": "11.8.6", "profile": "Profile fair: equal.",
                                   "limit": "Each server is in a memory cgroup.",
                                   "options": {engine: {"FULL": [f"--{engine}"]} for engine in asked["engines"]}})
        samples = Samples()
        for second, written in ((0.0, 1000), (1.0, 189_000)):
            samples.add(second, {"cpu seconds": second, "disk bytes": written, "resident bytes": 1 << 20},
                        {"Handler_write": 100 + second * 500, "Threads_running": 4})
        samples.peak_resident = 2 << 20
        self.entries = []
        for engine in asked["engines"]:
            self.write(adapter.variables_name(engine, "FULL"), {"sync_binlog": "0", "name": engine})
            for number in (1, 2):
                (self.directory / f"{engine}-{number}.txt").write_text(recorded("errors"))
                samples.save(self.directory / f"{engine}-{number}.samples.json")
                self.entries.append({"engine": engine, "sync": "FULL", "work": "read_write", "round": number,
                                     "raw": f"{engine}-{number}.txt", "samples": f"{engine}-{number}.samples.json",
                                     "versions": {"server": "11.8.6-MariaDB"}, "directory_bytes": 5 << 20,
                                     "memory": {"limit": 512 << 20, "oom_kills": 1}})
        self.write_journal(self.entries)

    def write(self, name, content):
        (self.directory / name).write_text(json.dumps(content))

    def write_journal(self, entries):
        (self.directory / adapter.JOURNAL).unlink(missing_ok=True)
        with Journal(self.directory / adapter.JOURNAL, adapter.KIND, {}) as journal:
            journal.finish("InnoDB: loading", {"loaded": "InnoDB"})
            for number, entry in enumerate(entries):
                journal.finish(f"step {number}", entry)
            journal.end()

    def test_figures_and_what_was_sampled(self):
        study = adapter.study(self.directory)
        run = study.runs[0]
        self.assertEqual((run.label, run.condition, run.throughput), ("InnoDB", "commits synced", 302.3))
        self.assertEqual((run.row_bytes, run.written_bytes, run.write_amplification), (500 * 188, 188_000, 2.0))
        self.assertEqual(run.status, {"Handler_write": 500})
        self.assertEqual(run.series["Handler_write"].points, [(1.0, 500)])
        self.assertEqual(run.memory, {"resident, peak": 2 << 20, "limit": 512 << 20})
        self.assertEqual(run.notes, ["the memory limit killed 1 processes"])
        self.assertEqual(study.unequal, ["Profile fair: equal.", "Each server is in a memory cgroup."])
        self.assertEqual(run.variables["name"], "InnoDB")
        self.assertEqual(study.versions(), {"sysbench": "1.0.20", "server": "11.8.6-MariaDB"})
        self.assertEqual(run.configuration, {"server options": "--InnoDB"})
        self.assertIn("302 (302–302) [434 errors]", markdown.figures(study))
        self.assertNotIn("/somewhere", markdown.text(study))
        self.assertEqual(len(study.files), 2 + 2 + 8)
        self.assertEqual(study.history, [])

    def test_tpcc_is_read_too(self):
        self.write("tpcc.json", test_report.made("InnoDB"))
        self.write_journal([*self.entries, {**self.entries[0], "work": adapter.TPCC, "raw": "tpcc.json"}])
        run = adapter.study(self.directory).runs[-1]
        self.assertEqual((run.workload, run.throughput, run.checked), ("TPROC-C, 2 warehouses", 1000.0, True))
        self.assertIsNone(run.write_amplification)
        self.assertIsNone(run.written_bytes)  # Both samples are of the ramp-up.

    def test_a_study_that_was_cut_short_says_so(self):
        self.write_journal(self.entries[:3])
        self.assertIn("not run to its end", adapter.study(self.directory).history[0])
        self.assertEqual(pick.study([self.directory]).kind, "compare")
        (self.directory / adapter.FACTS).write_text("[")
        with self.assertRaisesRegex(Failed, "facts.json.*cut off"):
            adapter.study(self.directory)


if __name__ == "__main__":
    unittest.main()
