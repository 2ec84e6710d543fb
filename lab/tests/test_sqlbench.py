"""Tests of lab/runners/sqlbench: what the variables mean, what the CSVs contain, resuming a run."""

import contextlib
import csv
import io
import os
import re
import shutil
import signal
import subprocess
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer.shell import Failed
from lab.observe.sampler import Samples
from lab.reports import plotly
from lab.runners import pick
from lab.runners.sqlbench import names, places, running, settings, sqlbench_csv, study, tables, target
from lab.runners.sqlbench import __main__ as sqlbench
from lab.server import disk, private_server, profiles
from lab.tests.cases import RECORDED, folder
from lab.tests.test_parse_sysbench import recorded

# The command of seed 004.
SEED_004 = {
    "BUILD_DIR": "/usr/local/mariadb", "MYSQL_BIN": "/usr/local/mariadb/bin/mariadb",
    "MYSQLD": "/usr/local/mariadb/bin/mariadbd", "PLUGIN_DIR": "/usr/local/mariadb/lib/plugin",
    "DATA_DIR": "/data/db-bench", "TABLE_SIZES": "500000", "TABLES": "1", "THREAD_COUNTS": "4 8", "TIME": "240",
    "WARMUP": "30", "ENGINES": "InnoDB TidesDB",
    "WORKLOADS": "oltp_read_write oltp_point_select oltp_insert oltp_write_only", "TIDESDB_SYNC_MODE": "0",
    "ITERATIONS": "1", "TIDESDB_COMPRESSION": "LZ4", "INNODB_COMPRESSION": "LZ4", "TIDESDB_BLOCK_CACHE": "67108864",
    "INNODB_BUFFER_POOL": "64M", "INNODB_FLUSH": "0"}


