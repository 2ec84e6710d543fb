"""clang-tidy checks a source again if the source, its includes, its flags or the rules changed."""

import tempfile
import unittest
from pathlib import Path

from tools.run_tests.checks import Clean


class CleanTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.source, self.header = self.folder / "a.cc", self.folder / "a.h"
        self.source.write_text('#include "a.h"\nint a = 1;  // NOLINT\n')
        self.header.write_text("int b();\n")
        self.entry = {"directory": str(self.folder), "file": str(self.source),
                      "command": f"c++ -DX=1 -o a.o -c {self.source}"}
        self.note()

    def clean(self, program="1", options=()):
        return Clean(self.folder / "kept", program, list(options))

    def note(self):
        self.clean().note([self.entry])
        self.assertEqual(self.clean().left([self.entry]), [])

    def is_left(self, **of):
        self.assertEqual(self.clean(**of).left([self.entry]), [self.entry])

    def test_what_it_includes(self):
        self.header.write_text("int b(int);\n")
        self.is_left()
        self.note()

    def test_a_comment(self):
        self.source.write_text('#include "a.h"\nint a = 1;\n')
        self.is_left()

    def test_flags_rules_and_program(self):
        self.is_left(program="2")
        self.is_left(options=["--checks=x"])
        self.entry["command"] = self.entry["command"].replace("-DX=1", "-DX=2")
        self.is_left()

    def test_what_does_not_compile_is_never_clean(self):
        self.header.unlink()
        self.clean().note([self.entry])
        self.is_left()
