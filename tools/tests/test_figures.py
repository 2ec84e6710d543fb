"""What the figures of the tree count."""

import unittest

from tools import figures


class Figures(unittest.TestCase):
    def test_comments(self):
        self.assertEqual(figures.comment_lines("a.h", "// One.\nint a;  // Not by itself.\n\n  // Two.\n"), (2, 3))
        self.assertEqual(figures.comment_lines("a.py", '"""One\n\ntwo."""\n# Three.\na = 1\n"""Four."""\n'), (4, 5))

    def test_cycles(self):
        self.assertEqual(sorted(figures.on_cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}})), ["b", "c"])

    def test_includes(self):
        files = {"src/wal/a.h", "src/wal/a.cc", "lab/base/x.py"}
        self.assertEqual(figures.targets("src/wal/a.cc", '#include "wal/a.h"\n#include "no.h"\n#include <x>\n', files),
                         ["src/wal/a.h"])
        self.assertEqual(figures.targets("lab/y.py", "from lab.base import x\nimport os\n", files), ["lab/base/x.py"])
