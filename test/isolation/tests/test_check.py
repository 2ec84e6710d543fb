"""Each anomaly in a history written by hand: it is found, named, and forbidden at the right levels."""

import tempfile
import unittest
from pathlib import Path

from test.isolation.check import check, explain
from test.isolation.history import READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE, load, save
from test.isolation.tests.made import found, history

RC, RR, SER = READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE


class Named(unittest.TestCase):
    def forbidden(self, name, level, *texts, **more):
        self.assertIn(name, found(level, *texts, **more)[0])

    def allowed(self, name, level, *texts, **more):
        forbidden, allowed = found(level, *texts, **more)
        self.assertEqual(forbidden, set())
        self.assertIn(name, allowed)

    def test_nothing(self):
        for level in (RC, RR, SER):
            self.assertEqual(found(level, "1:5 2:6", "T1 r1=1 w1:7 r1=1.7", "T2 @10-19 r1=1.7 w2:8 d1=1.7",
                                   "T3 @20-29 r1= i1:4:9", end="2.8,9"), (set(), set()))

    def test_g0(self):
        self.forbidden("G0", RC, "1:5 2:6", "T1 w1:11 w2:12", "T2 w1:21 w2:22", end="1.11.21,2.22.12")

    def test_g1a(self):
        self.forbidden("G1a", RC, "1:5", "T1 w1:11 abort", "T2 r1=1.11", end="1")

    def test_g1b(self):
        self.forbidden("G1b", RC, "1:5", "T1 w1:11 w1:12", "T2 r1=1.11", end="1.11.12")
        self.forbidden("G1b", RC, "1:5", "T1 i2:6:11 d2=11", "T2 r2=11", end="1")

    def test_g1c(self):
        self.forbidden("G1c", RC, "1:5 2:6", "T1 w1:11 r2=2.21", "T2 w2:21 r1=1.11", end="1.11,2.21")

    def test_lost_update(self):
        texts = ("1:5", "T1 r1=1 w1:11", "T2 r1=1 w1:21")
        self.allowed("lost update", RC, *texts, end="1.11.21")
        self.allowed("lost update", RR, *texts, end="1.11.21", snapshot_isolation=False)
        self.forbidden("lost update", RR, *texts, end="1.11.21")

    def test_an_update_that_overwrote_another(self):
        self.forbidden("overwritten", RC, "1:5", "T1 w1:11", "T2 w1:21", "T3 r1=1.11", end="1.21")
        self.forbidden("lost write", RC, "1:5", "T1 w1:11", "T2 w1:21", end="1.21")

    def test_read_skew(self):
        texts = ("1:5 2:6", "T1 r1=1 r2=2.12", "T2 w1:11 w2:12")
        self.allowed("read skew of a snapshot", RC, *texts, end="1.11,2.12")
        for more in (True, False):
            self.forbidden("read skew of a snapshot", RR, *texts, end="1.11,2.12", snapshot_isolation=more)
        texts = ("1:5 2:6", "T1 r1=1 R2=2.12", "T2 w1:11 w2:12")  # The second locks.
        self.forbidden("G-single", RR, *texts, end="1.11,2.12")
        self.allowed("G-single", RR, *texts, end="1.11,2.12", snapshot_isolation=False)

    def test_phantom(self):
        texts = ("1:5", "T1 k4-9=1 K4-9=1,11", "T2 i2:6:11")
        self.allowed("phantom", RC, *texts, end="1,11")
        self.forbidden("phantom", RR, *texts, end="1,11")
        self.forbidden("phantom", SER, *texts, end="1,11")

    def test_what_was_locked_is_changed(self):
        row = ("1:5 2:6", "T1 R1=1 r2=2.12", "T2 w1:11 w2:12")
        self.forbidden("locked row changed", RC, *row, end="1.11,2.12")
        found_range = ("1:5", "T1 K7-9= K7-9=11", "T2 i2:8:11")
        self.allowed("locked range changed", RC, *found_range, end="1,11")
        self.forbidden("locked range changed", RR, *found_range, end="1,11", snapshot_isolation=False)
        self.allowed("locked range changed", RR, *found_range, end="1,11", locks=False)
        self.forbidden("locked range changed", SER, *found_range, end="1,11", locks=False)

    def test_half_a_transaction(self):
        insert = ("1:5 2:6", "T1 {}0-9=1.11,2", "T2 w1:11 i9:6:12")
        update = ("1:5 2:6", "T1 {}0-9=1.11,2", "T2 w1:11 w2:12")
        for level in (RC, RR, SER):
            for read in "kK":
                self.forbidden("half a transaction seen", level, *(text.format(read) for text in update), end="1.11,2.12")
            self.forbidden("half a transaction seen", level, *(text.format("k") for text in insert), end="1.11,2,12")
        self.allowed("half a transaction seen by a lock", RC, *(text.format("K") for text in insert), end="1.11,2,12")
        self.forbidden("half a transaction seen by a lock", RR, *(text.format("K") for text in insert), end="1.11,2,12")

    def test_write_skew(self):
        texts = ("1:5 2:6", "T1 r1=1 r2=2 w1:11", "T2 r1=1 r2=2 w2:21")
        self.allowed("G2-item", RR, *texts, end="1.11,2.21")
        self.forbidden("G2-item", SER, *texts, end="1.11,2.21")

    def test_write_skew_of_predicates(self):
        texts = ("1:5", "T1 k4-9=1 i2:6:11", "T2 k4-9=1 i3:7:21")
        self.allowed("G2", RR, *texts, end="1,11,21")
        self.forbidden("G2", SER, *texts, end="1,11,21")

    def test_long_fork(self):
        self.forbidden("G-nonadjacent", RR, "1:5 2:6", "T1 w1:11", "T2 w2:21", "T3 r1=1.11 r2=2", "T4 r1=1 r2=2.21",
                       end="1.11,2.21")

    def test_row_that_moves_in_the_index(self):
        up, down = ("1:5 2:6", "T1 K4-9=2", "T2 m1:8:11"), ("1:8 2:6", "T1 K4-9=2", "T2 m1:5:11")
        self.forbidden("missed row", RC, *up, end="1.11,2")
        self.allowed("missed row", RC, *down, end="1.11,2")
        for texts in (up, down):
            self.forbidden("missed row", RR, *texts, end="1.11,2")
            self.forbidden("missed row", RC, *(text.replace("K", "k") for text in texts), end="1.11,2")

    def test_a_row_that_moved_behind_a_locking_scan_tells_of_no_version(self):
        """A scan of k has passed 1 when the row moves there from 5; then all rows are deleted after its locks."""
        texts = ("1:5 2:3", "T1 @1-4 K0-9=2", "T2 @2-3 m1:1:9", "T3 @3-8 d1=1.9 d2=2")
        self.assertEqual(found(RC, *texts, end="")[0], set())
        ahead = ("1:2 2:3", "T1 @1-4 K0-9=2", "T2 @2-3 m1:8:9", "T3 @3-8 d1=1.9 d2=2")
        self.forbidden("half a transaction seen", RC, *ahead, end="")

    def test_row_that_is_gone_since_the_snapshot(self):
        texts = ("1:5 2:6", "T1 r1=1 K0-9=2", "T2 d1=1")
        self.allowed("row gone since the snapshot", RR, *texts, end="2")
        self.forbidden("G-single", SER, *texts, end="2")

    def test_own_writes(self):
        self.forbidden("own write not seen", RC, "1:5", "T1 w1:11 r1=1", end="1.11")
        self.forbidden("own write not seen", RC, "1:5", "T1 w1:11 k0-9=", end="1.11")

    def test_stale(self):
        for level in (RC, RR, SER):
            self.forbidden("stale read", level, "1:5", "T1 @1-2 w1:11", "T2 @3-4 r1=1", end="1.11")
            self.forbidden("missed row", level, "1:5", "T1 @1-2 i2:6:11", "T2 @3-4 k6=", end="1,11")

    def test_a_read_that_rollback_to_undid_took_the_snapshot(self):
        made = history(RR, "1:5", "T1 @1-2 w1:11", "T2 @3-4 r1=1", end="1.11")
        made.transactions[1].snapshot = 0.5
        self.assertEqual(check(made).forbidden, [])

    def test_real_time(self):
        """T3 sees T2 and not T1, though T1 ended before T2 began."""
        texts = ("1:5 2:6", "T1 @1-2 w1:11", "T2 @3-4 w2:21", "T3 @0-9 r1=1 r2=2.21")
        self.forbidden("not serializable", SER, *texts, end="1.11,2.21")

    def test_lost_and_found(self):
        self.forbidden("lost write", RC, "1:5", "T1 w1:11", end="1")
        self.forbidden("lost write", RC, "1:5", "T1 i2:6:11", end="1")
        self.forbidden("lost row", RC, "1:5 2:6", end="1")
        self.forbidden("double write", RC, "1:5", "T1 w1:11", end="1.11.11")
        self.forbidden("half a transaction", RC, "1:5", "T1 w1:11 abort", end="1.11")
        self.forbidden("overwritten", RC, "1:5 2:6", "T1 d1=1", "T2 d1=1", end="2")

    def test_outcome_that_is_not_known(self):
        self.assertEqual(found(RC, "1:5 2:6", "T1 w1:11 unknown", "T2 d2=2 unknown", end="1.11"), (set(), set()))
        self.assertEqual(found(RC, "1:5 2:6", "T1 w1:11 unknown", "T2 d2=2 unknown", end="1,2"), (set(), set()))
        self.forbidden("lost write", RC, "1:5 2:6", "T1 w1:11 w2:12 unknown", end="1.11,2")
        # A transaction that deletes a row saw that no other had deleted it.
        texts = ("1:5 2:6 3:7", "T1 @1-2 d1=1 d2=2 unknown", "T2 @3-4 d1=1 unknown", "T3 @5-6 d2=2")
        self.assertEqual(found(RC, *texts, end="3"), (set(), set()))


class Files(unittest.TestCase):
    def test_a_saved_history_has_the_same_verdict(self):
        made = history(SER, "1:5", "T1 k4-9=1 i2:6:11", "T2 k4-9=1 i3:7:21", end="1,11,21")
        with tempfile.TemporaryDirectory() as name:
            save(made, Path(name) / "h.jsonl")
            again = load(Path(name) / "h.jsonl")
        self.assertEqual(check(again), check(made))
        text = "\n".join(explain(made, check(made).forbidden[0]))
        self.assertRegex(text, r"T1 -rw\*-> T2, row 21: T1 `k4-9=1` did not see it")
        self.assertIn("T2 (session 1, committed", text)
