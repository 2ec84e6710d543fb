"""Tests of lab/runners/seeds: the plan, its time, the seeds' figures beside ours, and publishing."""

import gzip
import io
import re
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path
from unittest import mock

from installer.shell import TREE, Failed
from lab.record import gains, provenance
from lab.record.run import Latency, Metric, Run, Study
from lab.reports import style
from lab.runners.hammerdb import builds_study, iterations
from lab.runners.hammerdb import engines_options as engines_runner
from lab.runners.hammerdb import options as hammerdb
from lab.runners.iibench import options as iibench
from lab.runners.pgo import __main__ as pgo_study
from lab.runners.pgo.settings import server_options
from lab.runners.seeds import builds, charts, index, left, ours, publish, seed_figures, studies
from lab.runners.seeds import __main__ as door
from lab.runners.seeds.texts import TEXTS
from lab.runners.sqlbench import settings as sqlbench
from lab.server.private_server import in_bytes
from lab.tests import test_pgo_study
from lab.tests.cases import folder

PGO = studies.Wanted(pgo_plugin="/x/ha_tidesdb.so")
BOTH = studies.Wanted(pgo_plugin="/g/ha_tidesdb.so", pgo_server="/g/mariadbd", plain_plugin="/p/ha_tidesdb.so",
                      plain_server="/p/mariadbd")


def run_of(wanted, name):
    return next(run for run in studies.runs(wanted) if run.name == name)


def tpcc_run(label, repetition, nopm, p95=5.0):
    return Run(label, "TPROC-C, 10 warehouses", 8, repetition, nopm, "NOPM", measures={"TPM": 2 * nopm},
               latencies=[Latency(name, 10, p95 / 2, p95_ms=p95) for name in ("NEWORD", "DELIVERY", "SLEV")])


def tprocc(*labels):
    """Three repetitions; each label is 10 % above the one before it."""
    return Study("hammerdb", "", "", [tpcc_run(label, repetition, 1000 * 1.1 ** at * repetition)
                                      for at, label in enumerate(labels) for repetition in (1, 2, 3)])


def tiers_of(engine):
    """The settings that pgo_study.sh reads from its command line."""
    return pgo_study.wanted_of(pgo_study._parser().parse_args(run_of(BOTH, f"tiers-{engine}").options))


