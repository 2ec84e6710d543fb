"""Tests of lab/record/statistics and lab/record/gains: they tell a gain from noise, on measured numbers."""

import json
import random
import unittest
from pathlib import Path

from lab.record import statistics
from lab.record.gains import ALL, FIGURES, gains
from lab.record.run import Run, Study
from lab.reports import markdown, tables
from lab.tests import made_study

# Studies of one plugin under several names, and with a performance schema that instruments everything.
RECORDED = Path(__file__).resolve().parent / "recorded" / "pgo_study-same_plugin.json"
# A table of Student's t: two-sided 5 % and 0.2 %.
_T = {1: (12.706, 318.309), 2: (4.303, 22.327), 3: (3.182, 10.215), 5: (2.571, 5.893), 10: (2.228, 4.144),
      30: (2.042, 3.385), 120: (1.980, 3.160)}


class Students(unittest.TestCase):
    def test_quantiles_are_the_table_s(self):
        for freedom, (five, fifth) in _T.items():
            self.assertAlmostEqual(statistics.t_of_p(0.05, freedom), five, places=2 if freedom == 1 else 3)
            self.assertAlmostEqual(statistics.t_of_p(0.002, freedom), fifth, delta=fifth / 5e3)

    def test_probabilities_are_the_quantiles_other_way(self):
        for freedom in (1, 2, 3, 7, 50, 400):
            for p in (0.9, 0.3, 0.05, 1e-4):
                self.assertAlmostEqual(statistics.p_of_t(statistics.t_of_p(p, freedom), freedom), p, places=9)


class Pairs(unittest.TestCase):
    def test_a_gain_and_a_loss(self):
        before, after = [100, 102, 98, 101], [106, 109, 104, 107]
        gain = statistics.of_pairs(before, after)
        self.assertEqual((gain.verdict, gain.pairs), ("gain", 4))
        self.assertAlmostEqual(gain.mean, 6.2, delta=0.1)
        self.assertTrue(0 < gain.low < gain.mean < gain.high)
        self.assertEqual(statistics.of_pairs(after, before).verdict, "loss")

    def test_what_is_the_same_for_both_runs_of_a_pair_is_no_noise(self):
        """The machine is twice as slow in every other round."""
        before, after = [100, 50, 101, 49], [107, 53, 107, 52]
        self.assertEqual(statistics.of_pairs(before, after).verdict, "gain")
        # In other pairs, the same figures prove nothing.
        self.assertEqual(statistics.of_pairs(before, after[::-1]).verdict, "within noise")

    def test_one_pair_says_nothing(self):
        with self.assertRaisesRegex(ValueError, "two are needed"):
            statistics.of_pairs([1], [2])

    def test_pairs_that_are_all_alike_say_by_their_number_alone(self):
        """Latencies of a histogram are often equal. Two equal pairs have no spread, and prove nothing."""
        self.assertEqual(statistics.of_pairs([3, 3, 3], [3, 3, 3]).verdict, "within noise")
        for count in (2, 3, 5):
            few = statistics.of_pairs([3] * count, [3.3] * count)
            self.assertEqual((str(few), few.verdict), ("+10.0 % (+0.0 to +21.0)", "within noise"))
            self.assertEqual(statistics.of_pairs([3.3] * count, [3] * count).verdict, "within noise")
        many = statistics.of_pairs([3] * 6, [3.3] * 6)
        self.assertEqual((str(many), many.verdict, many.p), ("+10.0 % (+10.0 to +10.0)", "gain", 1 / 32))

    def test_ratios_have_an_interval_from_two_on(self):
        # t of two degrees of freedom is 4.303.
        low, high = statistics.interval_of_ratios([1.0, 1.1, 1.2])
        self.assertAlmostEqual(low, 0.8746, 3)
        self.assertAlmostEqual(high, 1.3759, 3)
        self.assertEqual([statistics.interval_of_ratios(ratios) for ratios in ([], [1.1], [1.1, 0.0])], [None] * 3)
        self.assertGreater(statistics.interval_of_ratios([1.0, 1.1])[1], 1.5)

    def test_overall_takes_a_round_for_one_figure(self):
        by_work = {"read": ([100, 100, 100], [110, 111, 109]), "write": ([10, 10, 10], [10.5, 10.4, 10.6])}
        whole = statistics.overall(by_work)
        self.assertEqual((whole.verdict, whole.pairs), ("gain", 3))
        self.assertAlmostEqual(whole.mean, 7.5, delta=0.1)


