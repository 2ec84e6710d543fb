"""Tests of lab.mix: the order of measurements, their result, the options of the training's servers, its counters."""

import json
import math
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer.shell import Failed
from lab.observe import callgrind
from lab.runners.mix import compare, count, train, works
from lab.server import profiles
from lab.study import copies

LABELS = ["plain", "PGO"]


def results(rounds, faster, noise=0.0):
    """Results by unit name. faster: the second label's ratio; noise: a round's error in that ratio, up and down in turn."""
    found = {}
    for unit in compare.units(rounds, LABELS):
        ratio = faster * math.exp(noise * (-1) ** unit.repetition) if unit.label == "PGO" else 1.0
        found[unit.name] = {"per_s": 1000 * unit.repetition * ratio, "cpu": 1 / ratio}
    return found


class Order(unittest.TestCase):
    def test_a_pair_follows_each_other_and_who_is_first_changes(self):
        units = compare.units(2, LABELS)
        self.assertEqual(len(units), 2 * 2 * len(works.WORKS))
        for first, second in zip(units[::2], units[1::2]):
            self.assertEqual((first.repetition, first.work), (second.repetition, second.work))
        self.assertEqual([units[0].label, units[2 * len(works.WORKS)].label], LABELS)
        self.assertEqual(len({unit.name for unit in units}), len(units))


class Resuming(unittest.TestCase):
    def plan(self, engine):
        """The facts that must be the same to resume a comparison of two builds."""
        args = SimpleNamespace(build=[[label, "server=debian12"] for label in LABELS], rounds=2, seconds=5,
                               output=Path("no"))
        it = compare.Comparison(args, lambda _: None)

        def resolved(spec, _log):
            return SimpleNamespace(engine=engine, preload="", binaries=dict, label=spec.label, data="")

        with mock.patch.object(copies.builds_of, "resolve", resolved):
            it.prepare(None)
        return it.whole_plan()

    def test_other_engines_and_options_are_of_another_plan(self):
        innodb = self.plan("InnoDB")
        self.assertEqual(innodb, self.plan("InnoDB"))
        self.assertNotEqual(innodb, self.plan("TidesDB"))
        with mock.patch.object(compare.profiles, "options", return_value=["--innodb-buffer-pool-size=1G"]):
            self.assertNotEqual(innodb, self.plan("InnoDB"))


class Counts(unittest.TestCase):
    # As callgrind 3.24 ends a dump of each of two threads.
    TEXT = "events: Ir Dr I1mr Bc Bcm\nfn=(1) main\n12 3 1 0 0 0\ntotals: {} 200 30 40 5\n"

    def test_the_events_of_all_dumps_are_summed(self):
        found = callgrind.totals(self.TEXT.format(1000) + self.TEXT.format(500))
        self.assertEqual((found["Ir"], found["I1mr"], found["Bcm"], found["Bi"]), (1500, 60, 10, 0))
        self.assertFalse(callgrind.totals("events: Ir\nfn=(1) main\n"))

    def test_what_connecting_costs_is_in_no_transaction(self):
        one, many = callgrind.totals(self.TEXT.format(5_000)), callgrind.totals(self.TEXT.format(25_000))
        self.assertEqual(count.of_a_transaction(many, one, 10)["instructions"], 2_000)

    def test_the_table_says_what_changed(self):
        def of(instructions):
            return {name: 0 for name in count.EVENTS} | {"instructions": instructions}

        table = count.table({"insert": {"plain": of(40_000), "PGO": of(30_000)}})
        self.assertIn("| work | of a transaction | plain | PGO | PGO / plain |\n", table)
        self.assertIn("| insert | instructions | 40,000 | 30,000 | -25.0 % |\n", table)
        self.assertIn("| insert | mispredicted branches | 0 | 0 | – |\n", table)


class Gains(unittest.TestCase):
    def test_what_is_faster_each_time_is_a_gain(self):
        found = compare.gains(results(4, 1.1, noise=0.01), 4, LABELS)
        self.assertEqual(found["overall"]["verdict"], "gain")
        self.assertAlmostEqual(found["overall"]["mean"], 10.0, places=6)
        self.assertAlmostEqual(found["overall_cpu"]["mean"], 100 / 1.1 - 100, places=6)
        self.assertEqual([row["work"] for row in found["works"]], list(works.WORKS))
        self.assertEqual({row["gain"]["verdict"] for row in found["works"]}, {"gain"})

    def test_noise_is_said_to_be_noise(self):
        found = compare.gains(results(4, 1.01, noise=0.2), 4, LABELS)
        self.assertEqual(found["overall"]["verdict"], "within noise")
        self.assertLess(found["overall"]["low"], 0)
        self.assertIn("within noise", compare.table(found))

    def test_a_slower_build_is_a_loss(self):
        self.assertEqual(compare.gains(results(4, 0.9, noise=0.01), 4, LABELS)["overall"]["verdict"], "loss")

    def test_one_round_says_nothing(self):
        with self.assertRaisesRegex(Failed, "two are needed"):
            compare.gains(results(1, 1.1), 1, LABELS)

    def test_the_table_and_the_result_are_written(self):
        with tempfile.TemporaryDirectory() as directory:
            compare.write(compare.gains(results(2, 1.1, noise=0.01), 2, LABELS), Path(directory))
            table = (Path(directory) / compare.TABLE).read_text()
            self.assertEqual(json.loads((Path(directory) / compare.RESULT).read_text())["rounds"], 2)
            self.assertEqual(sorted(p.name for p in Path(directory).iterdir()), [compare.RESULT, compare.TABLE])
        for row in table.strip().splitlines():
            self.assertEqual(row.count("|"), 7, row)
        self.assertIn("| TPROC-C | 1,414 | 1,556 |", table)


class Training(unittest.TestCase):
    def test_no_setting_is_said_twice(self):
        for engine in ("TidesDB", "InnoDB"):
            for sync in ("NONE", "FULL"):
                names = [option.partition("=")[0].replace("-", "_") for option in train.options(engine, sync)]
                self.assertEqual(len(names), len(set(names)), (engine, sync))
        self.assertIn("--tidesdb_block_cache_size=16M", train.options("TidesDB", "FULL"))
        whole = profiles.options("fair", "TidesDB", "NONE")
        self.assertIn(next(option for option in whole if "block_cache_size" in option), train.options("TidesDB", "NONE"))
        self.assertIn("--tidesdb-unified-memtable-sync-mode=FULL", train.options("TidesDB", "FULL"))

    def test_counters_are_open_to_the_next_servers_user(self):
        with tempfile.TemporaryDirectory() as directory:
            counters = train.Counters(Path(directory) / "deep" / "counters")
            with self.assertRaisesRegex(Failed, "no counters"):
                counters.check()
            self.assertEqual(counters.directory.stat().st_mode & 0o777, 0o777)
            file = counters.directory / "a.gcda"
            file.write_bytes(b"x")
            file.chmod(0o600)
            counters.open_up()
            counters.check()
            self.assertEqual(file.stat().st_mode & 0o777, 0o666)
