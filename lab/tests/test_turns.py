"""Tests of lab/record/turns: neighbours stay neighbours, each is first in turn, and reports tell the real order."""

import unittest

from lab.record import turns


class Turns(unittest.TestCase):
    def test_there_and_back(self):
        self.assertEqual(["".join(turns.in_turn("abc", number)) for number in (1, 2, 3)], ["abc", "cba", "abc"])

    def test_what_drifts_is_the_same_for_all(self):
        """With an even number of repetitions, each one has the same average position, so drift affects all alike."""
        order = [unit for repetition in (1, 2, 3, 4) for unit in turns.in_turn("abc", repetition)]
        self.assertEqual({sum(at for at, unit in enumerate(order) if unit == one) for one in "abc"}, {22})

    def test_who_was_first_more_often_is_said(self):
        self.assertEqual(turns.said(4), " Each repetition was run in the reverse order of the one before.")
        self.assertIn("before; as they are 3, of two runs that are compared one is first once more than the other.",
                      turns.said(3))

    def test_nothing_is_said_of_one_repetition(self):
        self.assertEqual(turns.said(1), "")
