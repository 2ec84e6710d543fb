"""What tests of a runner's command line do: start it, interrupt it at a line that it says, wait for its end."""

import csv
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from installer.shell import TREE
from lab.tests.cases import folder
from lab.tests.lab_server import TPCC, LabServer, environment


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


class OnARunningServer(RunnerCase):
    """The runner's user has a password that a shell and SQL would take apart. The runner finds the built-in generator."""

    PASSWORD = "it's [a] $ecret"

    @classmethod
    def setUpClass(cls):
        cls.server = LabServer(environment())
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        cls.server.__enter__()
        quoted = cls.PASSWORD.replace("'", "''")
        cls.server.sql(f"CREATE USER runner@localhost IDENTIFIED BY '{quoted}'; GRANT ALL ON *.* TO runner@localhost")

    def start_by(self, door, *options):
        return self.start(TREE / "lab" / door, *options, env={**os.environ, "TPCC": TPCC})

    def interrupt_when(self, child, pattern, pause_s=0):
        """SIGTERM when there is a file of that name in output. What it said."""
        deadline = time.monotonic() + 300
        while not list(self.output.glob(pattern)):
            self.assertIsNone(child.poll(), f"it ended before there was {pattern}")
            self.assertLess(time.monotonic(), deadline, f"{pattern} does not come")
            time.sleep(0.05)
        time.sleep(pause_s)
        child.send_signal(signal.SIGTERM)
        return self.finish(child, 130)

    def check_rows(self, pattern, engines):
        rows = self.rows(pattern)
        self.assertEqual([row["engine"] for row in rows], engines)
        for row in rows:
            self.assertGreater(int(row["nopm"]), 0)
            self.assertEqual((row["consistent"], row["generator"], row["warehouses"]), ("yes", "tpcc", "1"))

    def check_that_no_file_has_the_password(self):
        for path in self.output.rglob("*"):
            self.assertFalse(path.is_file() and self.PASSWORD.encode() in path.read_bytes(), path)


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
