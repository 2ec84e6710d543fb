"""Tests of lab/runners/pgo: builds, what servers are told, the order of measurements, what a study leaves as a report's."""

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer.shell import TREE, Failed
from lab.observe import observers
from lab.observe.sampler import Samples
from lab.record.run import THROUGHPUT, Metric, Run
from lab.reports import charts, markdown, plotly, tables
from lab.runners import pick
from lab.runners.pgo import settings, study
from lab.runners.pgo import __main__ as study_of
from lab.server import builds, profiles
from lab.server.build_server import BuildServer
from lab.server.given_server import GivenServer
from lab.study import copies, core, sitting, written
from lab.study.journal import Journal
from lab.tests import cases
from lab.tests.cases import folder, patch
from lab.tests.test_parse_sysbench import recorded
from lab.tests.test_report_adapters import FACTS


def build(label="a", engine="InnoDB", flavour="MariaDB", options=(), preload="", root=None):
    environment = GivenServer(Path("/opt/db/bin/mysqld"), Path("/opt/db"), Path("/nonexistent"), Path("/usr/bin/mariadb"))
    return builds.Build(label, engine, environment, None, preload, options, flavour, "9.7.0", "data")


def wanted(**more):
    return settings.Wanted(**{"profile": "fair", "sync": "NONE", "workload": "oltp_read_write",
                              "tiers": (settings.Tier("2G"), settings.Tier("12G", "16G")), "threads": (1, 512),
                              "repetitions": 3, "tables": 20, "rows": 1000, "warmup_read": 1, "warmup_write": 1,
                              "seconds": 2, "pause": 0, **more})


