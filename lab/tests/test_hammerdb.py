"""Tests of lab/runners/hammerdb without a server: options, Tcl words, an interrupted run, plotting again."""

import io
import json
import os
import subprocess
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer.shell import Failed
from lab.base import watched
from lab.reports import plotly, style
from lab.runners import pick
from lab.runners.hammerdb import builds_study, hammerdb_csv, logs, options, real, server, study
from lab.runners.hammerdb.cpu import CpuMeter
from lab.study import copies, core, sitting, written
from lab.tests.cases import folder, patch
from lab.tests.test_parse_hammerdb import Csv
from lab.tests.test_report import made


class Options(unittest.TestCase):
    def test_a_seed_s_command(self):
        args = options.parse("-b tpcc --warehouses 40 --tpcc-vu 8 --tpcc-build-vu 8 --rampup 1 --duration 2 --settle 5 -H "
                             "HammerDB-5.0 -e tidesdb -u hammerdb --pass hammerdb123 -S /tmp/mariadb.sock".split())
        self.assertEqual((args.engines, args.benchmarks, args.warehouses, args.rampup, args.password),
                         (["tidesdb"], ["tpcc"], 40, 1, "hammerdb123"))

    def test_engines(self):
        for text, engines in (("both", ["tidesdb", "rocksdb"]), ("all", ["tidesdb", "rocksdb", "innodb"]),
                              ("InnoDB,tidesdb", ["innodb", "tidesdb"])):
            self.assertEqual(options.parse(["-e", text]).engines, engines)

    def test_what_cannot_be_run_is_refused_by_name(self):
        for argv, message in ((["-e", "postgres"], "-e postgres: PostgreSQL is not supported"),
                              (["-e", "myisam"], "-e myisam: is not known; known are tidesdb"),
                              (["-b", "tpch"], "-b tpch: .* give the real HammerDB with -H DIR"),
                              (["-b", "both"], "-b both: .* -H DIR"),
                              (["-b", "tpch", "-H", "x", "-e", "all"], "-b tpch -e tidesdb,rocksdb: .* foreign keys"),
                              (["--pg-host", "x"], "--pg-host: PostgreSQL"),
                              (["--duration", "0"], "--duration: is zero"),
                              (["-H", "x", "--duration", "0.5"], "HammerDB counts whole minutes"),
                              (["--private-server", "-S", "x"], "--private-server: starts its own server")):
            with self.assertRaisesRegex(Failed, message):
                options.parse(argv)

    def test_a_debug_run_is_short(self):
        args = options.parse(["--debug-run"])
        self.assertEqual((args.tpcc_vu, args.rampup, args.duration), (2, 0, 1))

    def test_partitions(self):
        args = options.parse(["--warehouses", "450"])
        self.assertEqual([options.partitions(args, engine) for engine in options.ENGINES], [0, 0, 4])
        self.assertEqual(options.partitions(options.parse(["--warehouses", "450", "--rocksdb-partition"]), "rocksdb"), 4)
        with mock.patch.dict(os.environ, INNODB_PARTITION_THRESHOLD="500"):
            self.assertEqual(options.partitions(options.parse(["--warehouses", "450"]), "innodb"), 0)

    def test_a_password_is_not_written_down(self):
        argv = ["-u", "x", "--pass", "secret", "--pass=secret", "-e", "all"]
        self.assertEqual(sitting.without_secrets(argv), ["-u", "x", "-e", "all"])


