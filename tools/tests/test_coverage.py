"""gcovr's counts of files become figures of folders; tests and the simulation are left out."""

import re
import unittest

from tools.run_tests import coverage


def _file(name, *counts):
    return {"filename": name, **dict(zip(("line_covered", "line_total", "branch_covered", "branch_total"), counts))}


class Coverage(unittest.TestCase):
    def test_files_are_added_by_folder(self):
        sums = coverage.shares([_file("src/wal/a.h", 1, 2, 0, 0), _file("src/wal/b.cc", 1, 1, 0, 0),
                                _file("src/db/c.cc", 1, 1, 1, 2)])
        self.assertEqual(coverage.table(sums).splitlines()[2:], ["| src/db | 100.0 % | 1 | 50.0 % | 2 |",
                                                                 "| src/wal | 66.7 % | 3 | none | 0 |",
                                                                 "| all | 75.0 % | 4 | 50.0 % | 2 |"])

    def test_assertions_and_failpoints_have_no_branches(self):
        for line in ("  CHECK(a);", "  DCHECK(a);", "  CHECK_OK(F());", '  CHECK_MSG(a, "b");',
                     '  if (TIDESDB_PLANTED("x")) return;', '  TIDESDB_FAILPOINT_STATUS("x");'):
            self.assertTrue(re.match(coverage._NO_BRANCHES, line), line)
        for line in ("  if (a) return;", "  TIDESDB_TRY(F());", "  if (Recheck(a)) {"):
            self.assertFalse(re.match(coverage._NO_BRANCHES, line), line)

    def test_tests_and_the_simulation_are_left_out(self):
        def left_out(name):
            return any(re.match(pattern, name) for pattern in coverage._LEFT_OUT)

        for name in ("src/wal/a_test.cc", "src/base/test_hex.h", "src/txn/test_env.cc", "src/db/db_test_util.h",
                     "src/lsm/tree_harness.cc", "src/io/mem_fs.cc", "src/base/sim_hooks.h",
                     "src/memtable/memtable_bench.cc"):
            self.assertTrue(left_out(name), name)
        for name in ("src/wal/wal_set.cc", "src/io/mapped_memory.cc", "src/io/posix_fs.cc", "include/tidesdb/db.h"):
            self.assertFalse(left_out(name), name)


if __name__ == "__main__":
    unittest.main()
