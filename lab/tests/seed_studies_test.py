#!/usr/bin/env python3
"""lab/seed_studies.sh on real servers: seed 002, very small, interrupted and resumed; its index; what it publishes.

Environment: as lab_server.py says; TIDESDB_SERVER names the server.
"""

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from installer import host  # noqa: E402
from installer.shell import TREE  # noqa: E402
from lab.tests.runner_case import RunnerCase  # noqa: E402

_SERVER = os.environ.get("TIDESDB_SERVER") or host.host_server()
_SMALL = ["--only", "002", "--scale-down", "100", "--minutes", "0.02", "--server", _SERVER]
_SECOND = "    [4/8] rep1/TidesDB-glibc tpcc run ..."


class SeedStudies(RunnerCase):
    def test_interrupted_gone_on_with_and_published(self):
        output, target = self.output / "all", self.output / "published"
        argv = [TREE / "lab" / "seed_studies.sh", *_SMALL, "-o", output]
        self.interrupt_at(self.start(*argv), _SECOND)
        self.assertIn("Incomplete: part of it failed", (output / "index.md").read_text())

        said = self.finish(self.start(*argv, "--publish", target))
        self.assertIn("[3/8] rep1/InnoDB-glibc tpcc run: done in an earlier sitting", said)
        text = (output / "index.md").read_text()
        self.assertNotIn("Incomplete: part of it failed", text)
        self.assertRegex(text, r"\| TidesDB over InnoDB +\| NOPM: ratio +\| Results, table +\| +13\.6 \| +"
                               r"[\d.,]+ \([\d.,]+–[\d.,]+\) \|")
        self.assertIn("Interrupted during: rep1/TidesDB-glibc tpcc run", text)
        self.assertTrue((output / "index.html").read_text().startswith("<!doctype html>"))
        figures = {(row["subject"], row["figure"]): row for row in self.rows("all/figures.csv")}
        self.assertEqual((figures["TidesDB", "NOPM"]["seed"], figures["TidesDB", "NOPM"]["repetitions"]), ("85888.0", "3"))
        self.assertGreater(float(figures["TidesDB", "NOPM"]["median"]), 0)
        # The loaded data and the servers are gone, and the published files name no directory of this machine.
        self.assertEqual(list(output.rglob("server-data")), [])
        for place in (output, target):  # The raw files, and the published ones.
            subprocess.run(["sha256sum", "--check", "--quiet", "--ignore-missing", target / "SHA256SUMS"], cwd=place,
                           check=True)
        self.assertLess(sum(path.stat().st_size for path in target.rglob("*") if path.is_file()), 3_500_000)
        for path in target.rglob("*"):
            if path.suffix in (".md", ".csv"):
                for place in (str(TREE), str(self.output)):
                    self.assertNotIn(place, path.read_text(), path)


if __name__ == "__main__":
    unittest.main()
