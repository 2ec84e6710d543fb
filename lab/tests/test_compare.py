"""Tests of lab/runners/compare: which figures of a sysbench run count, and that ratios compare one round."""

import io
import json
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer.shell import Failed
from lab.observe.sampler import Samples
from lab.reports import charts, markdown, plotly
from lab.runners import pick
from lab.runners.compare import study
from lab.server import profiles
from lab.study import core, written
from lab.tests import test_report
from lab.tests.cases import folder, patch
from lab.tests.test_parse_sysbench import recorded
from lab.tests.test_report_adapters import FACTS
from lab.works import sysbench_run


class Sysbench(unittest.TestCase):
    def test_transactions_or_queries_are_what_is_counted(self):
        text = recorded("errors")
        figures = sysbench_run.figures(text, "transactions")
        self.assertEqual((figures.per_s, figures.p95_ms, figures.max_ms, figures.errors), (302.3, 104.84, 364.93, 217))
        self.assertEqual(sysbench_run.figures(text, "queries").per_s, 6917.56)


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


def one_step():
    """The recorded result of iibench, with only the step l.i1."""
    raw = json.loads((Path(__file__).parent / "recorded" / "iibench.json").read_text())
    raw["phases"] = [phase for phase in raw["phases"] if phase["name"] == "l.i1"]
    return json.dumps(raw)