class Pieces(unittest.TestCase):
    def test_words_of_tcl(self):
        self.assertEqual(real._quoted('a"b[c]$d\\{'), '"a\\"b\\[c\\]\\$d\\\\\\{"')

    def test_a_folder_without_hammerdb(self):
        with tempfile.TemporaryDirectory() as name:
            with self.assertRaisesRegex(Failed, "has no hammerdbcli"):
                real.version(name)
            (Path(name) / "hammerdbcli").write_text('set hdb_version "v4.12"\n')
            with self.assertRaisesRegex(Failed, "is HammerDB 4.12; only 5 and 6 are supported"):
                real.version(name)
            (Path(name) / "hammerdbcli").write_text('set hdb_version "v6.0"\n')
            self.assertEqual(real.version(name), "6.0")

    def test_no_server_says_what_to_do(self):
        running = server.Running(options.parse(["-S", "/nowhere/x.sock"]))
        with mock.patch.object(server.Connection, "sql", side_effect=Failed("ERROR 2002")):
            with self.assertRaisesRegex(Failed, "(?s)ERROR 2002.*-S SOCKET.*--private-server"):
                running.check(["innodb"])
        with mock.patch.object(server.Connection, "sql", return_value=[["InnoDB", "DEFAULT"]]):
            running.check(["innodb"])
            with self.assertRaisesRegex(Failed, "-e tidesdb: .* has no engine TidesDB"):
                running.check(["tidesdb"])

    def test_a_password_is_not_logged(self):
        with tempfile.TemporaryDirectory() as name:
            watched.run(["printf", "Changed tpcc:maria_pass from x to y\\nmaria_user\\n"], Path(name) / "log",
                        leave_out=real._SAYS_PASSWORD)
            self.assertEqual((Path(name) / "log").read_text(), "maria_user\n")

    def test_cpu_by_new_order(self):
        meter = CpuMeter(None)
        meter.first, meter.last = (0, 1.0, 2.0), (60, 4.0, 5.0)
        self.assertEqual(meter.row(1000), {"server_cpu_ms_per_neword": 3.0, "client_cpu_ms_per_neword": 3.0})
        self.assertEqual(meter.row(0), {})


class FakeConnection:
    def __init__(self):
        self.databases, self.said, self.analyze = set(), [], "status"

    def sql(self, statement):
        self.said.append(statement)
        if "VERSION()" in statement:
            return [["server", "11.8.6-MariaDB"]]
        if "information_schema" in statement:
            return [["ORDERS"]]
        return [["t", "analyze", self.analyze, "text"]] if "ANALYZE" in statement else []

    def has_database(self, name):
        return name in self.databases

    def address(self):
        return "nowhere"


class FakeServer:
    def __init__(self):
        self.connection, self.started, self.unseen, self.version = FakeConnection(), [], [], "10.11.18"
        self.server = SimpleNamespace(sql=self._sql, sampler=None)

    @staticmethod
    def _sql(statement):
        return ("server\t11.8.6-MariaDB\nha_tidesdb.so\tTidesDB 1.0\n" if "VERSION()" in statement else
                "version\t10.11.18\ndatadir\t/secret\n")

    def facts(self):
        return {"says": {"server": self.version}, "unseen": self.unseen}, {}

    def identity(self):
        return {"server": self.version}

    def options(self, engine):
        return [f"--of-{engine}"]

    def check(self, engines):
        pass

    def start(self, engine, place):
        self.started.append(place)
        return self.connection

    def stop(self):
        pass

    def remove(self, place):
        pass

    @staticmethod
    def failed(error):
        return error


class FakeGenerator:
    name, binaries = "fake", {}

    def identity(self):
        return {"generator": self.name}

    def __init__(self, fail=None, consistent=True):
        self.calls, self.fail, self.consistent = [], fail, consistent

    def expected_s(self, step, benchmark):
        return 1

    def build(self, connection, engine, benchmark, directory, note):
        self.calls.append(f"build {engine}")

    def run(self, connection, engine, benchmark, directory, note, on_measure):
        self.calls.append(f"run {engine}")
        if self.fail and self.fail[0] == engine:
            raise self.fail[1]
        return {"nopm": 1000, "tpm": 2300, "errors": 0, "consistent": self.consistent, "generator": self.name,
                **{f"{name}_{key}_ms": 2.0 for name in ("neword", "payment", "delivery") for key in ("avg", "p95")}}

    def drop(self, connection, benchmark, directory):
        self.calls.append("drop")