class Variables(unittest.TestCase):
    def test_the_seed_s_command_is_the_seed_s_profile(self):
        wanted = settings.read(SEED_004)
        for engine in ("InnoDB", "TidesDB", "RocksDB"):
            ours = {option.replace("_", "-") for option in settings.server_options(wanted, engine)}
            profile = {option.replace("_", "-") for option in profiles.options("seed-004", engine, "NONE")}
            self.assertEqual(ours, profile)
        self.assertEqual((wanted.table_sizes, wanted.thread_counts, wanted.time_s, wanted.warmup_s),
                         ((500000,), (4, 8), 240, 30))
        where = places.read(SEED_004)
        self.assertEqual((str(where.data), str(where.mysqld)), ("/data/db-bench", "/usr/local/mariadb/bin/mariadbd"))

    def test_the_documented_defaults(self):
        wanted = settings.read({})
        self.assertEqual(wanted.plan(), {
            "engines": ("InnoDB", "TidesDB"), "workloads": tuple(settings.DEFAULT_WORKLOADS.split()),
            "table_sizes": (10000,), "tables": 1, "thread_counts": (1,), "time_s": 60, "warmup_s": 10, "iterations": 1,
            "report_interval_s": 10, "tidesdb_sync": "NONE", "tidesdb_btree": 0, "tidesdb_compression": "LZ4",
            "tidesdb_flush_threads": 2, "tidesdb_compact_threads": 2, "tidesdb_block_cache": "268435456",
            "tidesdb_max_sstables": 256, "innodb_buffer_pool": "256M", "innodb_flush": 0, "innodb_compression": "NONE",
            "rocksdb_block_cache": "268435456", "rocksdb_flush": 0, "rocksdb_compression": "LZ4", "database": "sbtest",
            "memory_max": "", "profile": "", "sync": "", "scale_down": "1"})
        self.assertEqual(places.read({}).output, Path.cwd() / "results")

    def test_the_sync_mode_is_the_log_s_too(self):
        for number, name in (("0", "NONE"), ("1", "FULL"), ("2", "INTERVAL"), ("full", "FULL")):
            options = settings.server_options(settings.read({"TIDESDB_SYNC_MODE": number}), "TidesDB")
            self.assertIn(f"--tidesdb_unified_memtable_sync_mode={name}", options)

    def test_flush_1_is_with_a_binary_log_in_every_engine_s_server(self):
        wanted = settings.read({"INNODB_FLUSH": "1", "TIDESDB_SYNC_MODE": "1"})
        for engine in ("InnoDB", "TidesDB"):
            options = settings.server_options(wanted, engine)
            self.assertIn("--sync_binlog=1", options)
            self.assertIn("--binlog_format=ROW", options)
            self.assertNotIn("--skip-log-bin", options)

    def test_a_wrong_variable_is_named(self):
        for name, value in (("TIME", "0"), ("TIME", "a minute"), ("THREAD_COUNTS", "4 x"), ("TABLE_SIZES", "0"),
                            ("ENGINES", "InnoDB MyISAM"), ("TIDESDB_SYNC_MODE", "3"), ("INNODB_FLUSH", "3"),
                            ("TIDESDB_COMPRESSION", "GZIP"), ("INNODB_BUFFER_POOL", "64 MB"), ("MYSQL_DB", "mysql"),
                            ("MYSQL_DB", "a`b"), ("MEMORY_MAX", "lots")):
            with self.assertRaisesRegex(Failed, f"^{name}"):
                settings.read({name: value})

    def test_a_misspelt_variable_is_named_with_what_was_meant(self):
        for name, meant in (("TABLE_SIZE", "TABLE_SIZES"), ("THREADS", "THREAD_COUNTS"), ("THREAD_COUNT", "THREAD_COUNTS"),
                            ("ENGINE", "ENGINES"), ("WORKLOAD", "WORKLOADS"), ("WARM_UP", "WARMUP"),
                            ("TIDESDB_BLOCKCACHE", "TIDESDB_BLOCK_CACHE"), ("INNODB_FLUSHES", "INNODB_FLUSH"),
                            ("INNODB_BUFFER_POOL_SIZE", "INNODB_BUFFER_POOL"),
                            ("ROCKSDB_BLOKC_CACHE", "ROCKSDB_BLOCK_CACHE"),
                            ("SCALEDOWN", "SCALE_DOWN"), ("ITERATION", "ITERATIONS")):
            with self.assertRaisesRegex(Failed, f"^{name}: is not a variable of sqlbench.sh; did you mean {meant}\\?"):
                settings.read({name: "1"})
        with self.assertRaisesRegex(Failed, "^TIDESDB_XYZZY: is not a variable"):
            settings.read({"TIDESDB_XYZZY": "1"})

    def test_other_programs_variables_are_theirs(self):
        settings.read({name: "1" for name in ("HOME", "TERM", "TMPDIR", "TIMES", "LANG", "PATH", "USER", "SHELL", "SHLVL",
                                              "TIDESDB_CACHE_DIR", "TIDESDB_PLUGIN", "TIDESDB_SEED", "CI",
                                              "OLDPWD", "HOSTNAME", "MAIL", "DISPLAY", "LC_ALL", "TZ", "PYTHONPATH")})
        settings.read({"TABLE_SIZE": " "})

    def test_every_documented_variable_is_known(self):
        readme = (Path(__file__).resolve().parents[1] / "README.md").read_text()
        table = readme[readme.index("| variable | default | meaning |"):readme.index("`--profile`, `--sync`, ")]
        documented, prefix = set(), ""
        for line in [line for line in table.splitlines()[2:] if line.startswith("|")]:
            for name in re.findall("`([A-Z_]+)`", line.split("|")[1]):
                prefix = prefix if name.startswith("_") else name.split("_")[0]
                documented.add(prefix + name if name.startswith("_") else name)
        self.assertEqual(documented, names.OURS)

    def test_variables_that_go_together(self):
        for variables, said in (({"SYNC": "FULL"}, "^SYNC: needs PROFILE"), ({"ROCKSDB_FLUSH": "3"}, "^ROCKSDB_FLUSH=3"),
                                ({"TIDESDB_USE_BTREE": "yes"}, "^TIDESDB_USE_BTREE"), ({"TIME": "\u00b2"}, "^TIME"),
                                ({"MYSQL_DB": "Performance_Schema"}, "^MYSQL_DB")):
            with self.assertRaisesRegex(Failed, said):
                settings.read(variables)
        for variables, said in (({"PLUGIN_DIR": "/x"}, "^PLUGIN_DIR: goes with MYSQLD"), ({"FRESH": "yes"}, "^FRESH"),
                                ({"PLOT": "no"}, "^PLOT"), ({"TIDESDB_SERVER": "debian14"}, "^TIDESDB_SERVER=debian14")):
            with self.assertRaisesRegex(Failed, said):
                places.read(variables)

    def test_a_workload_that_sysbench_does_not_have_is_named(self):
        for scripts in (settings.SCRIPTS, Path("/nowhere")):  # Also if no sysbench is installed yet.
            with mock.patch.object(settings, "SCRIPTS", scripts):
                self._refuses_workloads()

    def _refuses_workloads(self):
        with self.assertRaisesRegex(Failed, "oltp_upsert is not a test .* oltp_delete"):
            settings.read({"WORKLOADS": "oltp_upsert"})
        with self.assertRaisesRegex(Failed, "select_random_ranges works only on one table; TABLES is 2"):
            settings.read({"WORKLOADS": "select_random_ranges", "TABLES": "2"})
        self.assertEqual(settings.read({"WORKLOADS": "select_random_ranges"}).workloads, ("select_random_ranges",))

    def test_what_is_not_equal_is_said(self):
        said = " ".join(settings.unequal(settings.read({"TIDESDB_SYNC_MODE": "1", "INNODB_BUFFER_POOL": "1G"})))
        self.assertIn("Durability of a commit: InnoDB not synced, TidesDB synced.", said)
        self.assertIn("Cache: InnoDB 1024 MB, TidesDB 256 MB.", said)
        self.assertIn("Compression: InnoDB NONE, TidesDB LZ4.", said)
        said = " ".join(settings.unequal(settings.read(SEED_004)))
        for word in ("Durability", "Cache:", "Compression:"):
            self.assertNotIn(word, said)
        self.assertEqual(settings.unequal(settings.read({"ENGINES": "InnoDB"})), [])
        said = " ".join(settings.unequal(settings.read({"ENGINES": "TidesDB RocksDB"})))
        self.assertIn("of RocksDB (ROCKSDB_FLUSH=0). TidesDB writes its own at each commit", said)
        said = " ".join(settings.unequal(settings.read({"ENGINES": "InnoDB RocksDB"})))
        self.assertNotIn("once a second", said)  # Both do.

    def test_a_server_that_runs_already_is_not_limited(self):
        with self.assertRaisesRegex(Failed, "^MEMORY_MAX: a server that runs already"):
            running.Running(settings.read({"MEMORY_MAX": "1G"}), places.read({"SOCKET": "/x"}), None)
        with self.assertRaisesRegex(Failed, "^PROFILE: a server that runs already"):
            running.Running(settings.read({"PROFILE": "fair"}), places.read({"SOCKET": "/x"}), None)

    def test_a_profile_brings_settings_and_sizes(self):
        wanted = settings.read({"PROFILE": "seed-004", "SCALE_DOWN": "100", "TIDESDB_SERVER": "debian13"})
        self.assertEqual((wanted.table_sizes, wanted.thread_counts, wanted.time_s), ((5000,), (4, 8), 240))
        for engine in ("InnoDB", "TidesDB"):
            self.assertEqual(settings.server_options(wanted, engine), profiles.options("seed-004", engine, "NONE"))
        self.assertIn("--innodb-flush-log-at-trx-commit=1",
                      settings.server_options(settings.read({"PROFILE": "fair"}), "InnoDB"))
        self.assertIn("Profile seed-000: The my.cnf of", settings.unequal(settings.read({"PROFILE": "seed-000"}))[0])
        for variables, said in (({"PROFILE": "none"}, "PROFILE=none: known are fair"),
                                ({"PROFILE": "fair", "TIDESDB_COMPRESSION": "LZ4"}, "TIDESDB_COMPRESSION: PROFILE=fair"),
                                ({"SCALE_DOWN": "0"}, "SCALE_DOWN=0: must be a number above zero")):
            with self.assertRaisesRegex(Failed, said):
                settings.read(variables)