class GoesOn(unittest.TestCase):
    """With fake servers and tools that only record their calls, and a recorded output of sysbench."""

    def setUp(self):
        self.directory = folder(self) / "study"
        self.args = SimpleNamespace(
            server="debian12", profile="fair", memory_max="0", engines=["InnoDB", "BLACKHOLE"], sync=["NONE"], rounds=1,
            work=["read_write"], rows=1000, threads=4, warehouses=1, users=1, seconds=2, tpcc_seconds=3,
            insert_rows=0, insert_seconds=4,
            output_dir="/somewhere", resume=None, scale_down=1)
        self.calls, self.trouble, self.servers = [], {}, mock.MagicMock()
        self.program = self.directory.parent / "mariadbd"
        self.program.write_text("a build")
        server = self.servers.return_value
        server.sql.side_effect = lambda statement: ("server\t11.8.6-MariaDB\n" if "VERSION()" in statement else
                                                    "sync_binlog\t0\ndatadir\t/place/data\n")
        server.memory.return_value = {"limit": 512 << 20, "oom_kills": 1}
        server.failed.side_effect = lambda error: Failed(f"The limit, perhaps.\n{error}")
        server.data, server.directory = self.directory, "/place"
        samples = Samples()
        for second, written in ((0.0, 1000), (1.0, 189_000)):
            samples.add(second, {"cpu seconds": second, "disk bytes": written, "resident bytes": 1 << 20},
                        {"Handler_write": 100 + second * 500, "Threads_running": 4})
        samples.peak_resident, samples.began = 2 << 20, 1.0
        server.sampler.return_value.__enter__.return_value.samples = samples
        figures = sysbench_run.Figures(1.0, 2.0, 3.0, 0)
        environment = SimpleNamespace(mariadbd=self.program, version="11.8.6")
        patch(
                self, (study, "PrivateServer", self.servers), (sysbench_run, "prepare", mock.Mock()),
                (study.tpcc_run, "build", mock.Mock()), (study.iibench_run, "build", mock.Mock()),
                (study.generators, "program", lambda *_: None),
                (study, "environment_of", lambda *_: (environment, None)), (core.apt, "install", mock.Mock()),
                (plotly, "source", lambda: "/* plotly.js v9 */"), (charts, "draw", mock.Mock()),
                (study.shutil, "which", lambda *_, **__: None), (core.Study, "facts", lambda _: FACTS),
                (sysbench_run, "run", lambda server, work, *more: self.call(work, more[-1]) or figures),
                (study.tpcc_run, "run", lambda *more: self.call("tpcc", more[-1]) or figures),
                (study.iibench_run, "run", lambda *more: self.call("inserts", more[-1]) or figures))

    def call(self, work, raw):
        self.calls.append(work)
        if work in self.trouble:
            raise self.trouble[work]
        if isinstance(raw, Path):
            made = {"tpcc": lambda: json.dumps(test_report.made("InnoDB")), "inserts": one_step}
            raw.write_text(made.get(work, lambda: recorded("errors"))())

    def go(self):
        it = study.Study(self.args, self.directory, {"argv": []})
        with redirect_stdout(io.StringIO()):
            code = it.go()
        return code, it.journal

    def test_tpcc_is_not_run_on_what_keeps_no_rows(self):
        code, journal = self.go()
        self.assertEqual((code, self.calls),
                         (0, ["point_select", "read_write", "tpcc", "point_select", "read_write"]))
        self.assertEqual(list(journal.results()),
                         ["InnoDB: loading", "BLACKHOLE: loading", "InnoDB read_write, NONE, round 1",
                          "InnoDB tpcc, NONE, round 1", "BLACKHOLE read_write, NONE, round 1"])

    def test_the_insert_benchmark_is_a_work_like_the_others(self):
        self.args.work, self.args.warehouses, self.args.insert_rows = [], 0, 1000
        code, _ = self.go()
        self.assertEqual((code, self.calls), (0, ["inserts"]))
        run, = pick.study([self.directory]).runs
        self.assertEqual((run.workload, run.label, run.condition), ("iibench l.i1", "InnoDB", "commits not synced"))
        self.assertGreater(run.throughput, 0)
        self.assertEqual(run.memory["limit"], 512 << 20)
        self.assertIn("--innodb-flush-log-at-trx-commit=2", run.configuration["server options"])

    def test_the_servers_data_goes_when_all_is_measured(self):
        removed = self.servers.return_value.remove
        self.trouble = {"tpcc": Failed("no result")}
        self.go()
        before = removed.call_count
        self.trouble = {}
        self.go()
        self.assertEqual(removed.call_count, before + 2)

    def test_each_round_is_in_the_reverse_order_of_the_one_before(self):
        self.args.engines, self.args.rounds, self.args.warehouses = ["InnoDB", "TidesDB", "RocksDB"], 2, 0
        self.assertEqual([unit.engine for unit in study.units(self.args)],
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
        self.assertEqual((code, self.calls), (0, ["point_select", "tpcc", "point_select", "read_write"]))
        self.assertIn("Interrupted during: InnoDB tpcc, NONE, round 1", journal.history()[0])

    def test_another_build_is_refused_by_name(self):
        self.go()
        self.program.write_text("another one")
        with self.assertRaisesRegex(Failed, r"begun with another build \(mariadbd was [0-9a-f]{12} and is [0-9a-f]{12}\)"):
            self.go()

    def test_a_profile_that_has_changed_is_refused_by_name(self):
        self.go()
        with mock.patch.object(study.profiles, "options", return_value=["--innodb-flush-log-at-trx-commit=2"]), \
                self.assertRaisesRegex(Failed, r"what the server of InnoDB \(NONE\) is told was [0-9a-f]{12} and is"):
            self.go()

    def test_a_work_that_fails_is_named_and_the_others_go_on(self):
        self.trouble = {"tpcc": Failed("no result")}
        code, journal = self.go()
        self.assertEqual((code, self.calls[-1]), (1, "read_write"))
        self.assertEqual(journal.history(), ["Failed: InnoDB tpcc, NONE, round 1: The limit, perhaps."])
        self.assertIn("did not finish: 2 of 3", written.read(self.directory).history[1])

    def test_a_loading_that_fails_says_what_the_server_s_end_says(self):
        with mock.patch.object(study.tpcc_run, "build", side_effect=Failed("lost connection")), \
                self.assertRaisesRegex(Failed, "The limit, perhaps.\nlost connection"):
            self.go()

    def test_figures_and_what_was_sampled(self):
        self.args.rounds = 2
        self.go()
        made = pick.study([self.directory])
        run, of_tpcc = made.runs[0], made.runs[1]
        self.assertEqual((made.kind, run.label, run.condition, run.throughput),
                         ("compare", "InnoDB", "commits not synced", 302.3))
        self.assertEqual((run.row_bytes, run.written_bytes, run.write_amplification), (500 * 188, 188_000, 2.0))
        self.assertEqual(run.status, {"Handler_write": 500})
        self.assertEqual(run.series["Handler_write"].points, [(1.0, 500)])
        self.assertEqual(run.memory, {"resident, peak": 2 << 20, "limit": 512 << 20})
        self.assertEqual(run.notes, ["the memory limit killed 1 processes"])
        self.assertRegex(made.unequal[0], "^Profile fair: ")
        self.assertEqual(run.variables, {"sync_binlog": "0", "datadir": ".../data"})
        self.assertEqual(run.versions, {"sysbench": "1.0.20", "server": "11.8.6-MariaDB"})
        self.assertIn("--innodb-flush-log-at-trx-commit=2", run.configuration["server options"])
        self.assertIn("302 (302–302) [434 errors]", markdown.figures(made))
        self.assertNotIn("/somewhere", markdown.text(made))
        self.assertEqual(len(made.files), 1 + 2 + 2 * (2 + 2 + 2))
        self.assertEqual(made.history, [])
        self.assertEqual((of_tpcc.workload, of_tpcc.throughput, of_tpcc.checked), ("TPROC-C, 2 warehouses", 1000.0, True))
        self.assertIsNone(of_tpcc.write_amplification)
        self.assertIsNone(of_tpcc.written_bytes)  # Both samples are of the ramp-up.