class Builds(unittest.TestCase):
    def test_words(self):
        spec = builds.parse(["pgo", "server=debian12", "plugin=x/ha_tidesdb.so", "option=--a=1", "option=b=2,3",
                             "allocator=jemalloc"])
        self.assertEqual((spec.label, spec.server, spec.engine), ("pgo", "debian12", "TidesDB"))
        self.assertEqual(spec.plugin, "x/ha_tidesdb.so")
        self.assertEqual((spec.options, spec.allocator), (("--a=1", "--b=2,3"), "jemalloc"))
        self.assertEqual(builds.parse(["a", "server=debian13", "engine=tidesdb"]).plugin, "built")
        self.assertEqual(builds.parse(["a", "mysqld=/x/mysqld"]).engine, "InnoDB")
        of_release = builds.parse(["a", "server=debian13", "mariadbd=/x/mariadbd"])
        self.assertEqual((of_release.server, of_release.program), ("debian13", "/x/mariadbd"))

    def test_a_given_server_of_another_release_runs_in_its_root(self):
        said = []
        base = folder(self)
        (base / "sbin").mkdir()
        home = SimpleNamespace(root="r", command=lambda argv, cwd, needs: said.append((argv, cwd, needs)) or ["in", *argv])
        given = GivenServer(base / "sbin" / "mariadbd", base, base / "plugins", home=home)
        self.assertEqual((given.root, given.command(["x"], needs=[Path("/d")])), ("r", ["in", "x"]))
        # A staged server's plugin directory is its final place, which does not exist yet and so must not be mounted.
        self.assertEqual(said, [(["x"], None, (Path("/d"), base, base / "sbin"))])
        here = GivenServer(Path("/b/sbin/mariadbd"), Path("/b"), Path("/p"))
        self.assertEqual((here.root, here.command([Path("x")])), (None, ["x"]))

    def test_words_that_say_nothing_useful_are_refused_by_name(self):
        for words, reason in ((["a/b", "server=debian12"], "a label of letters"),
                              (["a"], "server=, mariadbd= or mysqld= is missing"),
                              (["a", "mariadbd=/y", "mysqld=/x"], "server=, mariadbd= or mysqld= is missing"),
                              (["a", "server=debian13", "mysqld=/x"], "mysqld= runs on this machine"),
                              (["a", "server=mysql-9.7", "mysqld=/x"], "server=mysql-9.7 is the installed one"),
                              (["a", "server=ubuntu"], "known are debian12"),
                              (["a", "server=debian12", "engine=aria"], "engine=aria: known are InnoDB"),
                              (["a", "colour=red"], "'colour=red'"),
                              (["a", "server=debian12", "server=debian13"], "server is given twice"),
                              (["a", "server=mysql-9.7", "engine=TidesDB"], "MySQL has no engine TidesDB"),
                              (["a", "server=debian12", "engine=InnoDB", "plugin=x"], "engine=InnoDB does not use it"),
                              (["a", "mariadbd=/x", "engine=TidesDB"], "plugin=PATH is missing")):
            with self.assertRaisesRegex(Failed, f"--build {words[0]}.*{reason}"):
                builds.parse(words)

    def test_two_builds_of_different_names_are_wanted(self):
        with self.assertRaisesRegex(Failed, "give at least two"):
            study_of.parse_builds([["a", "server=debian12"]])
        with self.assertRaisesRegex(Failed, "each label may occur only once"):
            study_of.parse_builds([["a", "server=debian12"], ["a", "server=debian13"]])

    def test_servers_by_their_version(self):
        for said, known in (("mariadbd  Ver 11.8.6-MariaDB-0+deb13u1 for debian-linux-gnu on x86_64",
                             ("MariaDB", "11.8.6")),
                            ("/usr/sbin/mysqld  Ver 9.7.0 for Linux on x86_64 (MySQL Community Server - GPL)",
                             ("MySQL", "9.7.0"))):
            self.assertEqual(builds.identify(said), known)
        with self.assertRaisesRegex(Failed, "no version of a server is in 'GNU ls"):
            builds.identify("GNU ls 9.1")

    def test_mysql_is_refused_where_it_is_not(self):
        here = str(TREE / "run-tests")  # Any existing file, like Debian's mysqld, which is MariaDB's.
        for places, said in (([], ""), ([here], "mysqld  Ver 10.11.18-MariaDB for debian-linux-gnu"),
                             ([here], "mysqld  Ver 8.4.2 for Linux"), ([here], "mysqld  Ver 9.7.1-MariaDB")):
            with self.assertRaisesRegex(Failed, "MySQL 9.7 is not on this machine.*mysql-community-server 9.7"):
                builds.find_mysql(places, lambda argv, text=said: text)
        self.assertEqual(builds.find_mysql([here], lambda argv: "mysqld  Ver 9.7.1 for Linux"), Path(here))

    def test_a_file_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(Failed, "--build a: mariadbd or mysqld=/nonexistent/mysqld: there is no such file"):
            builds.resolve(builds.parse(["a", "mysqld=/nonexistent/mysqld"]), None)

    def test_what_a_server_in_a_root_cannot_see_is_refused(self):
        builds.check_visible(SimpleNamespace(root="there"), TREE / "x.so", "plugin")
        builds.check_visible(SimpleNamespace(root=None), Path("/opt/x.so"), "plugin")
        with self.assertRaisesRegex(Failed, "^plugin: /opt/x.so is not visible"):
            builds.check_visible(SimpleNamespace(root="there"), Path("/opt/x.so"), "plugin")


