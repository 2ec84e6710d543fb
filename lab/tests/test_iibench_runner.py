"""Tests of lab/runners/iibench: what varies, resuming a run, and the report."""

import contextlib
import io
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer.shell import Failed
from lab.observe.sampler import Samples
from lab.reports import charts, markdown, plotly, tables
from lab.runners import pick
from lab.runners.iibench import options, study
from lab.study import core, written
from lab.study.journal import Journal
from lab.tests.cases import patch
from lab.tests.test_report import Files, insert_benchmark
from lab.tests.test_report_adapters import FACTS


class Options(unittest.TestCase):
    def test_each_with_each(self):
        args = options.parse(["--engines", "InnoDB,TidesDB", "--vary", "i1-batch=10,50", "--vary", "cache=64M,1G"])
        self.assertEqual(options.points(args)[1], {"i1-batch": "10", "cache": "1G"})
        self.assertEqual(len(options.points(args)), 4)
        self.assertEqual(options.points(options.parse([])), [{}])
        made = study.units(options.parse(["--engines", "InnoDB,TidesDB", "--repetitions", "2"]))
        self.assertEqual([(unit.engine, unit.repetition) for unit in made],
                         [("InnoDB", 1), ("TidesDB", 1), ("TidesDB", 2), ("InnoDB", 2)])
        swept = study.units(options.parse(["--engines", "TidesDB", "--vary", "cache=1M,4M", "--repetitions", "2"]))
        self.assertEqual([unit.condition[-2:] for unit in swept], ["1M", "4M", "4M", "1M"])

    def test_two_that_vary_alike(self):
        args = options.parse(["--engines", "TidesDB", "--vary",
                              "tidesdb_bulk_staging_size+tidesdb_index_build_staging_size=1M,4M"])
        self.assertEqual(options.points(args)[1],
                         {"tidesdb_bulk_staging_size": "4M", "tidesdb_index_build_staging_size": "4M"})
        self.assertEqual(len(options.points(args)), 2)
        with self.assertRaisesRegex(Failed, "--vary tidesdb_x: belongs only to TidesDB"):
            options.parse(["--engines", "InnoDB", "--vary", "innodb_x+tidesdb_x=1"])

    def test_every_engine_works_as_long(self):
        args = options.parse(["--i1-rows", "0", "--write-seconds", "150", "--scale-down", "10"])
        self.assertEqual(options.sizes(args, {}), ["--i1-rows", "0", "--write-seconds", "150", "--scale", "0.1"])
        with self.assertRaisesRegex(Failed, "--i1-rows 0: needs --write-seconds"):
            options.parse(["--i1-rows", "0"])

    def test_how_long_a_measurement_takes_before_one_was_seen(self):
        for said, seconds in [("--phases l.i0,l.x --load-rows 100000", 11),
                              ("--phases l.i0,l.x,l.i1 --load-rows 50000", 300),
                              ("--profile seed-001 --scale-down 100 --i1-rows 0 --write-seconds 18", 29), ("", 300),
                              ("--phases l.i0,qr100 --load-rows 50000 --write-seconds 18", 300)]:
            with self.subTest(said):
                self.assertEqual(options.expected_s(options.parse(said.split())), seconds)

    def test_a_step_that_is_none_is_named_before_anything_is_built(self):
        self.assertEqual(options.parse(["--phases", "l.i0,l.x,l.i1,l.i2,qr100,qp1000"]).phases,
                         "l.i0,l.x,l.i1,l.i2,qr100,qp1000")
        for given, named in (("l.i0,zz", "'zz'"), ("qr0", "'qr0'"), ("l.i3", "'l.i3'"), ("l.i0,", "''")):
            said = io.StringIO()
            with contextlib.redirect_stderr(said), self.assertRaises(SystemExit):
                options.parse(["--phases", given])
            self.assertIn(f"{named} is not a step; known are l.i0, l.x, l.i1, l.i2, qrN and qpN", said.getvalue())

    def test_a_cache_is_each_engine_s_own(self):
        args = options.parse(["--vary", "cache=1G"])
        for engine, name in (("InnoDB", "innodb_buffer_pool_size"), ("TidesDB", "tidesdb_block_cache_size"),
                             ("RocksDB", "rocksdb_block_cache_size")):
            self.assertEqual(options.server_options(args, engine, {"cache": "1G", "i1-batch": "5"})[-1], f"--{name}=1G")

    def test_rows_are_scaled_down_and_batches_are_not(self):
        args = options.parse(["--load-rows", "1000", "--i1-batch", "50", "--scale-down", "10", "--phases", "l.i0"])
        self.assertEqual(options.sizes(args, {"i2-batch": "5"}),
                         ["--load-rows", "100", "--i1-batch", "50", "--i2-batch", "5", "--scale", "0.1", "--phases",
                          "l.i0"])
        self.assertEqual(options.sizes(options.parse([]), {}), [])

    def test_seed_001_s(self):
        args = options.parse(["--profile", "seed-001"])
        self.assertEqual((args.generator_profile, args.sync), ("seed-001-deletes", "NONE"))
        self.assertIn("--tidesdb_pessimistic_locking=OFF", options.server_options(args, "TidesDB", {}))
        sweep = ["--engines", "TidesDB", "--vary", "tidesdb_bulk_staging_size=64K,16M"]
        self.assertEqual(options.server_options(args, "TidesDB", options.points(options.parse(sweep))[1])[-1],
                         "--tidesdb_bulk_staging_size=16M")

    def test_what_cannot_be_run_is_refused_by_name(self):
        with self.assertRaisesRegex(Failed, "--engines: MyISAM is not known"):
            options.parse(["--engines", "MyISAM"])
        with self.assertRaisesRegex(Failed, "--vary tidesdb_bulk_staging_size: belongs only to TidesDB"):
            options.parse(["--vary", "tidesdb_bulk_staging_size=1M"])
        for wrong in ("i1-batch", "i1-batch=", "batch=5"):
            with self.assertRaises(SystemExit), mock.patch.object(options.argparse.ArgumentParser, "_print_message"):
                options.parse(["--vary", wrong])