class ManyAtOnce(unittest.TestCase):
    def test_forty_lines_of_noise_have_no_gain_among_them(self):
        chance = random.Random(1)
        alone = together = 0
        for _ in range(100):
            noise = [statistics.of_logs([chance.gauss(0, 0.03) for _ in range(5)]) for _ in range(40)]
            alone += sum(one.verdict != "within noise" for one in noise)
            together += any(verdict != "within noise" for verdict in statistics.judged(noise))
        self.assertTrue(140 <= alone <= 260, alone)   # Of 4,000, one in twenty.
        self.assertLessEqual(together, 12)            # Of 100, one in twenty.

    def test_what_is_clear_stays_so_among_noise(self):
        chance = random.Random(2)
        lines = [statistics.of_logs([chance.gauss(0, 0.03) for _ in range(6)]) for _ in range(20)]
        lines.append(statistics.of_logs([0.10, 0.11, 0.09, 0.10, 0.105, 0.095]))
        lines.append(statistics.of_logs([-0.10, -0.11, -0.09, -0.10, -0.105, -0.095]))
        self.assertEqual(statistics.judged(lines), ["within noise"] * 20 + ["gain", "loss"])


def recorded_study(labels):
    """A study with the measured figures of these builds."""
    rows = json.loads(RECORDED.read_text())["runs"]
    runs = [Run(label, "oltp_read_write", row["threads"], row["repetition"], row["tps"], "transactions/s", row["condition"],
                operations=row["operations"], cpu_s=row["cpu_s"])
            for label in labels for row in rows if row["label"] == label]
    return Study("pgo-study", "t", "a", runs, paired=True)


class Recorded(unittest.TestCase):
    def verdicts(self, *labels):
        return {(gain.figure.name, str(gain.where)): gain.verdict for gain in gains(recorded_study(labels))}

    def test_a_study_of_one_plugin_against_itself_says_noise(self):
        for labels in (("plain", "same"), ("same", "plain")):
            found = self.verdicts(*labels)
            self.assertEqual({*found.values()}, {"within noise"}, found)
            self.assertIn(("throughput", ALL), found)

    def test_what_would_be_a_loss_alone_is_noise_among_six_lines(self):
        """In this study throughput varied by half, CPU time per transaction less."""
        for labels in (("plain", "watched"), ("watched", "plain")):
            found = gains(recorded_study(labels))
            self.assertEqual({gain.verdict for gain in found}, {"within noise"})
            whole = next(gain for gain in found if gain.where == ALL and gain.figure is FIGURES[1])
            self.assertNotEqual(whole.change.verdict, "within noise")

    def test_the_order_of_runs_is_of_no_matter_but_that_of_pairs_is(self):
        study = recorded_study(("plain", "watched"))
        before = [(one.change, one.verdict) for one in gains(study)]
        study.runs = [*reversed([run for run in study.runs if run.label == "plain"]),
                      *reversed([run for run in study.runs if run.label == "watched"])]
        self.assertEqual({str(one) for one in before}, {str((one.change, one.verdict)) for one in gains(study)})


