import unittest

from test.differential import explained
from test.differential.compare import Outcome, unlike
from test.differential.sql import Statement


def _rows(*rows):
    return Outcome(rows=[tuple(row) for row in rows])


class CompareTest(unittest.TestCase):
    def test_rows_are_compared_as_a_multiset(self):
        one, other = _rows([b"1"], [b"2"], [b"2"]), _rows([b"2"], [b"1"], [b"2"])
        self.assertIsNone(unlike("select", one, other, False))
        self.assertEqual(unlike("select", one, _rows([b"1"], [b"1"], [b"2"]), False)[0], "rows")

    def test_null_is_not_empty(self):
        self.assertEqual(unlike("select", _rows([None]), _rows([b""]), False)[0], "rows")

    def test_order_counts_only_where_the_query_gives_one(self):
        one, other = _rows([b"1"], [b"2"]), _rows([b"2"], [b"1"])
        self.assertEqual(unlike("select-order", one, other, True)[0], "order")

    def test_errors_are_compared_by_number(self):
        self.assertEqual(
            unlike("insert", Outcome(error=1022, text="a"), Outcome(error=1062, text="b"), False)[0], "error 1062/1022"
        )
        self.assertIsNone(unlike("insert", Outcome(error=1062, text="a"), Outcome(error=1062, text="b"), False))

    def test_affected_rows_and_warnings_by_kind(self):
        one, other = Outcome(affected=1, warnings=[1264]), Outcome(affected=2, warnings=[])
        self.assertEqual(unlike("insert", one, other, False)[0], "affected")
        other.affected = 1
        self.assertEqual(unlike("insert", one, other, False)[0], "warnings")
        self.assertIsNone(unlike("delete", one, other, False))

    def test_names_of_database_and_engine_are_left_out(self):
        ours, theirs = _rows([b"ours.t", b"check", b"status", b"OK"]), _rows([b"theirs.t", b"check", b"status", b"OK"])
        self.assertIsNone(unlike("check", ours, theirs, False))
        ours, theirs = _rows([b"t", b") ENGINE=TidesDB DEFAULT CHARSET=latin1"]), _rows(
            [b"t", b") ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=latin1"]
        )
        self.assertIsNone(unlike("show-create", ours, theirs, False))


class ExplainedTest(unittest.TestCase):
    def test_each_has_a_name_and_a_reason(self):
        names = [one.name for one in explained.DIFFERENCES]
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(all(len(one.reason) > 20 for one in explained.DIFFERENCES))

    def test_a_wrong_answer_is_not_explained(self):
        statement = Statement("select", "SELECT 1")
        self.assertIsNone(explained.find(statement, "SELECT 1", _rows([b"1"]), _rows([b"2"])))

    def test_a_replace_of_two_by_a_select_too(self):
        refused, fine = Outcome(error=1062), Outcome(affected=5)
        for text, name in [("REPLACE INTO t0 SELECT 1", "replace-of-two"), ("INSERT INTO t0 SELECT 1", None)]:
            found = explained.find(Statement("insert-select", text), text, fine, refused)
            self.assertEqual(found and found.name, name)

    def test_our_own_corruption_is_not_explained(self):
        statement = Statement("check", "CHECK TABLE t")
        corrupt, fine = _rows([b"t", b"check", b"error", b"Corrupt"]), _rows([b"t", b"check", b"status", b"OK"])
        self.assertIsNone(explained.find(statement, "", corrupt, fine))
        self.assertEqual(explained.find(statement, "", fine, corrupt).name, "innodb-corrupt")


if __name__ == "__main__":
    unittest.main()
