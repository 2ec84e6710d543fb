"""Tests of what runs end and remove: a command and all its processes, and folders in /tmp, also those of killed runs."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from installer import shell
from lab.base.watched import tied
from lab.study import scratch, sitting
from lab.tests import cases, terminal_signals

_TREE = Path(__file__).resolve().parents[2]


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ends(pid, within_s=10):
    """Whether a process, of any parent, ends in time."""
    deadline = time.monotonic() + within_s
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not runs(pid)


def a_child(script, **more):
    """Starts a Python program of this tree, and returns when it has printed its first line."""
    child = subprocess.Popen([sys.executable, "-c", script], cwd=_TREE, stdout=subprocess.PIPE, text=True, **more)
    return child, child.stdout.readline().strip()


class Commands(unittest.TestCase):
    def setUp(self):
        terminal_signals.restore()

    def run_and_interrupt(self, number, run, command):
        """Signals a program that runs a command. Returns the pids that the command wrote. run: the call, with {}."""
        with tempfile.TemporaryDirectory() as name:
            said = Path(name) / "said"
            argv = ["sh", "-c", command, "sh", str(said)]
            script = ("from installer import shell\nfrom lab.base import watched\nfrom lab.study import sitting\n"
                      "sitting.interrupt_on_term()\n"
                      f"print('up', flush=True)\nshell.main(lambda: {run.format(argv)})")
            child, _ = a_child(script)
            self.addCleanup(child.stdout.close)
            while not said.exists() or not said.read_text().endswith("\n"):
                time.sleep(0.01)
            child.send_signal(number)
            self.assertEqual(child.wait(30), 130)
            return [int(pid) for pid in said.read_text().split()]

    def test_all_that_was_started_is_ended(self):
        for run in ("shell.run({})", "watched.run({}, '/dev/null')"):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                for pid in self.run_and_interrupt(number, run, '(sleep 60 & echo $! $$ > "$1"; wait) & wait'):
                    self.assertTrue(ends(pid), run)

    def test_one_that_was_started_at_that_moment_is_ended_too(self):
        """The signal comes when the program has started but Popen has not returned yet."""
        script = """
import os, signal, subprocess
from installer import shell
from lab.base import watched
from lab.study import sitting
from lab.tests.test_ended import runs
sitting.interrupt_on_term()
class Interrupted(subprocess.Popen):
    def __init__(self, *argv, **how):
        super().__init__(*argv, **how)
        print(self.pid, flush=True)
        Interrupted.last = self
        os.kill(os.getpid(), signal.{0})
subprocess.Popen = Interrupted
try:
    {1}
except KeyboardInterrupt:
    # Here: what is tied ends with this program in any case.
    os._exit(1 if runs(Interrupted.last.pid) else 130)
"""
        for number in ("SIGINT", "SIGTERM", "SIGHUP"):
            for command in ("shell.run(['sleep', '60'])", "watched.run(['sleep', '60'], '/dev/null')"):
                child, pid = a_child(script.format(number, command))
                self.addCleanup(lambda pid=pid: runs(pid) and os.kill(int(pid), signal.SIGKILL))
                self.addCleanup(child.stdout.close)
                self.assertEqual(child.wait(30), 130, f"{number}: {command}")

    def test_a_program_that_is_not_there_is_an_error_and_signals_are_as_before(self):
        with self.assertRaises(FileNotFoundError):
            shell.run(["/nowhere/program"])
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        self.assertEqual(signal.getsignal(signal.SIGHUP), signal.SIG_DFL)

    def test_one_that_does_not_listen_is_made_to(self):
        child = subprocess.Popen(["sh", "-c", "trap '' TERM; echo; while :; do sleep 1; done"], stdout=subprocess.PIPE)
        child.stdout.readline()
        shell.end(child, patience_s=0.1)
        child.stdout.close()
        self.assertEqual(child.returncode, -signal.SIGKILL)
        shell.end(child)  # Nothing to do.

    def test_a_tied_one_ends_with_a_program_that_is_killed(self):
        child, pid = a_child("from lab.base import watched\nwatched.run(['sh', '-c', 'echo $$; exec sleep 60'], "
                             "'/dev/null', lambda line, _: print(line, flush=True))")
        self.addCleanup(lambda: runs(pid) and os.kill(int(pid), signal.SIGKILL))
        while Path(f"/proc/{pid}/comm").read_text() != "sleep\n":
            time.sleep(0.01)
        child.kill()
        child.wait()
        child.stdout.close()
        self.assertTrue(ends(pid))
        self.assertEqual(tied(["a", 1])[-2:], ["a", "1"])


class Folders(unittest.TestCase):
    def setUp(self):
        self.place = cases.folder(self)
        for what in (mock.patch.object(tempfile, "tempdir", str(self.place)),
                     mock.patch.dict(os.environ, TMPDIR=str(self.place))):
            what.start()
            self.addCleanup(what.stop)

    def test_it_is_gone_afterwards(self):
        with scratch.Scratch() as folder:
            self.assertEqual(folder.parent, self.place)
            (folder / "mysqld.sock").touch()
        self.assertEqual(list(self.place.iterdir()), [])

    def test_that_of_a_killed_owner_is_removed_by_the_next_and_no_other(self):
        (self.place / "lab-of-somebody-else").mkdir()
        child, left = a_child("import time\nfrom lab.study.scratch import Scratch\n"
                              "it = Scratch()\nprint(it.path, flush=True)\ntime.sleep(60)")
        with scratch.Scratch() as first:
            self.assertTrue(Path(left).exists())
            child.kill()
            child.wait()
            child.stdout.close()
            with scratch.Scratch() as second:
                self.assertEqual({path.name for path in self.place.iterdir()},
                                 {first.name, second.name, "lab-of-somebody-else"})


class Signals(unittest.TestCase):
    def test_nohup_is_kept(self):
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        try:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            sitting.interrupt_on_term()
            self.assertEqual(signal.getsignal(signal.SIGHUP), signal.SIG_IGN)
            with self.assertRaises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(5)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
