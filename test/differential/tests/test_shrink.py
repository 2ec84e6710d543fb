import unittest

from test.differential.shrink import Shrinker
from test.differential.sql import Case, Items, Statement, Tagged


def _case():
    table = Statement(
        "create", ["CREATE TABLE t (", Items([Tagged("t.a", "a INT"), Tagged("t.b", "b INT"), Tagged("t.c", "c INT")]), ")"]
    )
    rows = [
        Items([Tagged("t.a", str(n)), Tagged("t.b", str(n * 2)), Tagged("t.c", "0")], before="(", after=")")
        for n in range(20)
    ]
    fill = Statement("insert", ["INSERT INTO t VALUES ", Items(rows)])
    noise = [Statement("select", f"SELECT {n}") for n in range(30)]
    query = Statement("select", ["SELECT a FROM t WHERE ", Items(["a = 7", "b > 0", "c = 0"], " AND ")])
    return Case(1, ["SET timestamp = 1", "SET sql_mode = ''"], [table, *noise[:15], fill, *noise[15:], query])


def _text(case):
    return "\n".join(text for statement in case.statements for text in statement.texts())


class ShrinkerTest(unittest.TestCase):
    def test_leaves_what_shows_the_difference_and_nothing_else(self):
        def shows(case):
            text = _text(case)
            return "CREATE TABLE" in text and "(7" in text and "a = 7" in text

        small = Shrinker(shows).shrink(_case())
        self.assertEqual(_text(small), "CREATE TABLE t (a INT)\nINSERT INTO t VALUES (7)\nSELECT a FROM t WHERE a = 7")
        self.assertEqual(small.settings, ["SET timestamp = 1"])

    def test_a_column_goes_with_its_values(self):
        def shows(case):  # SQL needs as many values in a row as columns.
            table, fill = (next((s for s in case.statements if s.kind == kind), None) for kind in ("create", "insert"))
            if table is None or fill is None:
                return False
            columns = len(list(table.lists())[0].items)
            return columns >= 2 and all(len(row.items) == columns for row in list(fill.lists())[1:])

        small = Shrinker(shows).shrink(_case())
        self.assertEqual([len(items.items) for items in small.statements[0].lists()], [2])

    def test_the_case_given_stays_as_it_is(self):
        case = _case()
        before = _text(case)
        Shrinker(lambda _: True).shrink(case)
        self.assertEqual(_text(case), before)

    def test_a_list_keeps_what_sql_needs(self):
        case = Case(1, [], [Statement("insert", ["INSERT INTO t VALUES ", Items(["(1)", "(2)"], least=1)])])
        small = Shrinker(lambda one: len(one.statements) == 1).shrink(case)
        self.assertIn(_text(small), ("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"))

    def test_ends_when_its_time_is_up(self):
        shrinker = Shrinker(lambda _: True, seconds_max=0)
        self.assertEqual(len(shrinker.shrink(_case()).statements), len(_case().statements))
        self.assertEqual(shrinker.attempts, 0)


if __name__ == "__main__":
    unittest.main()