class Settings(unittest.TestCase):
    def test_each_is_first_by_turns_and_pairs_follow_each_other(self):
        units = settings.units(wanted(threads=(1, 4)), ["plain", "pgo"])
        self.assertEqual(len(units), 3 * 2 * 2 * 2)
        self.assertEqual(len({unit.name for unit in units}), len(units))
        self.assertEqual(len({unit.stem for unit in units}), len(units))
        for at in range(0, len(units), 2):
            first, second = units[at:at + 2]
            self.assertEqual((first.repetition, first.tier, first.threads),
                             (second.repetition, second.tier, second.threads))
        self.assertEqual([unit.label for unit in units[::8]], ["plain", "pgo", "plain"])
        # With three builds too, every other repetition runs builds and points in reverse order.
        three = settings.units(wanted(threads=(1, 4)), list("abc"))
        self.assertEqual("".join(unit.label for unit in three[:24]), "abc" * 4 + "cba" * 4)
        self.assertEqual([(unit.tier, unit.threads) for unit in three[:12]],
                         [(unit.tier, unit.threads) for unit in reversed(three[12:24])])

    def test_names_are_those_of_the_seed_s_files(self):
        unit = settings.units(wanted(), ["pgo"])[3]
        self.assertEqual(unit.stem, "pgo/run1_Tier12G_RW_512th")
        self.assertEqual(unit.name, "pgo, 12G cache within 16G, 512 threads, repetition 1")

    def test_tiers(self):
        self.assertEqual(settings.tiers("2g, 12G:16G"), (settings.Tier("2G"), settings.Tier("12G", "16G")))
        self.assertEqual(settings.tiers("2G,12G:16G,32G", 0.01),
                         (settings.Tier("20M"), settings.Tier("123M", "164M"), settings.Tier("328M")))
        self.assertEqual(settings.tiers("2G", 2), (settings.Tier("4G"),))
        for text in ("", "2T", "2G:", "2G,2G", "2G:x"):
            with self.assertRaisesRegex(Failed, "--tiers: "):
                settings.tiers(text)

    def test_the_tier_is_the_cache_and_512_threads_have_room(self):
        options = settings.server_options(wanted(), build(), settings.Tier("12G"))
        self.assertEqual([o for o in options if "buffer_pool_size" in o], ["--innodb_buffer_pool_size=12G"])
        self.assertIn("--max_connections=532", options)
        self.assertIn("--table_open_cache=10340", options)
        # Nine statements are prepared for each of 20 tables by each of 512 threads.
        room = int(next(o for o in options if "max_prepared_stmt_count" in o).partition("=")[2])
        self.assertGreater(room, 9 * 20 * 512)
        ours = settings.server_options(wanted(), build(engine="TidesDB"), settings.Tier("2G"))
        self.assertIn("--tidesdb_block_cache_size=2G", ours)
        self.assertIn("--innodb_buffer_pool_size=16M", ours)  # In addition, for the server's own tables.

    def test_a_small_tier_has_small_memtables(self):
        name = "--tidesdb_unified_memtable_write_buffer_size"  # 256 MB beside 2 GB of cache in the profile.
        for cache, memtables in (("32G", 256 << 20), ("2G", 256 << 20), ("64M", 8 << 20), ("8M", 4 << 20)):
            options = settings.server_options(wanted(profile="seed-003"), build(engine="TidesDB"), settings.Tier(cache))
            self.assertEqual([o for o in options if o.startswith(name)], [f"{name}={memtables}"])
        for profile in profiles.known():
            for engine in profiles.NAMES[:3]:
                settings.server_options(wanted(profile=profile), build(engine=engine), settings.Tier("64M"))

    def test_a_build_s_own_options_go_before(self):
        own = build(options=("--innodb-buffer-pool-size=1G", "--x=1"))
        options = settings.server_options(wanted(), own, settings.Tier("2G"))
        self.assertEqual([o for o in options if "buffer" in o and "pool" in o], ["--innodb-buffer-pool-size=1G"])
        self.assertEqual(options[-1], "--x=1")

    def test_mysql_is_told_in_its_own_words(self):
        asked = wanted(profile="seed-003", sync="FULL")
        options = settings.server_options(asked, build(flavour="MySQL"), settings.Tier("2G"))
        self.assertIn("--innodb_redo_log_capacity=4G", options)
        self.assertFalse([o for o in options if "innodb_log_file_size" in o or "snapshot_isolation" in o])
        # MySQL 9.7.4 without the plugin has no variable mysqlx, and its package's directory for files may be missing.
        self.assertIn("--skip-mysqlx", options)
        self.assertIn("--secure-file-priv=NULL", options)
        self.assertIn("--sync_binlog=1", options)
        self.assertFalse([o for o in settings.server_options(wanted(), build(flavour="MySQL"), settings.Tier("2G"))
                          if "snapshot_isolation" in o or o.startswith("--None")])

    def test_a_cache_that_is_not_the_tier_s_is_an_error(self):
        a, tier = build(), settings.Tier("2G")
        settings.check_cache(a, tier, {"innodb_buffer_pool_size": str(2 << 30)})
        own = build(options=("--innodb-buffer-pool-size=1G",))
        settings.check_cache(own, tier, {"innodb_buffer_pool_size": str(1 << 30)})
        for found in ({"innodb_buffer_pool_size": "134217728"}, {}):
            with self.assertRaisesRegex(Failed, "^a: the server was given innodb_buffer_pool_size=2G and runs with"):
                settings.check_cache(a, tier, found)
        with self.assertRaisesRegex(Failed, "block_cache_size=2G and runs with 536870912: tidesdb_max_memory_usage"):
            settings.check_cache(build(engine="TidesDB"), tier, {"tidesdb_block_cache_size": str(512 << 20)})

    def test_the_report_says_which_tiers_have_a_limit(self):
        def said(text):
            return settings.limits(settings.tiers(text, 1))

        self.assertRegex(said("64M,1G"), "^No server has a memory limit")
        self.assertRegex(said("64M:256M"), "page cache: 64M cache within 256M.$")
        self.assertRegex(said("64M:256M,1G"), "page cache: 64M cache within 256M; the other tiers have none.$")

    def test_the_seed_s_study(self):
        args = study_of._parser().parse_args(["--profile", "seed-003", "--scale", "0.01"])
        asked = study_of.wanted_of(args)
        self.assertEqual((asked.rows, asked.tables, asked.seconds, asked.warmup_write), (50_000, 20, 900, 600))
        self.assertEqual(asked.sync, "FULL")
        self.assertEqual(asked.threads, (1, 4, 16, 32, 64, 128, 256, 512))
        self.assertEqual([tier.cache for tier in asked.tiers], ["20M", "123M", "328M"])
        small = study_of.wanted_of(study_of._parser().parse_args(["--profile", "seed-003", "--scale-down", "100"]))
        self.assertEqual((small.rows, small.tiers[0].cache), (50_000, "2G"))  # Caches stay.
        whole = study_of.wanted_of(study_of._parser().parse_args(["--profile", "seed-003", "--seconds", "60"]))
        self.assertEqual((whole.seconds, whole.rows, whole.tiers[2].cache), (60, 5_000_000, "32G"))

    def test_numbers_that_are_none_are_refused_by_name(self):
        for argv in (["--seconds", "0"], ["--threads", "1,x"], ["--scale", "0"], ["--warmup-read", "-1"],
                     ["--repetitions", "0"]):
            with self.assertRaisesRegex(Failed, f"^{argv[0]}"):
                study_of.wanted_of(study_of._parser().parse_args(argv))