class Faked(study.Study):
    """A study whose measurements are made up."""

    case = None  # The test that runs it.

    def prepare(self, _log):
        self.environment = SimpleNamespace(version="11.8.6")
        self.told = {engine: [f"--{engine}"] for engine in self.args.engine_names}
        self.unequal = ["Profile fair: equal.", "A limit."]
        self.case.plugin_file.write_text("a build")
        self.binaries = {"ha_tidesdb.so": self.case.plugin_file}

    def facts(self):
        return FACTS

    def take(self, unit, _note):
        raw = self.directory / "raw"
        raw.mkdir(exist_ok=True)
        result = insert_benchmark(unit.engine)
        result["started"] = f"at {unit.name}"
        began = result["phases"][0]["began_unix_s"] - 2
        samples = Samples(began=began)
        for at in range(40):
            samples.add(at, {"disk bytes": at << 20, "cpu seconds": at / 2, "resident bytes": (100 + at) << 20},
                        {"Handler_write": at * 50})
        (raw / f"{unit.stem}.json").touch()
        own = Samples(began=began + 29)
        for at, megabytes in enumerate((20, 21, 60, 61, 50, 40)):
            own.add(at, {"disk bytes": at << 21, "cpu seconds": at, "resident bytes": megabytes << 20}, {})
        return {"path": raw / f"{unit.stem}.json", "result": result, "samples": samples, "versions": {},
                "bulk": {"rows": 10_000, "seconds": 4.0, "began_unix_s": began + 30, "resident_peak": 64 << 20},
                "bulk_samples": own, "variables": {"innodb_buffer_pool_size": "1", "datadir": "/somewhere"},
                "options": [f"--{unit.engine}", *(f"--{name}={value}" for name, value in unit.point)],
                "directory_bytes": 5 << 20,
                "memory": {"limit": 512 << 20, "group_peak": 300 << 20, "resident_peak": 250 << 20, "oom_kills": 0}}


