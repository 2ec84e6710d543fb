"""Each rule of tidy.py finds a violation, and accepts correct text."""

import unittest

from tools import tidy


class Rules(unittest.TestCase):
    def setUp(self):
        self.findings = tidy.Findings()
        self.layers = tidy.read_layers()

    def bans(self, path, text):
        tidy.check_bans(path, text, tidy.strip_code(text), self.findings)
        return self.findings.lines

    def includes(self, path, header):
        tidy.check_layers(path, f'#include "{header}"\n', self.layers, self.findings)
        return self.findings.lines

    def test_include_upwards(self):
        self.assertEqual(len(self.includes("src/format/a.cc", "txn/txn_manager.h")), 1)

    def test_include_of_the_same_layer(self):
        self.assertEqual(len(self.includes("src/memtable/a.cc", "table/table_reader.h")), 1)

    def test_include_downwards(self):
        self.assertEqual(self.includes("src/table/a.cc", "base/check.h"), [])

    def test_plugin_sees_public_headers_only(self):
        self.assertEqual(self.includes("plugin/handler/a.cc", "tidesdb/db.h"), [])
        self.assertEqual(self.includes("plugin/handler/a.cc", "base/guard.h"), [])
        self.assertEqual(len(self.includes("plugin/handler/a.cc", "base/check.h")), 1)

    def test_rooms_of_the_plugin_point_downwards(self):
        self.assertEqual(len(self.includes("plugin/session/a.cc", "handler/ha_tidesdb.h")), 1)

    def imports(self, path, text):
        findings = tidy.Findings()
        tidy.check_imports(path, text, tidy.read_layers(python=True), findings)
        return findings.lines

    def test_imports_upwards(self):
        for text in ("from lab.study import journal", "from lab.study.journal import Journal", "import lab.study.journal",
                     "def f():\n    from lab.study import journal", "from lab.works import tpcc"):
            self.assertEqual(len(self.imports("lab/server/a.py", text)), 1, text)

    def test_imports_downwards_and_of_others(self):
        text = "import os\nfrom lab.base import watched\nfrom lab.study import room\nfrom installer.shell import Failed"
        self.assertEqual(self.imports("lab/study/a.py", text), [])

    def test_no_folder_is_forgotten_and_names_are_whole(self):
        self.assertIn("is not in tools/layers.txt", self.imports("lab/new/a.py", "")[0])
        self.assertIn("write the full name", self.imports("lab/base/a.py", "from . import watched")[0])

    def test_banned_words(self):
        for text in ["using namespace std;", "auto* p = new Foo(1);", "delete p;", "std::mutex m;",
                     "#include <unistd.h>", "throw 1;", "x = dynamic_cast<A*>(b);", "#if 0"]:
            self.findings = tidy.Findings()
            self.assertEqual(len(self.bans("src/wal/a.cc", text)), 1, text)

    def test_allowed_words(self):
        for text in ["// a new way to delete things", 'Say("throw new delete");', "Foo() = delete;",
                     "new (memory) Foo();", "return std::unique_ptr<A>(new A(b));", "bool newer = 1;"]:
            self.findings = tidy.Findings()
            self.assertEqual(self.bans("src/wal/a.cc", text), [], text)

    def test_a_block_of_a_contract_within_a_line(self):
        for text, count in [("// Threads: any. Owns: nothing.", 1), ("// A job (done). Invariants:", 1),
                            ("// Threads: any.\n// Owns: nothing.", 0), ("// Reads it. Errors: kIoError.", 0),
                            ("// Its own Format: a word.", 0)]:
            self.findings = tidy.Findings()
            tidy.check_contract("src/wal/a.h", text, self.findings)
            self.assertEqual(len(self.findings.lines), count, text)

    def test_a_page_that_is_not_there(self):
        tidy.check_pages("src/wal/a.h", "// docs/locks.md\n// docs/format/nothing.md\n", self.findings)
        self.assertEqual(self.findings.lines, ["src/wal/a.h:2: names docs/format/nothing.md, which is not there"])

    def test_a_lock_that_the_page_does_not_have(self):
        text = ("class Nobody {\n  struct alignas(64) Shard {\n    mutable Mutex mu GUARDED_BY(x);\n  };\n"
                "  Latch latch_{LatchOf::kSlots};\n};\n")
        self.assertEqual(list(tidy.owned_locks(text)), [(3, "Shard::mu"), (5, "Nobody::latch_")])
        tidy.check_locks("src/lock/nobody.h", text, self.findings)
        self.assertEqual(self.findings.lines, ["src/lock/nobody.h:5: docs/locks.md does not have Nobody::latch_"])

    def test_a_public_function_without_a_word(self):
        text = ("class A {\n public:\n  // What it does.\n  virtual int B(int c) = 0;\n\n  virtual int D() = 0;\n"
                "  virtual Status E() = 0;  // Said.\n\n  virtual ~A() = default;\n\n private:\n  int F();\n};\n")
        tidy.check_public("include/tidesdb/a.h", text, self.findings)
        self.assertEqual([line.split(":")[1] for line in self.findings.lines], ["6"])

    def test_a_front_page_that_is_too_long(self):
        text = "# A title\n" + "a line\n" * tidy.FRONT_PAGE_LINES_MAX
        for path, count in [("README.md", 1), ("lab/README.md", 0)]:
            self.findings = tidy.Findings()
            tidy.check_markdown(path, text, [], self.findings)
            self.assertEqual(len(self.findings.lines), count, path)

    def test_a_folder_without_its_page(self):
        tidy.check_room_pages(["src/wal/a.h", "src/cellar/a.h"], self.findings)
        self.assertEqual(len(self.findings.lines), 1)
        self.assertIn("src/cellar", self.findings.lines[0])

    def test_long_function(self):
        body = "  x();\n" * (tidy.FUNCTION_LINES_MAX + 1)
        code = f"namespace a {{\nint F(int a,\n      int b) const {{\n{body}}}\n}}\n"
        tidy.check_functions("src/wal/a.cc", code, self.findings)
        self.assertEqual(len(self.findings.lines), 1)

    def test_short_functions_in_a_long_class(self):
        code = "class A {\n" + "  int F() {\n    return 1;\n  }\n" * tidy.FUNCTION_LINES_MAX + "};\n"
        tidy.check_functions("src/wal/a.h", code, self.findings)
        self.assertEqual(self.findings.lines, [])

    def test_paths_of_one_machine(self):
        tidy.check_everywhere("README.md", "see /" + "home/me/tree for more", self.findings)
        self.assertEqual(len(self.findings.lines), 1)


if __name__ == "__main__":
    unittest.main()