class Simulated(unittest.TestCase):
    """Whole studies of two builds, 2 tiers × 3 numbers of threads × 4 repetitions, whose noise is known."""

    def studies(self, count, gain=1.0):
        chance = random.Random(3)
        for _ in range(count):
            runs = [Run(label, "w", threads, repetition, chance.lognormvariate(7, 0.03) * faster, "x/s", condition,
                        operations=1000, cpu_s=chance.lognormvariate(3, 0.01))
                    for label, faster in (("plain", 1.0), ("pgo", gain)) for condition in ("2G cache", "12G cache")
                    for threads in (1, 4, 16) for repetition in range(1, 5)]
            yield gains(Study("pgo-study", "t", "a", runs, paired=True))

    def test_a_study_of_a_build_against_itself_says_noise_but_once_in_twenty_studies(self):
        wrong = sum(any(gain.verdict != "within noise" for gain in found) for found in self.studies(300))
        self.assertTrue(3 <= wrong <= 24, wrong)  # 15 are expected; 79 if each family were judged alone.

    def test_a_gain_of_all_points_is_seen_all_together(self):
        verdicts = [next(gain.verdict for gain in found if gain.where == ALL) for found in self.studies(60, 1.05)]
        self.assertGreaterEqual(verdicts.count("gain"), 38)  # With equal shares for all 18 lines there would be 16.


class Gains(unittest.TestCase):
    def study(self, ratios, conditions=("2G cache", "12G cache"), missing=()):
        """ratios: one for each repetition, the same for all points."""
        runs = [Run(label, "w", threads, number, 100.0 * threads * (ratio if label == "pgo" else 1), "x/s", condition)
                for label in ("plain", "pgo") for condition in conditions for threads in (1, 4)
                for number, ratio in enumerate(ratios, 1) if (label, threads, number) not in missing]
        return Study("pgo-study", "t", "a", runs, paired=True)

    def test_all_together_by_condition_and_by_point(self):
        found = gains(self.study([1.05, 1.07, 1.06, 1.06]))
        self.assertEqual([str(getattr(gain.where, "name", gain.where)) for gain in found],
                         [ALL, "2G cache", "12G cache", *(f"{size} cache, w, {threads}" for size in ("2G", "12G")
                                                         for threads in ("1 thread", "4 threads"))])
        self.assertEqual({gain.verdict for gain in found}, {"gain"})
        self.assertAlmostEqual(found[0].lowest, 6.0, delta=0.1)

    def test_a_repetition_that_is_not_whole_is_left_out_of_the_whole(self):
        found = gains(self.study([1.05, 1.07, 1.06, 1.06], missing={("pgo", 4, 2)}))
        self.assertEqual((found[0].change.pairs, found[-1].change.pairs), (3, 3))
        self.assertEqual([gain.change.pairs for gain in found if gain.of_point], [4, 3, 4, 3])

    def test_one_repetition_tells_nothing(self):
        study = self.study([1.05])
        self.assertEqual(gains(study), [])
        self.assertIsNone(tables.gains(study))

    def test_the_table(self):
        table = tables.gains(self.study([0.94, 0.95, 0.93]))
        self.assertEqual(table.head, ["", "", "throughput", "95 % interval", "verdict", "points, throughput"])
        self.assertEqual([cell.replace("\u00a0", " ") for cell in table.rows[0]],
                         ["pgo", ALL, "-6.0 %", "-8.5 to -3.5", "loss", "-6.0 to -6.0 %"])
        self.assertEqual({column for _, column in table.bad}, {4})
        self.assertTrue(markdown.figures(self.study([1.05, 1.07])).startswith("## Gain over plain\n"))

    def test_less_cpu_is_a_gain(self):
        study = self.study([1.0, 1.01, 0.99, 1.0])
        for run in study.runs:
            run.operations, run.cpu_s = 1000, (1.0 if run.label == "plain" else 0.9) + run.repetition / 100
        found = {gain.figure: gain for gain in gains(study) if gain.where == ALL}
        self.assertEqual((found[FIGURES[0]].verdict, found[FIGURES[1]].verdict), ("within noise", "gain"))
        self.assertLess(found[FIGURES[1]].change.mean, -9)

    def test_other_studies_have_none(self):
        self.assertIsNone(tables.gains(made_study.study()))
        self.assertIn("95 % interval", tables.throughput(made_study.study()).head)
        self.assertNotIn("95 % interval", tables.throughput(self.study([1.1, 1.2, 1.3])).head)
