"""Tests of the page that is made of the plugin's tables of variables."""

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
        text = ('#define T(X) \\\n  X(hits, Number, from.hits, "blocks, found") \\\n'
                '  X(rate, Ratio, Rate(from, 1), "a rate")\n')
        self.assertEqual(variables.status_variables(text)[:2],
                         [("Tidesdb_hits", "blocks, found"), ("Tidesdb_rate", "a rate")])

    def test_none_is_missed(self):
        text = (variables.TREE / variables.SYSTEM).read_text()
        self.assertEqual(len(variables.system_variables(text)), text.count("X(") - 1)
        status = (variables.TREE / variables.STATUS).read_text()
        self.assertEqual(len(variables.status_variables(status)), status.count("\n  X(") + 2)
        self.assertIn("version.name = i == 0 ? \"version\" : \"library_version\"",
                      (variables.TREE / "plugin/server/status.cc").read_text())

    def test_the_dashboard_asks_for_variables_that_are_there(self):
        dashboard = json.loads((variables.TREE / "docs/monitoring/tidesdb-dashboard.json").read_text())
        status = variables.status_variables((variables.TREE / variables.STATUS).read_text())
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