class Order(unittest.TestCase):
    def test_engines_take_turns(self):
        wanted = settings.read({"THREAD_COUNTS": "1 2", "ITERATIONS": "2", "WORKLOADS": "oltp_insert"})
        order = [(unit.repetition, unit.threads, unit.engine) for unit in study.units(wanted)]
        self.assertEqual(order, [*((1, threads, engine) for threads in (1, 2) for engine in ("InnoDB", "TidesDB")),
                                 *((2, threads, engine) for threads in (2, 1) for engine in ("TidesDB", "InnoDB"))])


class Disk(unittest.TestCase):
    def setUp(self):
        self.data = folder(self)

    def file(self, name, kilobytes):
        path = self.data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * (kilobytes << 10))

    def test_redo_and_undo_are_no_data(self):
        for name, kilobytes in (("ib_logfile0", 400), ("ibdata1", 200), ("undo001", 100), ("sbtest/sbtest1.ibd", 300),
                                ("other/t.ibd", 800)):
            self.file(name, kilobytes)
        self.assertEqual(disk.usage("InnoDB", self.data, "sbtest", 0), disk.Usage(300 << 10, 0, 400 << 10, 300 << 10))

    def test_what_is_not_flushed_is_data_and_the_log_apart(self):
        self.file("#tidesdb/000001.wal", 640)
        self.file("#tidesdb/000002.tdb", 200)
        usage = disk.usage("TidesDB", self.data, "sbtest", 100 << 10)
        self.assertEqual(usage, disk.Usage(200 << 10, 100 << 10, 640 << 10, 0))
        self.assertEqual(usage.phases("after_run"),
                         {"after_run": 300 << 10, "after_run_files": 200 << 10, "after_run_unflushed": 100 << 10,
                          "after_run_log": 640 << 10, "after_run_undo": 0})

    def test_an_engine_without_a_log_has_nothing_unflushed(self):
        self.file("#rocksdb/000007.sst", 200)
        self.file("#rocksdb/MANIFEST-000005", 4096)
        self.assertEqual(disk.usage("RocksDB", self.data, "sbtest", 1 << 20), disk.Usage(200 << 10, 0, 0, 0))

    def test_holes_are_not_counted(self):
        self.file("sbtest/sbtest1.ibd", 64)
        with open(self.data / "sbtest" / "sbtest1.ibd", "r+b") as file:
            file.truncate(1 << 30)
        self.assertEqual(disk.usage("InnoDB", self.data, "sbtest", 0).files, 64 << 10)

    def test_only_what_came_since_but_the_whole_log(self):
        before, after = disk.Usage(10, 5, 100, 7), disk.Usage(30, 2, 100, 9)
        self.assertEqual(after.minus(before), disk.Usage(20, 0, 100, 2))

    def test_a_directory_that_cannot_be_read_gives_nothing(self):
        self.assertIsNone(disk.usage("InnoDB", None, "sbtest", 0))


