#!/usr/bin/env python3
"""python3 -m lab.mix count on a real server: a plugin compared with itself has the same cost twice.

Environment: as lab_server.py says; TIDESDB_SERVER and TIDESDB_PLUGIN are wanted.
"""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from installer.shell import TREE, output  # noqa: E402
from lab.runners.mix import count  # noqa: E402


class Count(unittest.TestCase):
    def test_a_plugin_beside_itself(self):
        with tempfile.TemporaryDirectory(prefix="mix-count-test-") as directory:
            base = Path(directory)
            of = [f"server={os.environ['TIDESDB_SERVER']}", f"plugin={os.environ['TIDESDB_PLUGIN']}"]
            said = output([sys.executable, "-m", "lab.mix", "count", "--build", "plain", *of, "--build", "again", *of,
                           "--works", "point_select", "-o", base], cwd=TREE)
            result = json.loads((base / count.RESULT).read_text())
            found, facts = result["of a transaction"]["point_select"], result["provenance"]
            self.assertIn((base / count.TABLE).read_text(), said)
            self.assertEqual({path.name for path in base.iterdir()} - {"build.log"}, {count.TABLE, count.RESULT})
        self.assertEqual({"plain: ha_tidesdb.so", "again: ha_tidesdb.so"} - {*facts["binaries"]}, set(), facts)
        # The engine's background threads are counted too: some hundred instructions of 35,000.
        plain, again = (found[label]["instructions"] for label in ("plain", "again"))
        self.assertGreater(plain, 10_000)
        self.assertAlmostEqual(again / plain, 1, delta=0.05)
        self.assertTrue(all(found[label][name] > 0 for label in found for name in count.EVENTS), found)


if __name__ == "__main__":
    unittest.main()