class Servers(unittest.TestCase):
    def setUp(self):
        self.base = folder(self)

    def test_the_allocator_is_preloaded_into_the_server_alone(self):
        argv = BuildServer(build(preload="/usr/lib/libjemalloc.so.2"), self.base).command_line()
        self.assertEqual(argv[:3], ["env", "LD_PRELOAD=/usr/lib/libjemalloc.so.2", "/opt/db/bin/mysqld"])
        self.assertEqual(BuildServer(build(), self.base).command_line()[0], "/opt/db/bin/mysqld")

    def test_an_allocator_that_is_not_in_the_process_is_an_error(self):
        server = BuildServer(build(preload="/usr/lib/libnone.so.2"), self.base)
        server.pid = lambda: "self"
        with self.assertRaisesRegex(Failed, "a: the server runs without /usr/lib/libnone.so.2"):
            server.check_allocator()
        server = BuildServer(build(), self.base)
        server.pid = lambda: "self"
        server.check_allocator()

    def test_mysql_s_data_directory_is_made_by_its_own_program(self):
        program = self.base / "mysqld"
        # Like mysqld, it makes mysql/ before it fails, and it refuses a data directory that exists.
        program.write_text('#!/bin/sh\nfor option; do case $option in --datadir=*) made=${option#*=};; esac; done\n'
                           f'mkdir "$made" "$made/mysql"\necho "$@" >> {self.base}/said\n[ ! -e {self.base}/fails ]\n')
        program.chmod(0o755)
        mysql = build(flavour="MySQL")
        server = BuildServer(builds.Build(**{**mysql.__dict__, "environment": GivenServer(
            program, self.base, Path("/nonexistent"), Path("/usr/bin/mariadb"))}), self.base / "server")
        (self.base / "fails").touch()
        with self.assertRaises(Failed):
            server.initialise()
        self.assertFalse(server.data.exists())
        (self.base / "fails").unlink()
        server.initialise()
        server.initialise()
        self.assertEqual([path.name for path in server.data.iterdir()], ["mysql"])
        said = (self.base / "said").read_text().splitlines()
        self.assertEqual(len(said), 2)
        self.assertIn(f"--initialize-insecure --basedir={self.base} ", said[1])


