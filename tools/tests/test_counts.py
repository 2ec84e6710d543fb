"""Tests of how instruction counts are compared; nothing is counted here."""

import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tools import counts

_TOOLS = {"gcc": "12.2.0", "glibc": "2.36", "valgrind": "3.19.0"}


class Compare(unittest.TestCase):
    def test_a_rise_over_three_percent_fails(self):
        bad, moved = counts.compare({"put": 1000, "get": 1000}, {"put": 1031, "get": 1030})
        self.assertEqual((bad, moved), (["put: 1000 -> 1031 instructions, +3.1%"], []))

    def test_a_fall_is_told_and_does_not_fail(self):
        bad, moved = counts.compare({"put": 1000}, {"put": 900})
        self.assertEqual((bad, len(moved)), ([], 1))
        self.assertIn("-10.0%", moved[0])

    def test_a_path_without_a_count_fails_as_does_a_count_without_a_path(self):
        bad, _ = counts.compare({"old": 1000}, {"new": 1000})
        self.assertEqual(len(bad), 2)

    def test_the_last_line_of_the_same_tools_counts(self):
        other = {**_TOOLS, "gcc": "14.2.0"}
        lines = [{"tools": _TOOLS, "counts": {"put": 1}}, {"tools": _TOOLS, "counts": {"put": 2}},
                 {"tools": other, "counts": {}}]
        with tempfile.TemporaryDirectory() as name, mock.patch.object(counts, "FILE", Path(name) / "counts.jsonl"):
            self.assertIsNone(counts.newest(_TOOLS))
            counts.FILE.write_text("".join(json.dumps(line) + "\n" for line in lines))
            self.assertEqual(counts.newest(_TOOLS), {"put": 2})
            self.assertIsNone(counts.newest({**_TOOLS, "glibc": "2.41"}))


class File(unittest.TestCase):
    def test_every_line_says_when_why_and_by_what(self):
        for line in counts.FILE.read_text().splitlines():
            said = json.loads(line)
            self.assertEqual(set(said), {"date", "why", "tools", "counts"})
            self.assertTrue(said["why"] and set(said["tools"]) == set(_TOOLS) and len(said["counts"]) >= 12)


if __name__ == "__main__":
    unittest.main()
