"""What tests of a runner's command line do: start it, interrupt it at a line that it says, wait for its end."""

import csv
import signal
import subprocess
import unittest
from pathlib import Path

from installer.shell import TREE
from lab.tests.cases import folder


class RunnerCase(unittest.TestCase):
    """Each case has an empty folder, output."""

    def setUp(self):
        self.output = folder(self)

    def start(self, *argv, env=None):
        child = subprocess.Popen([str(word) for word in argv], cwd=TREE, env=env, text=True, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.kill)
        return child

    def finish(self, child, code=0):
        """What it has said since the last line that was read."""
        said = child.communicate(timeout=300)[0]
        self.assertEqual(child.returncode, code, said)
        return said

    def interrupt_at(self, child, line):
        """SIGTERM when it says a line that begins so. What it said before, and then."""
        before = []
        for said in child.stdout:
            before.append(said)
            if said.startswith(line):
                break
        child.send_signal(signal.SIGTERM)
        return "".join(before) + self.finish(child, 130)

    def only(self, pattern):
        """The one file or folder of that name in output."""
        found, = self.output.glob(pattern)
        return found

    def rows(self, pattern):
        """Of the one CSV."""
        with open(self.only(pattern), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, strict=True))


def servers_below(directory):
    """The pids of servers whose data is there."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"--datadir={directory}" in (entry / "cmdline").read_text():
                found.append(int(entry.name))
        except OSError:
            pass
    return found