class Observing(unittest.TestCase):
    def test_innodb_s_metrics_are_asked_of_every_build_or_of_none(self):
        asked = []
        for columns, where in (("ENABLED\n", "WHERE ENABLED = 1"), ("STATUS\n", "WHERE STATUS = 'enabled'"), ("", "")):
            server = SimpleNamespace(sql=lambda statement, said=columns: asked.append(statement) or said)
            for engine in ("InnoDB", "TidesDB"):
                found = study.also_sampled(server, {"a": build("a"), "b": build("b", engine)})
                self.assertTrue(found.endswith(where), found)
                self.assertEqual(bool(found), bool(where))
        del asked[:]
        self.assertEqual(study.also_sampled(server, {"a": build("a", "TidesDB"), "b": build("b", "RocksDB")}), "")
        self.assertEqual(asked, [])

    def test_what_the_tools_see_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            with observers.Observers(Path(folder) / "run1", None) as seen:
                pass
            missing = {f"run1.{note.split()[0]}.txt" for note in seen.notes}
            self.assertEqual({path.name for path in seen.files.values()} | missing,
                             {"run1.iostat.txt", "run1.vmstat.txt", "run1.mpstat.txt"})

    def test_pidstat_s_lines_are_compressed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.txt"
            path.write_text("a line\n" * 1000)
            packed = observers._compressed(path)
            self.assertEqual(observers.text(packed), "a line\n" * 1000)
            self.assertEqual([one.name for one in Path(folder).iterdir()], ["a.txt.gz"])


class Faked(study.Study):
    """Two builds that both give the output of the recorded run."""

    def prepare(self, _log):
        self.builds = {spec.label: build(spec.label) for spec in self.specs}
        self.groups, self.labels, self.unequal = [], list(self.builds), ["Nothing."]
        self.told = {label: ["--a=1"] for label in self.labels}

    def facts(self):
        return FACTS

    def measure(self, unit, step):
        stem = self.directory / unit.stem
        stem.parent.mkdir(exist_ok=True)

        def beside(kind):
            return stem.with_name(f"{stem.name}.{kind}")

        beside("sysbench.txt").write_text(recorded("read_write"))
        samples, seen = Samples(), SimpleNamespace(files={}, notes=[])
        for at in range(3):
            samples.add(float(at), {"cpu seconds": at * 1.0}, {"Com_commit": 10 * at})
        for tool, name in (("iostat", "sysstat-12.6.1-iostat.txt"), ("mpstat", "sysstat-12.7.5-mpstat.txt"),
                           ("pidstat", "sysstat-12.6.1-pidstat.txt"), ("vmstat", "procps-4.0.2-vmstat.txt")):
            seen.files[tool] = beside(f"{tool}.txt")
            text = cases.recorded(name)
            seen.files[tool].write_text(text[:400] if (unit.label, unit.repetition, tool) == ("pgo", 2, "mpstat") else text)
        after = "other" if (unit.label, unit.repetition) == ("pgo", 1) else unit.label
        variables = [{"a": value, "gtid_current_pos": name} for name, value in (("before", unit.label), ("after", after))]
        # 15:36:53 of the day of the recordings, which end at 15:37:01.
        run = self.run_of(unit, beside("sysbench.txt"), samples, variables, seen, 1795361813.2)
        run.files = [str(path.relative_to(self.directory)) for path in (beside("sysbench.txt"), *seen.files.values())]
        return [run], {}


