"""gcov's counts of several translation units become one figure."""

import json
import unittest
from collections import defaultdict

from tools.run_tests import coverage


def _unit(name, *lines):
    return json.dumps({"files": [{"file": name, "lines": [
        {"line_number": number, "count": count, "branches": [{"count": way, "throw": throw} for way, throw in ways]}
        for number, count, ways in lines]}]})


class Coverage(unittest.TestCase):
    def test_units_are_added(self):
        found = defaultdict(coverage.Reached)
        # A branch of two ways, one taken in each unit; a call whose second way is an exception's; a line that never ran.
        coverage.read(_unit("../../src/wal/a.h", (1, 3, [(3, False), (0, False)]), (2, 1, [(1, False), (0, True)]),
                            (3, 0, [])), found)
        coverage.read(_unit("../../src/wal/a.h", (1, 1, [(0, False), (1, False)])), found)
        coverage.read(_unit("../../src/db/b.cc", (9, 1, [(1, False), (0, False)])), found)
        for elsewhere in ("/usr/include/c++/vector", "../../src/wal/a_test.cc", "../../test/sim/x.cc"):
            coverage.read(_unit(elsewhere, (1, 1, [])), found)
        self.assertEqual(coverage.folders(found), ["src/db: 100.0 % of 1 lines, 50.0 % of 2 branches",
                                                   "src/wal: 66.7 % of 3 lines, 100.0 % of 2 branches",
                                                   "all: 75.0 % of 4 lines, 75.0 % of 4 branches"])