class Run(unittest.TestCase):
    def setUp(self):
        self.directory = folder(self) / "hammerdb_logs_1"
        self.server = FakeServer()
        patch(self, (study, "COOLDOWN_S", 0), (study, "draw", mock.Mock()),
                    (core.apt, "install", mock.Mock()),
                    (plotly, "source", lambda: "/* plotly.js v9 */"))

    def go(self, generator, *more):
        argv = ["-e", "innodb,tidesdb", "--settle", "0", *more]
        it = study.Study(options.parse(argv), self.directory, {"argv": argv})
        self.said = io.StringIO()
        with mock.patch.object(study.server, "make", return_value=self.server), \
                mock.patch.object(study.builtin, "Builtin", return_value=generator), redirect_stdout(self.said):
            return it.go()

    def rows(self):
        path = self.directory.parent / "hammerdb_results_1.csv"
        return hammerdb_csv.read(path.read_text(), path)

    def test_all_steps_in_order(self):
        generator = FakeGenerator()
        self.assertEqual(self.go(generator), 0)
        self.assertEqual(generator.calls, ["build innodb", "run innodb", "drop", "build tidesdb", "run tidesdb", "drop"])
        self.assertEqual([(row["engine"], row["nopm"], row["consistent"]) for row in self.rows()],
                         [("innodb", 1000, "yes"), ("tidesdb", 1000, "yes")])
        (((csv, series),), where), _ = study.draw.call_args
        self.assertEqual((csv.name, len(series), where), ("hammerdb_results_1.csv", 2, self.directory))
        self.assertIn("report.html", (self.directory / "SHA256SUMS").read_text())

    def test_a_run_without_new_orders_timing_is_a_result(self):
        row = {"benchmark": "tpcc", "nopm": 1000, "tpm": 2300, "errors": 0, "delivery_p95_ms": 3.0}
        self.assertEqual(study.summary(row), "1,000 NOPM, 2,300 TPM, new orders p95 not known, 0 errors")

    def test_charts_that_cannot_be_drawn_are_said_and_the_rest_is_there(self):
        study.draw.side_effect = Failed("matplotlib is missing: apt-get install python3-matplotlib")
        self.assertEqual(self.go(FakeGenerator()), 0)
        self.assertIn("charts are left out: matplotlib is missing", self.said.getvalue())
        for name in ("report.md", "SHA256SUMS"):
            self.assertTrue((self.directory / name).exists(), name)

    def test_what_it_draws_with_is_installed_first(self):
        with mock.patch.object(core.apt, "install", side_effect=Failed("no network")) as install, \
                self.assertRaisesRegex(Failed, "no network"):
            self.go(FakeGenerator())
        self.assertIn("python3-matplotlib", install.call_args.args[0])

    def test_the_results_beside_the_logs_are_summed_too(self):
        self.go(FakeGenerator())
        self.assertIn("../hammerdb_results_1.csv", (self.directory / "SHA256SUMS").read_text())
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=self.directory, check=True)

    def test_versions_and_options_are_told(self):
        self.go(FakeGenerator())
        study_ = pick.study([self.directory])
        self.assertEqual(study_.versions(), {"server": "11.8.6-MariaDB", "ha_tidesdb.so": "TidesDB 1.0"})
        self.assertEqual(study_.runs[1].configuration["server options"], "--of-tidesdb")

    def test_wrong_data_has_no_throughput(self):
        self.go(FakeGenerator(consistent=False))
        self.assertIn("INCONSISTENT, so without throughput", self.said.getvalue())
        self.assertNotIn("1,000", self.said.getvalue())
        self.assertEqual([run.throughput for run in pick.study([self.directory]).runs], [None, None])

    def test_an_interrupted_run_goes_on_and_says_so(self):
        with self.assertRaises(KeyboardInterrupt):
            self.go(FakeGenerator(fail=("tidesdb", KeyboardInterrupt())))
        self.assertEqual([row["engine"] for row in self.rows()], ["innodb"])
        generator = FakeGenerator()
        self.server.connection.databases.add("tpcc")  # The first sitting built it.
        self.assertEqual(self.go(generator), 0)
        self.assertEqual(generator.calls, ["run tidesdb", "drop"])
        self.assertIn("Interrupted during: tidesdb tpcc run", self.said.getvalue())
        self.assertEqual([row["engine"] for row in self.rows()], ["innodb", "tidesdb"])

    def test_results_are_in_the_order_asked_for_whichever_ran_first(self):
        self.assertEqual(self.go(FakeGenerator(fail=("innodb", Failed("no")))), 1)
        self.assertEqual([row["engine"] for row in self.rows()], ["tidesdb"])
        self.assertEqual(self.go(FakeGenerator()), 0)
        self.assertEqual([row["engine"] for row in self.rows()], ["innodb", "tidesdb"])
        self.assertEqual(pick.study([self.directory]).labels(), ["InnoDB", "TidesDB"])

    def test_another_build_is_refused_by_name_and_nothing_is_written_over(self):
        with self.assertRaises(KeyboardInterrupt):
            self.go(FakeGenerator(fail=("tidesdb", KeyboardInterrupt())))
        facts = (self.directory / written.HEADER).read_text()
        self.server.version = "11.8.6"
        with self.assertRaisesRegex(Failed, r"another build \(server was 10.11.18 and is 11.8.6\)"):
            self.go(FakeGenerator())
        self.server.version, other = "10.11.18", FakeGenerator()
        other.name = "HammerDB 6.0"
        with self.assertRaisesRegex(Failed, r"another build \(generator was fake and is HammerDB 6.0\)"):
            self.go(other)
        self.assertEqual((self.directory / written.HEADER).read_text(), facts)

    def test_what_is_not_to_be_seen_of_the_server_is_in_the_report(self):
        self.server.unseen = ["The server is on another machine."]
        self.go(FakeGenerator())
        said = (self.directory / "report.md").read_text()
        self.assertIn("- The server is on another machine.", said)
        self.assertRegex(said, r"\| server +\| +10.11.18 \|")
        self.assertEqual([run.variables for run in written.read(self.directory).runs], 2 * [{"version": "10.11.18"}])

    def test_an_engine_that_fails_does_not_stop_the_others(self):
        generator = FakeGenerator(fail=("innodb", Failed("the run ended before its time")))
        self.assertEqual(self.go(generator), 1)
        self.assertEqual([row["engine"] for row in self.rows()], ["tidesdb"])
        self.assertIn("innodb tpcc run: FAILED", self.said.getvalue())
        self.assertIn("Failed: innodb tpcc run: the run ended before its time", self.said.getvalue())

    def test_somebody_s_database_is_left_alone(self):
        self.server.connection.databases.add("tpcc")
        self.assertEqual(self.go(FakeGenerator()), 1)
        self.assertIn("there is a database tpcc at nowhere: --replace-schema drops it", self.said.getvalue())
        self.assertFalse(any("DROP" in statement for statement in self.server.connection.said))

    def test_a_database_that_came_after_its_own_was_dropped_is_left_alone(self):
        with mock.patch.object(self.server.connection, "has_database", side_effect=[False, KeyboardInterrupt()]), \
                self.assertRaises(KeyboardInterrupt):
            self.go(FakeGenerator())
        self.server.connection.databases.add("tpcc")
        self.server.connection.said.clear()
        self.assertEqual(self.go(FakeGenerator()), 1)
        self.assertIn("Failed: tidesdb tpcc build: there is a database tpcc at nowhere", self.said.getvalue())
        self.assertFalse(any("DROP" in statement for statement in self.server.connection.said))

    def test_tables_that_another_engine_has_replaced_are_built_again(self):
        for more in ((), ("--keep-schema",)):
            with self.subTest(more):
                self.setUp()
                self.assertEqual(self.go(FakeGenerator(fail=("innodb", Failed("no memory"))), *more), 1)
                for generator in (FakeGenerator(fail=("innodb", KeyboardInterrupt())), FakeGenerator()):
                    try:
                        self.go(generator, *more)
                    except KeyboardInterrupt:
                        self.assertEqual(generator.calls, ["build innodb", "run innodb"])
                self.assertEqual([call for call in generator.calls if call != "drop"], ["run innodb"])
                self.assertEqual([row["engine"] for row in self.rows()], ["innodb", "tidesdb"])

    def test_a_private_server_s_tables_are_not_another_s(self):
        self.assertEqual(self.go(FakeGenerator(fail=("innodb", Failed("no memory"))), "--private-server"), 1)
        generator = FakeGenerator()
        self.assertEqual(self.go(generator, "--private-server"), 0)
        self.assertEqual(generator.calls, ["run innodb", "drop"])

    def test_what_a_private_server_began_to_load_is_its_own(self):
        with mock.patch.object(FakeGenerator, "build", side_effect=[Failed("no memory"), None]):
            self.assertEqual(self.go(FakeGenerator(), "--private-server"), 1)
        self.server.connection.databases.add("tpcc")  # Left over from innodb's load, on innodb's server.
        generator = FakeGenerator()
        self.assertEqual(self.go(generator, "--private-server"), 0)
        self.assertEqual(generator.calls, ["build innodb", "run innodb", "drop"])

    def test_rocksdb_is_loaded_in_bulk_by_one_user_and_then_no_more(self):
        self.go(FakeGenerator(), "-e", "rocksdb", "--tpcc-build-vu", "1")
        said = [s for s in self.server.connection.said if "bulk_load" in s]
        self.assertEqual(said, ["SET GLOBAL rocksdb_bulk_load=1", "SET GLOBAL rocksdb_bulk_load=0"])

    def test_several_users_load_rocksdb_by_transactions(self):
        self.go(FakeGenerator(), "-e", "rocksdb", "--tpcc-build-vu", "2", "--warehouses", "1")
        self.assertFalse([s for s in self.server.connection.said if "bulk_load" in s])

    def test_keep_schema(self):
        generator = FakeGenerator()
        self.go(generator, "--keep-schema")
        self.assertNotIn("drop", generator.calls)

    def test_an_engine_takes_over_what_this_run_kept(self):
        generator = FakeGenerator()
        generator.build = lambda *_: self.server.connection.databases.add("tpcc")
        self.assertEqual(self.go(generator, "--keep-schema"), 0)

    def test_an_error_of_analyze_is_one(self):
        self.server.connection.analyze = "Error"
        self.assertEqual(self.go(FakeGenerator()), 1)
        self.assertIn("ANALYZE TABLE in tpcc: text", self.said.getvalue())