_SIZES = {"after_prepare": 1 << 20, "after_run": 3 << 20, "after_run_log": 64 << 20}


def _measured(wanted, raw, names=("errors", "read_write")):
    """Figures of all units, from the recorded outputs in turn."""
    figures = []
    for number, unit in enumerate(study.units(wanted)):
        (raw / unit.file_name).write_text(recorded(names[number % len(names)]))
        figures.append(tables.Figures(unit, {"raw": unit.file_name, "sizes": _SIZES}, raw))
    return figures


class Csv(unittest.TestCase):
    def setUp(self):
        self.directory = folder(self)
        self.wanted = settings.read({"WORKLOADS": "oltp_insert", "THREAD_COUNTS": "8"})
        self.figures = _measured(self.wanted, self.directory)
        self.paths = tables.write(self.directory, "now", self.figures, 30)

    def rows(self, kind):
        with open(self.paths[kind], encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_heads_are_the_documented_ones(self):
        key = "engine,workload,threads,table_size,iteration"
        heads = {kind: path.read_text().splitlines()[0] for kind, path in self.paths.items()}
        self.assertEqual(heads, {
            "summary": f"{key},tps,qps,reads_per_sec,writes_per_sec,latency_avg_ms,latency_min_ms,latency_p95_ms,"
                       "latency_max_ms,errors,reconnects,total_time_s,warmup_s,data_size_after_prepare_mb,"
                       "data_size_after_run_mb",
            "detail": f"{key},time_s,tps,qps,latency_avg_ms,latency_p95_ms", "latency": f"{key},percentile,latency_ms",
            "sizes": f"{key},phase,size_bytes,size_mb"})

    def test_tps_and_qps_are_rates(self):
        row = self.rows("summary")[0]
        self.assertEqual(list(row.values()), [
            "InnoDB", "oltp_insert", "8", "10000", "1", "302.30", "6917.56", "4987.21", "1272.39", "26.290", "1.250",
            "104.840", "364.930", "217", "0", "4.026", "30", "1.000", "3.000"])

    def test_the_detail_s_average_is_one(self):
        row = self.rows("detail")[0]
        self.assertEqual((row["time_s"], row["tps"], row["latency_p95_ms"]), ("1", "193.84", "186.540"))
        self.assertAlmostEqual(float(row["latency_avg_ms"]), 8 / 193.84 * 1000, places=2)

    def test_percentiles_and_sizes(self):
        latency = {row["percentile"]: float(row["latency_ms"]) for row in self.rows("latency") if row["engine"] == "InnoDB"}
        self.assertEqual(list(latency), ["50", "75", "90", "95", "99", "99.9", "100"])
        self.assertEqual(latency["95"], 104.84)
        self.assertEqual(list(latency.values()), sorted(latency.values()))
        size = self.rows("sizes")[1]
        self.assertEqual((size["phase"], size["size_bytes"], size["size_mb"]), ("after_run", "3145728", "3.000"))

    def test_ours_is_read_back_as_it_is(self):
        table = sqlbench_csv.summary(self.paths["summary"].read_text(), "summary.csv")
        self.assertEqual((table.notes, table.rows[0].figures["tps"]), ([], 302.3))
        self.assertEqual(sqlbench_csv.detail(self.paths["detail"].read_text()).notes, [])


class FakeServer:
    """Stands for the servers; measuring is patched."""
    binaries, version = {}, "10.11.18"
    wanted = settings.read({})

    def options(self, engine):
        return settings.server_options(self.wanted, engine)

    def identity(self):
        return {"server": self.version}

    def said(self):
        return ["Nothing limits it."]

    def take_database(self, journal):
        """There is no database."""


class GoesOn(unittest.TestCase):
    def setUp(self):
        self.output = folder(self) / "results"
        self.wanted = settings.read({"WORKLOADS": "oltp_insert", "THREAD_COUNTS": "1 2"})
        self.measured = []
        self.trouble = {}

    def measure(self, it, unit, step):
        """Stands for Study.measure."""
        self.measured.append(unit.name)
        if unit.name in self.trouble:
            raise self.trouble[unit.name]
        step.note("fine")
        raw = it.directory / unit.file_name
        shutil.copy(RECORDED / "sysbench-1.0.20-errors.txt", raw)
        samples = Samples()
        for at in range(3):
            samples.add(at, {"disk bytes": at << 20, "cpu seconds": at}, {"Handler_write": at * 1000})
        samples.save(raw.with_suffix(".samples.json"))
        run = it.run_of(unit, raw, samples, _SIZES)
        run.variables, run.memory = {"innodb_buffer_pool_size": "67108864"}, {"with page cache, peak": 400 << 20}
        return [run], {"raw": raw.name, "sizes": _SIZES}

    def sitting(self, wanted=None, fresh=False, server=None):
        """Runs sqlbench once: (its exit code, the report, its output)."""
        where = SimpleNamespace(output=self.output, data=self.output, fresh=fresh, plot=False)
        said = io.StringIO()
        with (mock.patch.object(study.Study, "measure", lambda it, *given: self.measure(it, *given)),
              contextlib.redirect_stdout(said), mock.patch.object(plotly, "source", lambda: "/* plotly.js v9 */")):
            code = sqlbench.chosen(wanted or self.wanted, where, server or FakeServer()).go()
        return code, max(self.output.glob("report_*.md"), key=os.path.getmtime).read_text(), said.getvalue()

    def begun(self):
        """A run that was interrupted in the second of its four units."""
        self.trouble = {study.units(self.wanted)[1].name: KeyboardInterrupt()}
        with self.assertRaises(KeyboardInterrupt):
            self.sitting()
        self.trouble, self.measured = {}, []

    def test_in_one_go(self):
        code, text, _ = self.sitting()
        self.assertEqual((code, len(self.measured)), (0, 4))
        self.assertNotIn("Interruptions", text)
        self.assertEqual(len(list(self.output.glob("report_*.html"))), 1)
        made = pick.study([self.output])
        self.assertEqual([run.throughput for run in made.runs], [302.3] * 4)
        self.assertEqual(made.history, [])
        self.assertIn("commit", made.provenance)
        self.assertEqual(len(made.files), 1 + 4 * 2)  # Two files of each measurement.
        run = made.runs[0]
        self.assertAlmostEqual(run.write_amplification, (2 << 20) / (2000 * 188))
        self.assertEqual((run.memory["with page cache, peak"], run.sizes["log after the run"]), (400 << 20, 64 << 20))
        self.assertEqual((run.variables["innodb_buffer_pool_size"], run.cpu_s), ("67108864", 2))
        self.assertIn("--innodb_buffer_pool_size=256M", run.configuration["server options"])
        self.assertIn(("innodb_buffer_pool", "256M"), made.configuration)
        self.assertNotIn("rocksdb_block_cache", dict(made.configuration))  # RocksDB is not in this run.
        sums = next(self.output.glob("raw_*")) / "SHA256SUMS"
        self.assertRegex(sums.read_text(), r"(?m)^[0-9a-f]{64}  \.\./summary_\S+\.csv$")

    def test_with_a_profile_the_report_shows_what_the_servers_were_told(self):
        self.wanted = settings.read({"PROFILE": "seed-004", "WORKLOADS": "oltp_insert", "THREAD_COUNTS": "1"})
        with mock.patch.object(FakeServer, "wanted", self.wanted):
            _, text, _ = self.sitting()
        self.assertIn("--innodb_buffer_pool_size=64M", text)
        self.assertIn("| profile ", text)
        for name in ("innodb_buffer_pool ", "tidesdb_block_cache ", "rocksdb_flush "):
            self.assertNotIn(f"| {name}", text)
        self.assertNotIn("256M", text)

    def test_a_run_that_ended_is_not_gone_on_with(self):
        self.sitting()
        with mock.patch("time.strftime", return_value="another"):
            self.sitting()
        self.assertEqual(len(self.measured), 8)

    def test_after_an_interruption_only_the_rest_is_measured_and_the_report_says_so(self):
        names = [unit.name for unit in study.units(self.wanted)]
        self.trouble = {names[2]: KeyboardInterrupt()}
        with self.assertRaises(KeyboardInterrupt):
            self.sitting()
        self.trouble, self.measured = {}, []
        _, text, said = self.sitting()
        self.assertEqual(self.measured, names[2:])
        self.assertIn(f"Interrupted during: {names[2]}", text)
        self.assertIn(f"[1/4] {names[0]}: done in an earlier sitting", said)
        self.assertEqual(len(list(self.output.glob("summary_*.csv"))), 1)
        self.assertEqual(len(next(self.output.glob("summary_*.csv")).read_text().splitlines()), 5)

    def test_a_measurement_that_fails_does_not_stop_the_others_and_is_tried_again(self):
        names = [unit.name for unit in study.units(self.wanted)]
        self.trouble = {names[1]: Failed("the server ended at once")}
        code, text, _ = self.sitting()
        self.assertEqual((code, len(self.measured)), (1, 4))
        self.assertIn(f"Failed: {names[1]}: the server ended at once", text)
        self.trouble, self.measured = {}, []
        with mock.patch("time.strftime", return_value="another"):
            code, _, _ = self.sitting()
        self.assertEqual((code, self.measured), (0, [names[1]]))

    def test_what_is_not_the_same_begins_anew_and_leaves_what_is_there(self):
        other = settings.read({"WORKLOADS": "oltp_insert", "THREAD_COUNTS": "1 2", "TIME": "61"})
        for number, given in enumerate(({"wanted": other}, {"server": mock.Mock(wraps=FakeServer(), binaries={}, **{
                "identity.return_value": {"server": "11.8.6"}})}, {"fresh": True}), 1):
            self.begun()
            with self.subTest(given), mock.patch("time.strftime", return_value=f"another{number}"):
                self.sitting(**given)
                self.assertEqual(len(self.measured), 4)
                self.assertEqual(len(list(self.output.glob("raw_another*"))), number)


class Servers(unittest.TestCase):
    def setUp(self):
        self.base = folder(self)
        for name in ("bin/mariadbd", "bin/mariadb", "lib/plugin/ha_tidesdb.so"):
            (self.base / name).parent.mkdir(parents=True, exist_ok=True)
            (self.base / name).touch(0o755)

    def own(self, **variables):
        environment = {"MYSQLD": str(self.base / "bin" / "mariadbd"), "PLUGIN_DIR": str(self.base / "lib" / "plugin"),
                       "DATA_DIR": str(self.base / "data"), "BUILD_DIR": str(self.base), **variables}
        return target.OwnServers(settings.read(environment), places.read(environment), None)

    def test_what_is_asked_for_is_used(self):
        server = self.own()
        self.assertEqual(server.environment.mariadbd, self.base / "bin" / "mariadbd")
        self.assertEqual(server.plugin, self.base / "lib" / "plugin" / "ha_tidesdb.so")
        self.assertEqual(server.environment.tool("mariadb"), self.base / "bin" / "mariadb")

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(Failed, "^MYSQLD=/nowhere/mariadbd: there is no such file"):
            self.own(MYSQLD="/nowhere/mariadbd")
        with self.assertRaisesRegex(Failed, "has no provider_lz4.so; Debian's package is mariadb-plugin-provider-lz4"):
            self.own(INNODB_COMPRESSION="LZ4")
        (self.base / "lib" / "plugin" / "ha_tidesdb.so").unlink()
        with self.assertRaisesRegex(Failed, "has no ha_tidesdb.so"):
            self.own()

    def test_somebody_s_files_are_not_touched(self):
        theirs = self.base / "data" / "precious"
        theirs.parent.mkdir()
        theirs.touch()
        server = self.own()
        with self.assertRaisesRegex(Failed, "^DATA_DIR: .* holds something that sqlbench did not make"):
            server.prepare()
        server.close()
        self.assertTrue(theirs.exists())

    def test_only_what_was_made_is_removed(self):
        server = self.own()
        server.prepare()
        (self.base / "data" / "template").mkdir()
        server.close()
        self.assertFalse((self.base / "data").exists())

    def test_a_directory_that_was_there_stays(self):
        (self.base / "data").mkdir()
        server = self.own()
        server.prepare()
        server.close()
        self.assertEqual(list((self.base / "data").iterdir()), [])

    def test_a_second_interruption_leaves_no_server_either(self):
        server = self.own()
        server.prepare()
        self.addCleanup(server.close)
        (self.base / "data" / "template" / "data" / "mysql").mkdir(parents=True)
        process = subprocess.Popen(["sleep", "600"], start_new_session=True)
        fake = mock.Mock(process=process, **{"stop.side_effect": KeyboardInterrupt()})
        fake.end = lambda: private_server.PrivateServer.end(SimpleNamespace(process=process, _group=None))
        with mock.patch.object(server, "_server", return_value=fake):
            with self.assertRaises(KeyboardInterrupt), server.measured("TidesDB"):
                raise KeyboardInterrupt
        self.assertEqual(process.poll(), -signal.SIGKILL)
        self.assertFalse((self.base / "data" / "run").exists())

    def test_two_runs_do_not_share_a_data_directory(self):
        first, second = self.own(), self.own()
        first.prepare()
        with self.assertRaisesRegex(Failed, "^DATA_DIR: another sqlbench works in"):
            second.prepare()
        second.close()
        self.assertTrue((self.base / "data" / target.MARK).exists())
        first.close()
        self.assertFalse((self.base / "data").exists())

    def test_of_a_server_that_runs_already_its_own_settings_are_shown_and_what_is_not_to_be_seen(self):
        client, wanted = str(self.base / "bin" / "mariadb"), settings.read({"ENGINES": "InnoDB"})
        where = places.read({"SOCKET": str(self.base / "none.sock"), "MYSQL_BIN": client})
        server = running.Running(wanted, where, None)
        with mock.patch.object(server, "_client", ["sh", "-c", 'case "$*" in *pid_file*) printf "/none/\\tx.pid\\tx\\n";; '
                                                   '*VARIABLES*) printf "innodb_buffer_pool_size\\t5\\n";; esac', "-"]):
            said = server.said()
            self.assertEqual(server.options("InnoDB"), ["--innodb_buffer_pool_size=5"])
        self.assertRegex(said[0], "^The server's process is not visible")
        self.assertIn("The server runs with innodb_buffer_pool_size=5, not with the requested 256M.", said)
        self.assertNotIn("innodb_buffer_pool", dict(study.asked(wanted, running=True)))

    def test_a_setting_that_did_not_take_is_an_error(self):
        def server(mode):
            rows = f"tidesdb_unified_memtable_sync_mode\t{mode}\ninnodb_x\t67108864\nsw\tON\n"
            return SimpleNamespace(sql=lambda _: rows)

        options = ["--tidesdb_unified_memtable_sync_mode=NONE", "--innodb_x=64M", "--sw=1", "--skip-log-bin"]
        private_server.check_settings(server("NONE"), options)
        with self.assertRaisesRegex(Failed, "sync_mode=NONE and runs with FULL"):
            private_server.check_settings(server("FULL"), options)
        # Of two values for one name the server takes the last.
        private_server.check_settings(server("NONE"), ["--innodb_x=32M", "--innodb-x=64M"])
        cut = SimpleNamespace(sql=lambda _: "tidesdb_block_cache_size\t100663296\n")
        with self.assertRaisesRegex(Failed, "=256M and runs with 100663296: tidesdb_max_memory_usage, which is half of"):
            private_server.check_settings(cut, ["--tidesdb_block_cache_size=256M"])