class Plan(unittest.TestCase):
    def test_each_runner_takes_its_command_line(self):
        for wanted in (studies.Wanted(), PGO, studies.Wanted(scale_down=100, minutes=0.05, pgo_plugin="/x/ha_tidesdb.so")):
            args = hammerdb.parse(list(run_of(wanted, "tprocc").options))
            self.assertEqual(args.warehouses, wanted.rows(10))
            self.assertAlmostEqual(args.duration * 60, wanted.seconds(60), delta=0.5)
            self.assertEqual((args.sync, args.tpcc_vu, args.settle, args.repetitions), ("NONE", 8, wanted.seconds(5), 3))
            loaded = iibench.parse(list(run_of(wanted, "deletes").options))
            self.assertEqual(10_000_000 / loaded.scale_down, wanted.rows(1_000_000))
            # Every engine churns equally long.
            self.assertEqual((loaded.i1_rows, loaded.write_seconds), (0, wanted.seconds(studies.DELETES_S)))
            swept = iibench.parse(list(run_of(wanted, "sweeps").options))
            self.assertEqual((swept.bulk, len(iibench.points(swept)), len(iibench.points(swept)[0])), (True, 4, 2))
            of_004 = run_of(wanted, "sqlbench")
            read = sqlbench.read({"PROFILE": "seed-004", "SCALE_DOWN": of_004.options[-1], **dict(of_004.environment)})
            self.assertEqual(read.table_sizes, (wanted.rows(500_000),))
            engines = engines_runner.parse(list(run_of(wanted, "engines").options))
            self.assertEqual((engines.warehouses, engines.engine_names), (wanted.rows(2), ["innodb", "tidesdb", "rocksdb"]))
            turns = [engine for engine, _ in iterations.order(engines, engines.seed)]
            self.assertEqual([len({*turns[at::3]}) for at in range(3)] + [len({*turns[at:at + 3]}) for at in (0, 3, 6)],
                             [3] * 6)  # Each engine is first, second and third once.
            # Everything is repeated, to show its spread.
            for times in (args.repetitions, loaded.repetitions + 1, swept.repetitions, read.iterations, engines.iterations):
                self.assertEqual(times, 3)
        for engine, tiers in (("tidesdb", [("32M", "320M"), ("64M", "368M"), ("512M", "")]),
                              ("innodb", [("32M", ""), ("128M", ""), ("512M", "")])):
            study = tiers_of(engine)
            self.assertEqual((study.rows, study.threads, study.sync), (50_000, (1, 4, 16), "FULL"))
            self.assertEqual([(tier.cache, tier.limit) for tier in study.tiers], tiers)

    def test_no_limit_makes_a_server_cut_its_tier_s_cache(self):
        study, build = tiers_of("tidesdb"), test_pgo_study.build(engine="TidesDB")
        for tier in study.tiers[:-1]:
            # See tidesdb_max_memory_usage in plugin/README.md. It is half of the limit by default. At most half of it is
            # for the cache; three eighths are for neither the cache nor the memtables, of which there may be four.
            cache, budget = in_bytes(tier.cache), in_bytes(tier.limit) / 2
            memtable = next(word for word in server_options(study, build, tier) if "write_buffer_size" in word)
            self.assertLessEqual(cache, budget / 2)
            self.assertLessEqual(cache + 4 * int(memtable.partition("=")[2]), budget * 5 / 8)

    def test_it_fits_into_a_sitting(self):
        for wanted, most in ((studies.Wanted(), 85), (PGO, 120), (BOTH, 155)):
            self.assertLess(sum(run.seconds for run in studies.runs(wanted)) / 60, most)

    def test_minutes_and_scale_say_how_long(self):
        whole = sum(run.seconds for run in studies.runs(studies.Wanted()))
        longer = sum(run.seconds for run in studies.runs(studies.Wanted(minutes=2)))
        small = sum(run.seconds for run in studies.runs(studies.Wanted(scale_down=100, minutes=0.02)))
        self.assertGreater(longer, 1.3 * whole)
        self.assertLess(small, whole / 3)

    def test_which_builds(self):
        labels = [words[0] for words in builds.tprocc(studies.Wanted())]
        self.assertEqual(labels, ["InnoDB-glibc", "TidesDB-glibc", "InnoDB-jemalloc", "TidesDB-jemalloc",
                                  "TidesDB-jemalloc-large-cache"])
        of_pgo = {words[0]: words[1:] for words in builds.tprocc(PGO)}
        self.assertEqual(list(of_pgo), ["InnoDB-glibc", "TidesDB-glibc", "TidesDB-glibc-PGO", "InnoDB-jemalloc",
                                        "TidesDB-jemalloc", "TidesDB-jemalloc-PGO", "TidesDB-jemalloc-PGO-large-cache"])
        self.assertIn("plugin=built", of_pgo["TidesDB-glibc"])
        self.assertIn("plugin=/x/ha_tidesdb.so", of_pgo["TidesDB-glibc-PGO"])
        servers = studies.Wanted(("000",), plain_server="/p/mariadbd", plain_plugin="/p/ha_tidesdb.so",
                                 pgo_server="/g/mariadbd", pgo_plugin="/g/ha_tidesdb.so")
        of_servers = {words[0]: words[1:] for words in builds.tprocc(servers)}
        self.assertEqual(len(of_servers), 8)
        self.assertEqual(of_servers["InnoDB-jemalloc-PGO"], ["server=debian12", "mariadbd=/g/mariadbd", "engine=InnoDB",
                                                               "allocator=jemalloc"])
        self.assertIn("plugin=/p/ha_tidesdb.so", of_servers["TidesDB-jemalloc"])
        self.assertEqual([words[0] for words in builds.tprocc(studies.Wanted(("002",)))], ["InnoDB-glibc", "TidesDB-glibc"])

    def test_what_is_left_out_is_said(self):
        self.assertIn("003 is left out", " ".join(studies.left_out(studies.Wanted())))
        self.assertEqual(studies.left_out(studies.Wanted(("004",))), [])
        self.assertIn("InnoDB has no rows with PGO", " ".join(studies.left_out(PGO)))
        self.assertEqual([run.name for run in studies.runs(studies.Wanted(("003", "004")))], ["sqlbench"])

    def test_what_is_compared_is_measured_one_after_the_other_each_first_by_turns(self):
        """Each pair that a seed compares. If there is an InnoDB with PGO, it runs between the two engines."""
        for wanted, apart in ((studies.Wanted(), 1), (PGO, 1), (BOTH, 2)):
            run = run_of(wanted, "tprocc")
            labels = [words[0] for words in builds.tprocc(wanted)]
            order = builds_study.units(labels, 3)
            at = {(unit.repetition, unit.label): number for number, unit in enumerate(order)}
            with_pgo = [(label, f"{label}-PGO") for label in labels if f"{label}-PGO" in labels]
            large = next(label for label in labels if label.endswith("-large-cache"))
            pairs = [*with_pgo, (large.removesuffix("-large-cache"), large), ("InnoDB-glibc", "TidesDB-glibc")]
            for one, other in pairs:
                steps = [at[repetition, other] - at[repetition, one] for repetition in (1, 2, 3)]
                distance = apart if other == "TidesDB-glibc" else 1
                self.assertEqual(steps, [distance, -distance, distance], (one, other))
            self.assertIn("compared builds run one after the other", run.about)
            self.assertEqual("with 1 run between them" in run.about, apart == 2)
            self.assertNotEqual(order[0].label, order[len(labels)].label)  # The first build of a repetition changes.

    def test_builds_of_hammerdb_runner(self):
        args = hammerdb.parse(["--build", "a", "server=debian12", "--build", "b", "server=debian12", "allocator=jemalloc"])
        self.assertEqual([(spec.label, spec.engine, spec.allocator) for spec in args.builds],
                         [("a", "InnoDB", ""), ("b", "InnoDB", "jemalloc")])
        one = ["--build", "a", "server=debian12"]
        for more, message in ((["--build", "a", "server=debian13"], "each label may"), (["-S", "x"], "leave out -S"),
                              (["-H", "x"], "leave out -H"), (["--keep-schema"], "leave out --keep-schema")):
            with self.assertRaisesRegex(Failed, message):
                hammerdb.parse([*one, *more])