class Run(Files):
    def setUp(self):
        super().setUp()
        self.plugin_file = Path(self.directory) / "ha_tidesdb.so"
        self.directory = Path(self.directory) / "iibench_1"
        patch(self, (plotly, "source", lambda: "/* plotly.js v9 */"), (charts, "draw", mock.Mock()))

    def go(self, *argv):
        args = options.parse(["--engines", "InnoDB,TidesDB", *argv])
        it = Faked(args, self.directory, {"argv": list(argv)})
        it.case, self.said = self, io.StringIO()
        with redirect_stdout(self.said), mock.patch.object(core.apt, "install"):
            return it.go()

    def test_a_report_of_all_steps(self):
        self.assertEqual(self.go("--vary", "i1-batch=10,50", "--memory-max", "0", "--bulk"), 0)
        made = pick.study([self.directory])
        self.assertEqual(len(made.runs), 2 * 2 * 6)
        self.assertEqual({run.condition for run in made.runs}, {"i1-batch 10", "i1-batch 50"})
        load, index, bulk = made.runs[0], made.runs[1], made.runs[5]
        # 1 MB, 0.5 s of CPU and 50 rows per second; the load begins at 2 s and takes 1.227 s.
        self.assertEqual((load.written_bytes, load.memory["resident, peak"]), (round(1.227 * (1 << 20)), 103 << 20))
        self.assertAlmostEqual(load.cpu_s, 1.227 / 2)
        self.assertEqual(load.status, {"Handler_write": 61.35})
        # 0.402 s between two samples; the memory comes from the samples around it.
        self.assertEqual((index.written_bytes, index.status), (round(0.402 * (1 << 20)), {"Handler_write": 20.1}))
        self.assertEqual(index.memory["resident, peak"], 105 << 20)
        self.assertEqual((bulk.workload, bulk.throughput), ("iibench INSERT ... SELECT", 2500))
        # Samples of the restarted server: one second before the step, then two megabytes per second.
        self.assertEqual((bulk.written_bytes, bulk.memory["with page cache, peak"]), (8 << 20, 300 << 20))
        self.assertEqual((bulk.memory["resident, before"], bulk.memory["resident, peak"]), (20 << 20, 64 << 20))
        self.assertNotIn("resident, before", load.memory)
        self.assertAlmostEqual(bulk.write_amplification, (8 << 20) / (10_000 * 44))
        self.assertEqual(load.series["Handler_write"].points[0][0], 1)  # Time counts from the step's start.
        self.assertIn("The server restarts before INSERT", made.about)
        self.assertIn(f"raw/InnoDB_i1-batch-10_1{study.BULK_SAMPLES}", bulk.files)
        self.assertEqual(load.variables, {"innodb_buffer_pool_size": "1"})
        self.assertEqual(load.configuration["server options"], "--InnoDB --i1-batch=10")
        self.assertEqual(made.unequal, ["Profile fair: equal.", "A limit."])
        self.assertIn("raw/InnoDB_i1-batch-10_1.json", made.files)
        for name in ("report.html", "report.md", "SHA256SUMS"):
            self.assertTrue((self.directory / name).exists(), name)

    def test_what_varies_is_in_the_options_that_the_report_shows(self):
        vary = "tidesdb_bulk_staging_size=1M,4M"
        self.assertEqual(self.go("--vary", vary, "--engines", "TidesDB", "--memory-max", "0"), 0)
        self.assertRegex(markdown.text(pick.study([self.directory])),
                         r"(?m)^\| server options +\| --TidesDB --tidesdb_bulk_staging_size=1M +\| .*=4M +\|$")

    def test_steps_and_repetitions_have_one_configuration(self):
        self.assertEqual(self.go("--repetitions", "2", "--memory-max", "0"), 0)
        made = pick.study([self.directory])
        self.assertEqual(tables.run_configuration(made).head, ["", "InnoDB", "TidesDB"])
        self.assertNotIn("started (UTC)", markdown.text(made))

    def test_a_run_that_was_begun_in_another_order_is_refused_by_name(self):
        with Journal(self.directory / written.JOURNAL, "iibench_runner", {"argv": ["--memory-max", "0"]}):
            pass
        with self.assertRaisesRegex(Failed, "order was None and is 'each repetition in the reverse order of the one"):
            self.go("--memory-max", "0")

    def test_the_order_is_said(self):
        self.go("--memory-max", "0", "--repetitions", "2")
        self.assertTrue(written.read(self.directory).about.endswith(
            " Each repetition was run in the reverse order of the one before."))


class Bulk(unittest.TestCase):
    def test_a_row_that_is_missing_is_an_error(self):
        server = SimpleNamespace(sql=lambda statement: "9\t10\n" if "COUNT" in statement else "", memory=lambda: {})
        with self.assertRaisesRegex(Failed, "9 of 10 rows are in the copy"):
            study.bulk(server)

    def test_it_has_a_server_that_begins_anew(self):
        said = []

        class Server:
            stop, start = (lambda _, what=what: said.append(what) for what in ("stop", "start"))

            def sql(self, statement):
                said.append(statement.split()[0])
                return "10\t10\n" if "COUNT" in statement else ""

            def memory(self):
                said.append("memory")
                return {"resident_peak": 7}

            def sampler(self):
                samples = SimpleNamespace(save=lambda path: said.append(path.name))
                return contextlib.nullcontext(SimpleNamespace(samples=samples))

        it = study.Study(options.parse([]), ".", {})
        done, _ = it._bulk(study.Unit("TidesDB", (), 1), Server(), Path("raw"), lambda _: None)
        # The peak is read before the rows are counted.
        self.assertEqual(said, ["stop", "start", "CREATE", "INSERT", "memory", "SELECT", "TidesDB_1.bulk.samples.json"])
        self.assertEqual((done["rows"], done["resident_peak"]), (10, 7))
