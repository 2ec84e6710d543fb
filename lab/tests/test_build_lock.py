"""Tests of host.build_lock: every build takes it; a second build in a directory waits, and says so."""

import fcntl
import io
import os
import signal
import tempfile
import threading
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer import build_plugin, host, shell
from installer.source import ninja
from installer.source import build as source_build
from installer.source import options as source_options
from installer.steps import library
from lab.tests.cases import folder
from lab.works import generators


class BuildLock(unittest.TestCase):
    def setUp(self):
        self.directory = folder(self) / "build"

    def test_one_after_the_other_with_a_line(self):
        said, order, waits = io.StringIO(), [], threading.Event()

        class Said(io.StringIO):
            def write(self, text):
                waits.set()
                return said.write(text)

        def second():
            with host.build_lock(self.directory):
                order.append("second")

        with redirect_stdout(Said()):
            other = threading.Thread(target=second)
            with host.build_lock(self.directory):
                self.assertEqual(said.getvalue(), "")
                other.start()
                self.assertTrue(waits.wait(60))
                order.append("first")
            other.join()
        self.assertEqual(order, ["first", "second"])
        self.assertEqual(said.getvalue(), f"  waiting for another build in {self.directory}\n")

    def test_what_outlives_the_build_holds_it_too(self):
        """For example the compilers of a killed build; here a process in the background."""
        with tempfile.NamedTemporaryFile() as pid:
            with host.build_lock(self.directory) as lock:
                shell.run(["sh", "-c", 'sleep 60 <&- >&- 2>&- & echo $! > "$1"', "sh", pid.name], lock=lock)
            try:
                self.assertTrue(self.held())
            finally:
                os.kill(int(pid.read()), signal.SIGKILL)
        with redirect_stdout(io.StringIO()), host.build_lock(self.directory):
            pass

    def held(self):
        """Whether somebody has the lock."""
        with open(self.directory / ".lock") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            except BlockingIOError:
                return True

    def test_every_build_takes_it(self):
        calls = []

        def run(argv, **_):
            calls.append((list(map(str, argv))[:2], self.held()))

        environment = SimpleNamespace(root=None, name="x", version="1", headers="/x",
                                      command=lambda argv, cwd=None, needs=(): argv)
        with mock.patch.object(generators, "run", run), mock.patch.object(build_plugin, "run", run), \
                mock.patch.object(build_plugin, "run", run), mock.patch.object(library, "run", run), \
                mock.patch.object(build_plugin, "check"), \
                mock.patch.object(build_plugin, "build_dir", return_value=self.directory), \
                mock.patch("installer.apt.install"), mock.patch.dict("os.environ"), redirect_stdout(io.StringIO()):
            generators.os.environ.pop("TPCC", None)
            generators.program("tpcc", None, self.directory)
            build_plugin.build(environment, None)
            build_plugin.compile_plugin(environment, self.directory, 1, None)
            library.stage(self.directory, 1, None)
        self.assertEqual(calls, [*[(["cmake", "--preset"], True), (["cmake", "--build"], True)] * 4,
                                 (["cmake", "--install"], True)])
        self.assertFalse(self.held())

    def test_a_servers_build_and_its_compilers_hold_it(self):
        """cmake, ninja and the processes that they start all hold it."""
        tools, calls = self.directory.parent / "tools", self.directory.parent / "calls"
        tools.mkdir()
        for name in ("cmake", "ninja"):
            (tools / name).write_text("#!/bin/sh\nfor one in /proc/$$/fd/*; do readlink \"$one\"; done | "
                                      f"grep -c '/plain/.lock$' >> {calls}\n")
            (tools / name).chmod(0o755)
        paths = source_options.Paths(Path("/opt/m"), self.directory)
        tree = source_build.Tree(paths, "1", "plain", SimpleNamespace(jobs=1), self.directory.parent / "log")
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        with mock.patch.dict(os.environ, environment), \
                mock.patch.object(shell, "clean_environment", lambda _=None: environment), \
                mock.patch.object(ninja, "clean_environment", lambda _=None: environment), \
                mock.patch.object(tree, "_check_engines"), mock.patch.object(tree, "_links"), \
                mock.patch.object(tree, "_headers"), redirect_stdout(io.StringIO()):
            tree.make([])
        self.assertEqual(calls.read_text().split(), ["1", "1", "1"])