class Reports(unittest.TestCase):
    ARGV = ["--build", "plain", "server=debian12", "--build", "pgo", "server=debian12", "--repetitions", "2",
            "--threads", "8", "--tiers", "2G"]

    def setUp(self):
        self.base = folder(self) / "study"
        patch(self, (core.apt, "install", mock.Mock()), (plotly, "source", lambda: "/* plotly.js v9 */"),
                    (charts, "draw", mock.Mock()), (core.room, "require", mock.Mock()),
                    (copies, "LoadedData", mock.Mock()))

    def go(self):
        with contextlib.redirect_stdout(io.StringIO()):
            code = Faked(study_of.parse(self.ARGV), self.base, {"argv": self.ARGV}).go()
        return code, pick.study([self.base])

    def test_a_whole_study(self):
        code, made = self.go()
        run = made.runs[0]
        self.assertEqual((code, made.labels(), made.history), (0, ["plain", "pgo"], []))
        self.assertIn("follow each other. Each repetition was run in the reverse order of the one before.", made.about)
        self.assertEqual(run.notes, [])
        # The explorer has every tool's series, in seconds of the run.
        self.assertEqual(run.series["vmstat: cs"].points[0], (1, 16905.0))
        self.assertEqual(run.series["iostat vda: r/s"].points[0], (1, 1135.0))
        self.assertEqual(run.series["mpstat CPU 0: busy"].unit, "%")
        self.assertEqual(run.series["threads: mariadbd"].unit, "% of a CPU")
        self.assertEqual(run.status, {"Com_commit": 20})
        # A run of three seconds has no later points.
        self.assertLessEqual(max(at for at, _ in run.series["mpstat CPU all: %usr"].points), run.seconds + 1)
        self.assertEqual(tables.variables(made).rows[0], ["a", "plain", "pgo"])
        # Equal figures are noise.
        self.assertIn("| within noise |", markdown.figures(made))
        self.assertIn("plain/run1_Tier2G_RW_8th.vmstat.txt", made.files)
        # A variable that changed during the run is a note; so is a tool's file that is cut off, which ends nothing.
        notes = [note for run in made.runs for note in run.notes]
        self.assertEqual((len(notes), notes[0]), (2, "changed while it ran: a"))
        self.assertRegex(notes[1], r"^without mpstat: pgo/run2_Tier2G_RW_8th.mpstat.txt:\d+: is cut off")

    def test_bad_folders_are_named(self):
        with self.assertRaisesRegex(Failed, "study.json: cannot be read|No such file"):
            written.read(self.base)
        self.go()
        (self.base / written.HEADER).write_text("{")
        with self.assertRaisesRegex(Failed, "study.json:1: is not JSON, or cut off"):
            written.read(self.base)

    def test_more_figures_than_a_page_bears_are_means(self):
        points = [(second, float(second)) for second in range(1, 11)]
        runs = [Run("a", "w", 1, 1, 1.0, "x/s", series={THROUGHPUT: Metric("x/s", points), "cs": Metric("1/s", points)})]
        self.assertEqual(written.thin(runs, 10), 1)
        self.assertEqual(written.thin(runs, 5), 2)
        self.assertEqual(runs[0].series["cs"].points, [(2, 1.5), (4, 3.5), (6, 5.5), (8, 7.5), (10, 9.5)])
        self.assertEqual(runs[0].series[THROUGHPUT].points, points)


class Resuming(unittest.TestCase):
    """Resuming by the core of studies, with a command line of this runner."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.base, self.made = Path(folder.name), []
        patch(self, (study_of.Study, "go", lambda it: self.made.append(it) or 0),
                    (sitting, "interrupt_on_term", mock.Mock()))

    def begun(self, *argv, **more):
        plan = {"argv": [*Reports.ARGV, *argv], **more}
        with Journal(self.base / written.JOURNAL, "pgo_study", plan):
            pass

    def resumed(self, *argv):
        study_of.run(["--resume", str(self.base), *argv])
        return self.made.pop()

    def test_another_directory_s_study_is_not_begun_anew(self):
        self.begun("--seconds", "7")
        with self.assertRaisesRegex(Failed, "has a study; resume it with --resume"):
            study_of.run([*Reports.ARGV, "-o", str(self.base)])
        it = self.resumed()
        self.assertEqual((it.wanted.seconds, it.directory), (7, self.base))
        with self.assertRaisesRegex(Failed, "has no journal of an interrupted run"):
            study_of.run(["--resume", str(self.base / "none")])

    def test_options_beside_it_are_refused_by_name(self):
        self.begun()
        for argv in (["--seconds", "900"], ["--build", "a", "server=debian12"], ["--rows=5"], ["-o", "x"]):
            for words in ([*argv, "--resume", str(self.base)], ["--resume", str(self.base), *argv]):
                with self.assertRaisesRegex(Failed, f"^{argv[0].partition('=')[0]}: --resume keeps the options"):
                    study_of.run(words)

    def test_data_is_kept_where_either_command_line_says_so(self):
        for begun, argv, kept in (([], [], False), (["--keep-data"], [], True), ([], ["--keep-data"], True)):
            (self.base / written.JOURNAL).unlink(missing_ok=True)
            self.begun(*begun)
            self.assertEqual(self.resumed(*argv).args.keep_data, kept)

    def test_somebody_else_s_directory_is_left_alone(self):
        (self.base / "thesis.tex").touch()
        with self.assertRaisesRegex(Failed, "is not empty and not a study"):
            study_of.run([*Reports.ARGV, "-o", str(self.base)])
        self.assertEqual([path.name for path in self.base.iterdir()], ["thesis.tex"])
