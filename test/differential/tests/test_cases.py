import random
import re
import unittest

from test.differential import column_types, findings
from test.differential.cases import random_case
from test.differential.compare import Difference
from test.differential.sql import Items, Tagged, maybe, render
from test.differential.tables import Column, Key, KeyPart, Table

_SEEDS = range(120)


def _texts(case):
    return [text for statement in case.statements for text in statement.texts()]


class CasesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cases = [random_case(seed) for seed in _SEEDS]

    def test_a_seed_is_one_case(self):
        self.assertEqual(_texts(random_case(7)), _texts(random_case(7)))
        self.assertNotEqual(_texts(random_case(7)), _texts(random_case(8)))

    def test_the_kinds_of_the_known_faults_come_up(self):
        """A pattern for each kind of statement that an engine once got wrong: the generator must produce it."""
        text = "\n".join(text for case in self.cases for text in [*case.settings, *_texts(case)])
        for what, pattern in {
            "prefix key": r"KEY k\d \([^)]*c\d\(\d+\)",
            "descending prefix": r"c\d\(\d+\) DESC",
            "prefix in a primary key": r"PRIMARY KEY \([^)]*c\d\(\d+\)",
            "czech": "cp1250_czech_cs",
            "contraction": "utf8mb4_czech_ci",
            "virtual": "VIRTUAL",
            "stored": "STORED",
            "hash": "USING HASH",
            "alter ignore": "ALTER IGNORE TABLE .* ADD UNIQUE",
            "constant": r"UPDATE t\d SET c\d = ",
            "on update": "ON UPDATE CURRENT_TIMESTAMP",
            "partition": "PARTITION BY RANGE",
            "checksum": "CHECKSUM TABLE",
            "check": "CHECK TABLE t0 EXTENDED",
            "savepoint": "ROLLBACK TO SAVEPOINT",
            "handler": "HANDLER t0 READ",
            "force": "FORCE INDEX",
            "switch": "optimizer_switch",
            "period": "WITHOUT OVERLAPS",
            "trigger": "CREATE TRIGGER",
            "temporary": "CREATE TEMPORARY TABLE",
            "returning": "RETURNING",
            "partition by another column": r"PARTITION BY (LINEAR )?KEY \(c\d\)",
            "parts of a condition": r"AND \(.*\) IS NULL",
            "optimize": "OPTIMIZE TABLE",
            "long values apart": "KLOG_VALUE_THRESHOLD",
            "without row locks": "tidesdb_pessimistic_locking = OFF",
            "more than stays in memory": "INSERT IGNORE INTO bulk .* FROM bulk",
        }.items():
            self.assertTrue(re.search(pattern, text), what)

    def test_no_limit_without_an_order(self):
        for case in self.cases:
            for text in _texts(case):
                if " LIMIT " in text and not text.startswith("HANDLER"):
                    self.assertRegex(text, r"ORDER BY .*\bid( DESC)?\s+LIMIT")

    def test_no_temporary_table_has_a_column_that_sets_itself(self):
        for case in self.cases:
            temporary = {name for text in _texts(case) for name in re.findall(r"^CREATE TEMPORARY TABLE (t\d)", text)}
            for text in _texts(case):
                if re.match(rf"(CREATE TEMPORARY|ALTER) TABLE ({'|'.join(temporary) or '-'})\b", text):
                    self.assertNotIn("ON UPDATE", text)

    def test_a_virtual_column_is_unique_by_its_base_too(self):
        base, other = Column("c1", column_types.INT), Column("c10", column_types.INT)
        virtual = Column("g0", column_types.INT, generated="AS (ABS(c10)) VIRTUAL")
        table = Table("t0", [base, other, virtual], [Key("k0", "UNIQUE KEY", [KeyPart(virtual)])])
        self.assertEqual([table.in_unique(column) for column in table.columns], [False, True, True])

    def test_what_innodb_answers_for_is_ours_outside_of_transactions(self):
        """There InnoDB runs another statement, which may not end its transaction as ours does."""
        for case in self.cases:
            inside = False
            for statement in case.statements:
                if statement.kind in ("begin", "end") and not statement.reader:
                    inside = statement.kind == "begin"
                if statement.theirs:
                    self.assertFalse(inside, statement.texts()[0])

    def test_without_draws_again(self):
        for seed in range(30):
            self.assertNotRegex("\n".join(_texts(random_case(seed, without="PARTITION BY"))), "PARTITION BY")

    def test_the_reader_is_closed_before_ddl(self):
        for case in self.cases:
            is_open = False
            for statement in case.statements:
                if statement.reader:
                    is_open = statement.texts()[0] != "COMMIT"
                elif statement.kind.startswith(("alter", "truncate")):
                    self.assertFalse(is_open, statement.texts()[0])


class LiteralsTest(unittest.TestCase):
    def test_what_does_not_print_is_hex(self):
        self.assertEqual(column_types.quote("a'b"), "'a''b'")
        self.assertEqual(column_types.quote("a\\"), "'a\\\\'")
        self.assertEqual(column_types.quote("a\t"), "_utf8mb4 0x6109")

    def test_values_fit_their_type(self):
        rng = random.Random(1)
        for _ in range(2000):
            kind = column_types.random_type(rng)
            value = kind.literal(rng)
            if kind.text and value.startswith("'"):
                self.assertLessEqual(len(value[1:-1].replace("''", "'").replace("\\\\", "\\")), kind.chars)


class PartsTest(unittest.TestCase):
    def test_render(self):
        part = ["SELECT ", Items(["a", Tagged("t.b", "b")]), maybe("LIMIT 1"), Items([], least=0, before=" WHERE ")]
        self.assertEqual(render(part), "SELECT a, b LIMIT 1")

    def test_a_finding_says_what_to_run(self):
        case = random_case(3)
        text = findings.text_of(case, Difference("select: rows", 0, "SELECT\n1", "1 rows", "0 rows"), "debian12")
        self.assertIn("-- statement: SELECT 1\n", text)
        self.assertIn("SET timestamp", text)
        self.assertEqual(findings.slug("select: variant, rows"), "select_variant_rows")


if __name__ == "__main__":
    unittest.main()