class CommandLine(unittest.TestCase):
    def test_what_is_wrong_is_named(self):
        for argv, message in ((["--only", "000,005"], "--only: 005 is not known"),
                              (["--pgo-plugin", "/nowhere/x.so"], "--pgo-plugin: /nowhere/x.so: there is no such file"),
                              (["--plain-server", "/bin/sh"], "--plain-server: needs --plain-plugin")):
            with self.assertRaisesRegex(Failed, message):
                door.wanted_of(door.parser().parse_args(argv))
        with self.assertRaises(SystemExit), redirect_stderr(io.StringIO()):
            door.parser().parse_args(["--minutes", "0"])

    def test_help_says_what_each_costs(self):
        shown = door.parser().format_help()
        for study in studies.STUDIES:
            self.assertRegex(shown, rf"(?m)^  {study} .* +\d+ \(\d+\)$")

    def test_before_it_begins_it_says_what_and_how_long(self):
        said = subprocess.run([TREE / "lab" / "seed_studies.sh", "--dry-run", "--only", "004"], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
        self.assertRegex(said, r"(?s)1 run, about \d+ min:.*sqlbench \(seed 004\).*TIME=10 .*lab/sqlbench.sh --profile "
                               "seed-004")
        self.assertIn("  engines, about ", door.describe(studies.runs(studies.Wanted(("engines",))), []))


class Figures(unittest.TestCase):
    def test_each_of_the_seeds_has_its_place_and_is_there_once(self):
        figures = seed_figures.read()
        self.assertEqual({figure.study for figure in figures}, set(studies.STUDIES) - {studies.OF_NO_SEED})
        self.assertEqual(set(TEXTS), set(studies.STUDIES))
        self.assertTrue(all(figure.place and figure.measure for figure in figures))
        keys = [(figure.study, figure.subject, figure.measure) for figure in figures]
        self.assertEqual(len(keys), len(set(keys)))

    def test_the_seeds_gains_are_those_of_their_figures(self):
        of = seed_figures.of("000")
        for (subject, measure), figure in of.items():
            base, colon, _ = measure.partition(": gain of PGO")
            without, with_pgo = of.get((subject, base)), of.get((f"{subject} PGO", base))
            if colon and without and with_pgo:
                self.assertAlmostEqual(100 * (with_pgo.value / without.value - 1), figure.value, delta=0.06)

    def test_tproc_c(self):
        found = ours.figures("000", tprocc("TidesDB-glibc", "TidesDB-glibc-PGO", "TidesDB-glibc-PGO-large-cache"))
        self.assertEqual(found["TidesDB glibc", "NOPM"], [1000, 2000, 3000])
        self.assertEqual(found["TidesDB glibc", "TPM"], [2000, 4000, 6000])
        for gain in found["TidesDB glibc", "TPM: gain of PGO"]:
            self.assertAlmostEqual(gain, 10)
        self.assertFalse(any("cache" in subject for subject, _ in found))
        found = ours.figures("001-cache", tprocc("TidesDB-jemalloc", "TidesDB-jemalloc-large-cache"))
        self.assertEqual(found["small cache", "NOPM"], [1000, 2000, 3000])
        self.assertAlmostEqual(found["large over small cache", "TPM: ratio"][0], 1.1)
        found = ours.figures("002", tprocc("InnoDB-glibc", "TidesDB-glibc"))
        self.assertAlmostEqual(found["TidesDB over InnoDB", "NOPM: ratio"][2], 1.1)
        self.assertIn(("TidesDB over InnoDB", "stock-level mean: ratio"), found)
        # A run that did not finish has no figures, and forms no pair.
        broken = tprocc("InnoDB-glibc", "TidesDB-glibc")
        broken.runs[0].throughput = None
        self.assertEqual(len(ours.figures("002", broken)["TidesDB over InnoDB", "NOPM: ratio"]), 2)

    def test_every_figure_of_a_seed_has_one_of_ours_beside_it(self):
        with_all = ["InnoDB-glibc", "InnoDB-glibc-PGO", "InnoDB-jemalloc", "InnoDB-jemalloc-PGO", "TidesDB-glibc",
                    "TidesDB-glibc-PGO", "TidesDB-jemalloc", "TidesDB-jemalloc-PGO", "TidesDB-jemalloc-PGO-large-cache"]
        deletes = [Run("TidesDB", "iibench l.i1", 1, 1, 5.0, "rows/s",
                       measures={"inserted rows/s": 5.0, "seconds of the step": 41.0},
                       latencies=[Latency("insert", p99_ms=2.0, max_ms=900.0), Latency("delete", max_ms=9.0),
                                  Latency("find_low", p99_ms=1.0)],
                       # Nothing in second 7.
                       series={"insert rows": Metric("rows/s", [(at, at) for at in range(41) if at != 7])})]
        tiers = [Run(label, "oltp_read_write", threads, 1, 100.0 + gain, "", condition=f"{cache} cache")
                 for label, gain in (("a", 0), ("b", 10)) for cache in ("512M", "32M", "128M")
                 for threads in (1, 4, 16)]
        sysbench = [Run(engine, workload, threads, 1, 100.0 * threads, "", measures={"queries/s": 900.0},
                        latencies=[Latency("all", mean_ms=1, p95_ms=2)])
                    for engine in ("InnoDB", "TidesDB") for threads in (4, 8)
                    for workload in ("oltp_read_write", "oltp_point_select", "oltp_insert", "oltp_write_only")]
        of = {**dict.fromkeys(("000", "001-cache", "002"), tprocc(*with_all)), "001-deletes": Study("", "", "", deletes),
              "003": Study("", "", "", tiers), "004": Study("", "", "", sysbench)}
        for name, study in of.items():
            found = ours.figures(name, study)
            lacking = [key for key in seed_figures.of(name) if key not in found and "before" not in key[0]]
            self.assertEqual(lacking, [], name)
        found = {measure: values for (_, measure), values in ours.figures("001-deletes", of["001-deletes"]).items()}
        self.assertEqual((found["slowest seconds (p5)"], found["the slowest second"]), ([1], [0]))
        self.assertEqual((found["the first 20 s"], found["the last 20 s"]), ([(190 - 7) / 20], [30.5]))
        # The longest wait is shown, whatever its statement was.
        self.assertEqual((found["insert p99"], found["insert maximum"], found["delete maximum"]), ([2], [900], [9]))
        self.assertEqual([index._unit(measure, None) for measure in ("insert maximum", "the first 20 s",
                          "the slowest second", "the step's time", "resident memory before it")],
                         ["ms", "rows/s", "rows/s", "s", "MB"])
        self.assertAlmostEqual(ours.figures("003", of["003"])["all", "mean gain of PGO"][0], 10)
        self.assertEqual(ours.figures("004", of["004"])["oltp_insert InnoDB", "efficiency from 4 to 8 threads"], [100])

    def test_the_ends_of_a_range_are_of_each_repetition(self):
        runs = [Run("InnoDB", workload, threads, repetition, rate * threads ** 0.5, "",
                    latencies=[Latency("all", mean_ms=1, p95_ms=p95 + repetition)])
                for workload, rate, p95 in (("oltp_insert", 100.0, 10), ("oltp_point_select", 900.0, 1),
                                            ("oltp_x", 50.0, 20))
                for threads in (4, 8) for repetition in (1, 2)]
        runs[0].throughput /= 2
        found = ours.figures("004", Study("", "", "", runs))
        self.assertEqual(found["all workloads InnoDB", "highest p95 latency"], [21, 22])
        self.assertEqual(found["all workloads InnoDB", "lowest p95 latency"], [2, 3])
        for end, efficiencies in (("lowest", [70.7, 70.7]), ("highest", [141.4, 70.7])):
            of_end = found["all but point_select InnoDB", f"{end} efficiency from 4 to 8 threads"]
            self.assertEqual([round(value, 1) for value in of_end], efficiencies)
        # If a workload lacks a repetition, its runs cannot be matched with those of other workloads.
        without = ours.figures("004", Study("", "", "", runs[:-1]))
        self.assertNotIn(("all workloads InnoDB", "highest p95 latency"), without)

    def test_a_mean_gain_is_the_report_s(self):
        """Only noise, a factor of 4/3 up and down. A mean of percentages would show a gain: +33 and -25 % make +4 %."""
        points = [(cache, threads) for cache in ("32M cache", "512M cache") for threads in (1, 4)]
        runs = [Run(label, "oltp_read_write", threads, repetition, 100 * ratio ** sign, "", condition=cache)
                for label, ratio in (("plain", 1.0), ("PGO", 4 / 3))
                for repetition, turn in ((1, 1), (2, -1), (3, 1), (4, 1))
                for (cache, threads), sign in zip(points, (turn, -turn, turn, -1))]
        for left_out in ((), (runs[0],)):  # A repetition without all points counts in no mean.
            study = Study("", "", "", [run for run in runs if run not in left_out], paired=True)
            found = ours.figures("003", study)
            for name, where in (("all", gains.ALL), ("smallest tier", "32M cache"), ("largest tier", "512M cache")):
                change = next(gain.change for gain in gains.gains(study) if gain.where == where)
                here = index.interval("mean gain of PGO", found[name, "mean gain of PGO"])
                for ours_, its in zip(here, (change.low, change.high)):
                    self.assertAlmostEqual(ours_, its)
        self.assertEqual([round(value, 1) for value in ours.figures("003", Study("", "", "", runs))[
            "smallest tier", "mean gain of PGO"]], [0, 0, 0, 0])

    def test_what_was_interrupted_has_what_there_is(self):
        self.assertEqual(ours.figures("003", Study("", "", "", [Run("a", "", 1, 1, 5.0, "", condition="32M cache")])), {})
        self.assertEqual(ours.figures("001-cache", tprocc("TidesDB-jemalloc")), {})
        self.assertNotIn(("x", "TidesDB over InnoDB, transactions/s: ratio"), ours.figures("004", Study("", "", "", [
            Run("InnoDB", "x", 8, 1, 5.0, "", latencies=[Latency("all")])])))
        step = Run("TidesDB", "iibench l.i1", 1, 1, None, "rows/s", measures={"inserted rows/s": 5.0})
        self.assertEqual(ours.figures("001-deletes", Study("", "", "", [step])),
                         {("TidesDB", "rows inserted and deleted"): [5.0]})

    def test_a_sweep(self):
        runs = [Run("TidesDB", workload, 1, 1, 1.0, "rows/s", condition=f"tidesdb_bulk_staging_size {size}",
                    seconds=seconds)
                for size, seconds in (("1M", 3.0), ("64M", 2.0))
                for workload in ("iibench INSERT ... SELECT", "iibench l.x")]
        runs[0].memory = {"resident, before": 20 << 20, "resident, peak": 90 << 20}
        runs += [Run(**{**vars(run), "repetition": 2, "seconds": run.seconds + 1}) for run in runs]
        found = ours.figures("001-bulk", Study("", "", "", runs))
        self.assertEqual(found, {("1 MB staged", "time"): [3.0, 4.0], ("1 MB staged", "peak resident memory"): [90, 90],
                                 ("1 MB staged", "resident memory before it"): [20, 20],
                                 ("64 MB staged", "time"): [2.0, 3.0]})
        self.assertEqual(charts.points(found, "time"), [(1 << 20, [3.0, 4.0]), (64 << 20, [2.0, 3.0])])
        with tempfile.TemporaryDirectory() as name, mock.patch.object(style, "DOTS", 50):
            drawn = charts.sweep({"a": found, "b": found, "c": {}}, name)
            self.assertEqual([path.name for path in drawn], ["sweep.png", "sweep.pdf"])
            self.assertEqual(charts.sweep({"a": {}}, name), [])

    def test_engines_are_compared_with_innodb(self):
        found = ours.figures("engines", tprocc("RocksDB", "InnoDB", "TidesDB"))
        self.assertAlmostEqual(found["TidesDB over InnoDB", "NOPM: ratio"][2], 1.1)
        self.assertAlmostEqual(found["RocksDB over InnoDB", "NOPM: ratio"][0], 1 / 1.1)
        made = index.table("engines", found)
        self.assertEqual((made.head, made.rows[0]), (["", "figure", "here", "95 %"],
                                                     ["RocksDB", "NOPM", "2,000 (1,000–3,000)", ""]))

    def test_the_seed_s_row_and_ours_are_one(self):
        made = index.table("002", {("InnoDB", "NOPM"): [100, 110, 90], ("X", "TPM: ratio"): [1.5]})
        self.assertEqual(made.rows[0], ["InnoDB", "NOPM", "Results, table", "6,308", "100 (90–110)", ""])
        self.assertEqual(made.rows[-1], ["X", "TPM: ratio", "", "–", "1.50", ""])

    def test_ratios_and_gains_of_several_pairs_have_an_interval(self):
        made = index.table("engines", {("X", "NOPM: ratio"): [1.5, 1.5], ("Y", "mean gain of PGO"): [10, 21],
                                       ("Z", "TPM: gain of PGO"): [-100, 5]})
        # Two equal pairs prove nothing. For 1.10 and 1.21: 12.7 times half the logarithm of 1.1 on either side.
        self.assertEqual([row[-1] for row in made.rows], ["1–2.25", "-37.0 to +111.4", ""])

    def test_every_ratio_has_an_interval(self):
        runs = [Run(label, "oltp_insert", 8, repetition, rate * repetition, "", latencies=[Latency("all", mean_ms=1.0)])
                for repetition in (1, 2) for label, rate in (("InnoDB", 10.0), ("TidesDB", 15.0))]
        made = index.table("004", ours.figures("004", Study("", "", "", runs)))
        self.assertEqual([row for row in made.rows if "transactions/s: ratio" in row[1] and row[4] != "–"],
                         [["oltp_insert", "TidesDB over InnoDB, transactions/s: ratio", "Throughput Comparison", "5",
                           "1.50 (1.50–1.50)", "1–2.25"]])


class Kept(unittest.TestCase):
    """The contents of docs/benchmarks."""

    def test_every_file_has_its_sum(self):
        lists = sorted((TREE / "docs" / "benchmarks").rglob("SHA256SUMS"))
        self.assertGreaterEqual(len(lists), 3)
        for sums in lists:
            said = dict(reversed(line.split("  ", 1)) for line in sums.read_text().splitlines())
            for path in sorted(sums.parent.rglob("*")):
                if path.is_file() and path != sums:
                    self.assertEqual(said.get(str(path.relative_to(sums.parent))), provenance.sha256(path), path)


class Words(unittest.TestCase):
    def test_paths_without_their_place(self):
        said = index.without_places("lab/x.sh --build a mariadbd=/m/s/plain/sbin/d plugin=/m/s/plain/p.so "
                                    "--build b mariadbd=/m/s/pgo/sbin/d plugin=/m/s/pgo/p.so")
        self.assertEqual(said, "lab/x.sh --build a mariadbd=plain/sbin/d plugin=plain/p.so "
                               "--build b mariadbd=pgo/sbin/d plugin=pgo/p.so")
        self.assertEqual(index.without_places("lab/x.sh --pgo-plugin /m/s/p.so"), "lab/x.sh --pgo-plugin p.so")
        self.assertEqual(index.without_places("lab/x.sh a=/m/s/p.so b=/usr/lib/l.so c=/m/s/p.so"),
                         "lab/x.sh a=p.so b=l.so c=p.so")  # No common directory, so only the names are left.
        self.assertEqual(index.without_places("A=1 lab/x.sh"), "A=1 lab/x.sh")

    def test_the_command_without_where_its_figures_go(self):
        said = door.command_of(["--only", "002", "-o", "/x", "--minutes", "0.7", "--publish=/y", "--note", "a b"])
        self.assertEqual(said, "lab/seed_studies.sh --only 002 --minutes 0.7")


class Published(unittest.TestCase):
    def setUp(self):
        self.base = folder(self)
        self.run_ = run_of(studies.Wanted(("002",)), "tprocc")
        self.folder = self.base / "all" / left.folder_of(self.run_)
        self.logs = self.folder / "hammerdb_logs_1"
        (self.logs / "server-data").mkdir(parents=True)
        for name, size in (("journal.jsonl", 10), ("report.md", 1000), ("report.html", 3_000_000), ("samples.json", 5000),
                           ("chart_tpcc_tpm.png", 600_000), ("chart_tpcc_nopm.png", 600_000),
                           ("chart_tpcc_latency.png", 9000), ("chart_tpcc_latency.pdf", 700), ("server-data/x", 10),
                           ("server-data/ibdata1", 10)):
            (self.logs / name).write_bytes(b"x" * size)
        (self.folder / "hammerdb_results_1.csv").write_text("a,b\n")
        files = provenance.files(self.folder)
        self.done = index.Done(self.run_, tprocc("InnoDB-glibc", "TidesDB-glibc"), self.folder.name,
                               f"{self.folder.name}/hammerdb_logs_1/report.md", "", len(files), 1)

    def publish(self):
        target = self.base / "published"
        return target, publish.publish([self.done], ["003 is left out."], "lab/seed_studies.sh --minutes 0.7",
                                       self.base / "all", target)

    def test_what_is_small_is_there_and_all_sums(self):
        target, size = self.publish()
        there = {path.name for path in (target / self.folder.name).iterdir()}
        self.assertEqual(there, {"report.md", "hammerdb_results_1.csv", "chart_tpcc_tpm.png", "chart_tpcc_latency.png",
                                 "chart_tpcc_latency.pdf"})
        self.assertLess(size, publish.STUDY_BYTES_MAX)
        text = (target / "README.md").read_text()
        self.assertIn("| TidesDB over InnoDB", text)
        self.assertIn("13.6", text)
        self.assertIn("003 is left out.", text)
        for link in (f"{self.folder.name}/report.md", f"{self.folder.name}/chart_tpcc_tpm.png"):
            self.assertIn(f"({link})", text)
            self.assertTrue((target / link).exists())
        self.assertNotIn("report.html", text)
        sums = (target / "SHA256SUMS").read_text()
        self.assertIn("hammerdb_logs_1/samples.json", sums)  # Not published, but its checksum is listed.
        self.assertNotIn("server-data", sums)
        named = set(re.findall(r"(?m)^\w+  (.+)$", sums))
        published = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
        self.assertEqual(published - named, {"SHA256SUMS"})
        for place in (target, self.base / "all"):
            subprocess.run(["sha256sum", "--check", "--quiet", "--ignore-missing", target / "SHA256SUMS"], cwd=place,
                           check=True)
        self.assertIn("lab/seed_studies.sh --minutes 0.7", text)
        figures = (target / "figures.csv").read_text()
        self.assertIn("figure,seed,median,lowest,highest,interval_low,interval_high,repetitions\n", figures)
        self.assertIn("TidesDB over InnoDB,NOPM: ratio,13.6,1.1,1.1,1.1,1,1.21,3\n", figures)
        self.assertIn("InnoDB,NOPM,6308.0,2000,1000,3000,,,3\n", figures)

    def test_one_page_is_there_as_an_example(self):
        self.done.page = f"{self.folder.name}/hammerdb_logs_1/report.html"
        with mock.patch.object(publish, "_EXAMPLES", ("deletes", "tprocc")):
            target, _ = self.publish()
        packed = target / self.folder.name / "report.html.gz"
        self.assertEqual(gzip.decompress(packed.read_bytes()), b"x" * 3_000_000)
        text = (target / "README.md").read_text()
        self.assertIn(f"[page]({self.folder.name}/report.html.gz)", text)
        self.assertIn("gunzip --keep report.html.gz", text)

    def test_a_page_that_is_large_is_not(self):
        self.done.page = f"{self.folder.name}/hammerdb_logs_1/report.html"
        with mock.patch.object(publish, "EXAMPLE_BYTES_MAX", 100):
            target, _ = self.publish()
        self.assertEqual(list(target.rglob("*.gz")), [])
        self.assertNotIn("gunzip", (target / "README.md").read_text())

    def test_where_the_engines_runner_leaves_its_report(self):
        run = run_of(studies.Wanted(("engines",)), "engines")
        merged = self.base / "results_1" / "final" / "merged"
        merged.mkdir(parents=True)
        for name in ("report.md", "chart_tpcc_nopm.png", "hammerdb_results_merged.csv", "../../journal.jsonl"):
            (merged / name).touch()
        self.assertEqual(left.report_of(run, self.base), merged / "report.md")
        self.assertEqual(left.charts_of(run, self.base), [merged / "chart_tpcc_nopm.png"])
        self.assertEqual(left.tables_of(run, self.base), [merged / "hammerdb_results_merged.csv"])
        self.assertEqual(left.command_of(run, self.base, Path("/tree"))[1:], ["--resume", self.base / "results_1"])

    def test_the_csv_of_one_that_has_it_beside_its_report(self):
        for wanted, name, place, journal in ((studies.Wanted(("001-deletes",)), "deletes", "iibench_1", "journal.jsonl"),
                                             (PGO, "tiers-tidesdb", "study", "journal.jsonl")):
            directory = self.base / name / place
            directory.mkdir(parents=True)
            for file in (journal, "runs.csv"):
                (directory / file).touch()
            self.assertEqual(left.tables_of(run_of(wanted, name), self.base / name), [directory / "runs.csv"])

    def test_nothing_of_somebody_s_is_written_over(self):
        (self.base / "published").mkdir()
        (self.base / "published" / "x").write_text("")
        with self.assertRaisesRegex(Failed, "--publish: .* is not empty"):
            self.publish()
        argv = ["seed_studies.sh", "--dry-run", "--publish", str(self.base / "published")]
        with mock.patch.object(sys, "argv", argv), mock.patch.object(door, "describe") as described, \
                self.assertRaisesRegex(Failed, "--publish: .* is not empty"):
            door._main()
        described.assert_not_called()  # Before anything is measured.

    def test_the_same_command_goes_on_where_it_was(self):
        self.assertEqual(left.command_of(self.run_, self.folder, Path("/tree")),
                         [Path("/tree/lab/hammerdb_runner.sh"), "--resume", self.logs])
        begins = left.command_of(self.run_, self.base / "empty", Path("/tree"))
        self.assertEqual(begins[1:3] + begins[-2:], ["-b", "tpcc", "-o", self.base / "empty"])
        other = run_of(studies.Wanted(("002",), scale_down=2), "tprocc")
        self.assertNotEqual(left.folder_of(other), left.folder_of(self.run_))

    def test_charts_are_shown_once(self):
        self.done.charts, both = ["a.png"], index.Done(**{**vars(self.done), "charts": ["a.png"]})
        both.run = run_of(studies.Wanted(("000", "002")), "tprocc")
        self.assertEqual(index.page([both]).markdown().count("](a.png)"), 1)
        self.assertEqual(index.page([self.done]).markdown().count("](a.png)"), 1)

    def test_the_page(self):
        made = index.page([self.done])
        self.assertIn("each repetition in the reverse order of the one before", made.markdown())
        for text in (made.markdown(), made.html()):
            self.assertIn("TPC-C Benchmark Analysis on TidesDB 9.0.2", text)
            self.assertIn("13.6", text)
        self.assertIn("<th class=n>", made.html())

    def test_versions_are_named(self):
        study = self.done.study
        study.provenance = {"binaries": {"InnoDB-glibc: mariadbd": {"sha256": "ab" * 32}}, "disk": {"file_system": "ext4"},
                            **dict.fromkeys(("cpu", "distribution", "kernel", "date", "commit"), "x"), "memory_mb": 1}
        for run in study.runs:
            run.versions = {"server": "11.8.6-MariaDB", "sysbench": "1.0.20"}
        text = index.page([self.done]).markdown()
        self.assertIn(f"- InnoDB-glibc: mariadbd: 11.8.6-MariaDB, SHA-256 {'ab' * 8}…\n", text)
        self.assertIn("- sysbench: 1.0.20\n", text)

    def test_builds_that_changed_between_runs_are_told(self):
        facts = {"disk": {"file_system": "ext4"}, "memory_mb": 1,
                 **dict.fromkeys(("cpu", "distribution", "kernel", "date"), "x")}
        later = index.Done(**vars(self.done))
        later.run, later.study = run_of(studies.Wanted(("004",)), "sqlbench"), Study(**vars(self.done.study))
        for one, commit, digest in ((self.done, "c1", "ab"), (later, "c2", "cd")):
            one.study.provenance = {**facts, "commit": commit, "binaries": {"ha_tidesdb.so": {"sha256": digest * 32}}}
        text = index.page([self.done, later]).markdown()
        name = self.done.run.name
        self.assertIn(f"commit differs: c1 ({name}); c2 (sqlbench).", text)
        self.assertIn(f"- ha_tidesdb.so: differs: SHA-256 {'ab' * 8}… ({name}); "
                      f"SHA-256 {'cd' * 8}… (sqlbench)\n", text)

    def test_wrong_data_is_told(self):
        study = self.done.study
        study.runs[0].wrong = "a district's orders"
        self.done.study = Study(**vars(study))
        text = index.page([self.done]).markdown()
        self.assertIn("has no figures: a district's orders.", text)
        self.assertIn("| InnoDB", text)
