"""Tests of the page that is generated from the plugin's tables of variables."""

import json
import unittest

from tools import variables

_SYSTEM = r"""
#define TIDESDB_NO_EFFECT "Accepted for compatibility; has no effect."
#define TIDESDB_SYSTEM_VARIABLES(X) \
  /* Some. */ \
  X(size, Start, Number, (256ULL << 20, 0, kUnlimited), "Bytes, all \"of\" " \
    "them (some).") \
  X(mode, Global, Enum, (1, "NONE", "FULL"), "A mode.", CheckMode) \
  X(old, Session, Bool, (0), TIDESDB_NO_EFFECT)
"""


class Variables(unittest.TestCase):
    def test_system_variables(self):
        self.assertEqual(variables.system_variables(_SYSTEM), [
            ("tidesdb_size", "start", "256M", "0", "no limit", 'Bytes, all "of" them (some).'),
            ("tidesdb_mode", "global", "FULL", "NONE, FULL", "", "A mode."),
            ("tidesdb_old", "session", "OFF", "", "", "Accepted for compatibility; has no effect.")])

    def test_status_variables(self):
        text = ('#define T(COUNTER, NUMBER, ALIAS) \\\n  COUNTER(Hits, hits, cache_hits, "blocks, found") \\\n'
                '  /* More. */ \\\n  NUMBER(double, rate, hit_rate, Rate(from, 1), \\\n         "a rate") \\\n'
                '  ALIAS(found, hits, "the same")\n#define U(X) \\\n  X(version, SHOW_CHAR, kVersion, "a version")\n')
        self.assertEqual(variables.status_variables(text),
                         [("Tidesdb_cache_hits", "blocks, found"), ("Tidesdb_hit_rate", "a rate"),
                          ("Tidesdb_found", "the same"), ("Tidesdb_version", "a version")])

    def test_none_is_missed(self):
        text = (variables.TREE / variables.SYSTEM).read_text()
        self.assertEqual(len(variables.system_variables(text)), text.count("X(") - 1)
        tables = variables.status_tables()
        lines = [line for line in tables.splitlines() if line.startswith("  ") and line[2].isupper()]
        self.assertEqual(len(variables.status_variables(tables)), len(lines))

    def test_the_dashboard_asks_for_variables_that_are_there(self):
        dashboard = json.loads((variables.TREE / "docs/monitoring/tidesdb-dashboard.json").read_text())
        status = variables.status_variables(variables.status_tables())
        known = {name.lower() for name, _ in status}
        places = set()
        for panel in dashboard["panels"]:
            at = panel["gridPos"]
            places |= {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            asked = variables.re.findall(r"mysql_global_status_(\w+)", " ".join(one["expr"] for one in panel["targets"]))
            self.assertTrue(asked, panel["title"])
            self.assertEqual(set(asked) - known, set(), panel["title"])
        size = sum(one["gridPos"]["w"] * one["gridPos"]["h"] for one in dashboard["panels"])
        self.assertEqual(len(places), size, "two panels lie on each other")

    def test_what_has_no_effect_is_named_in_one_line(self):
        page = variables.page([], variables.system_variables(_SYSTEM))
        self.assertIn("without effect: `tidesdb_old`.", page)
        self.assertNotIn("| `tidesdb_old`", page)


if __name__ == "__main__":
    unittest.main()
