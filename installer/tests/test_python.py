"""The scripts that users call tell what to do if there is no Python."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from installer.shell import TREE


class WithoutPython(unittest.TestCase):
    def test_every_script_says_that_it_is_missing(self):
        scripts = [TREE / "quickstart", TREE / "install.sh", TREE / "run-tests", *sorted((TREE / "lab").glob("*.sh"))]
        self.assertGreater(len(scripts), 8)
        with tempfile.TemporaryDirectory() as name:
            path = Path(name)
            for program in ("dirname", "readlink"):
                (path / program).symlink_to(shutil.which(program))
            (path / "id").write_text("#!/bin/sh\necho 1000\n")
            (path / "id").chmod(0o755)
            for script in scripts:
                done = subprocess.run(["/bin/sh", script], env={"PATH": name}, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr),
                                 (1, "python3 is missing, and installing it needs root\n"), script)


if __name__ == "__main__":
    unittest.main()