class Logs(unittest.TestCase):
    def test_a_run_that_left_wrong_data_has_no_lines(self):
        with tempfile.TemporaryDirectory() as name:
            for engine, text in (("a", None), ("b", {}), ("c", {"consistency": {"holds": False, "checks": []}})):
                folder = Path(name) / "hammerdb_logs_1" / f"{engine}_tpcc"
                folder.mkdir(parents=True)
                if text is not None:
                    (folder / "result.json").write_text(json.dumps(made(engine, **text)))
            csv = Path(name) / "hammerdb_results_1.csv"
            self.assertEqual([run.engine for run in logs.series(csv, "", {"a", "b", "c"})], ["b"])
            self.assertEqual([run.engine for run in logs.series(csv, "")], ["a", "b", "c"])

    def test_of_builds_all_repetitions_are_read(self):
        with tempfile.TemporaryDirectory() as name:
            for repetition in (1, 2, 10):
                for label in ("plain", "pgo"):
                    (Path(name) / "hammerdb_logs_1" / f"rep{repetition}" / f"{label}_tpcc").mkdir(parents=True)
            found = logs.series(Path(name) / "hammerdb_results_1.csv", "")
            self.assertEqual(sorted(run.engine for run in found), ["pgo"] * 3 + ["plain"] * 3)


class Builds(unittest.TestCase):
    ARGV = ["--build", "innodb", "server=debian12", "plugin=/secret/place/ha_tidesdb.so", "--build", "pgo",
            "server=debian12", "plugin=built", "--repetitions", "2", "--settle", "0"]

    def setUp(self):
        self.directory = folder(self) / "hammerdb_logs_1"
        self.data, self.generator = mock.MagicMock(), FakeGenerator()
        self.data.is_loaded.return_value = False
        self.data.loaded.return_value = {"seconds": 9.5, "bytes": 1 << 20}
        fresh = self.data.fresh.return_value
        fresh.sql, fresh.data, fresh.memory.return_value = FakeServer._sql, None, {}
        patch(self, (core.apt, "install", mock.Mock()), (copies, "LoadedData", lambda *_: self.data),
                    (plotly, "source", lambda: "/* plotly.js v9 */"), (study, "draw", mock.Mock()),
                    (copies.builds_of, "resolve", self.resolved), (core.room, "require", mock.Mock()),
                    (builds_study.builtin, "Builtin", lambda *_: self.generator),
                    (builds_study.server, "connection_of", lambda _: FakeConnection()))

    @staticmethod
    def resolved(spec, _log):
        return SimpleNamespace(label=spec.label, engine=spec.engine, options=(), data="TidesDB", binaries=dict)

    def go(self):
        it = builds_study.BuildsStudy(options.parse(self.ARGV), self.directory, {"argv": self.ARGV})
        with redirect_stdout(io.StringIO()):
            return it.go()

    def test_builds_and_their_repetitions(self):
        self.assertEqual(self.go(), 0)
        self.assertEqual(self.generator.calls, ["build tidesdb", *["run tidesdb"] * 4])
        made = pick.study([self.directory])
        self.assertEqual([(run.label, run.repetition) for run in made.runs],
                         [("innodb", 1), ("innodb", 2), ("pgo", 1), ("pgo", 2)])
        self.assertEqual(made.runs[3].files, ["rep2/pgo_tpcc/server.json", "rep2/pgo_tpcc/variables.json"])
        self.assertEqual(made.runs[0].measures["build, s"], 9.5)
        self.assertEqual(made.title, "TPROC-C: innodb and pgo")
        self.assertTrue(made.about.endswith(" Each repetition was run in the reverse order of the one before."))
        self.assertNotIn("secret", str(made.configuration))
        self.assertIn("plugin=ha_tidesdb.so", str(made.configuration))
        csv = (self.directory.parent / "hammerdb_results_1.csv").read_text().splitlines()
        self.assertEqual([line.split(",")[1] for line in csv[1:]], ["innodb", "innodb", "pgo", "pgo"])

    def test_a_loading_that_fails_is_written_down_with_what_its_server_says(self):
        loader = self.data.loader.return_value
        loader.start.side_effect = Failed("the server ended at once")
        loader.failed.side_effect = lambda error: Failed(f"Killed at its limit.\n{error}")
        with self.assertRaisesRegex(Failed, "Killed at its limit.\nthe server ended at once"):
            self.go()
        self.assertEqual(written.read(self.directory).history[0], "Failed: load TidesDB: Killed at its limit.")


class PlotOnly(unittest.TestCase):
    def test_an_old_csv_is_plotted(self):
        with tempfile.TemporaryDirectory() as name, mock.patch.object(style, "DOTS", 30), \
                redirect_stdout(io.StringIO()) as said:
            path = Path(name) / "hammerdb_results_20260422_204822.csv"
            path.write_text(f"{Csv.HEADER}\n{Csv.OLD_TPCC}\n{Csv.OLD_TPCH}\n")
            study.plot([path], Path(name))
            self.assertEqual({p.stem for p in Path(name).glob("*.png")},
                             {"chart_tpcc_nopm", "chart_tpcc_tpm", "chart_tpcc_latency", "chart_tpch", "chart_build_time"})
            self.assertIn("chart_tpcc_throughput_timeline: not drawn: no logs beside the CSV", said.getvalue())
