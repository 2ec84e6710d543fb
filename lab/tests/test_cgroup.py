"""Memory cgroups: on this machine if it permits them, and both versions on directories that look like theirs."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from installer.shell import Failed, Unavailable
from lab.server import cgroup

MIB = 1 << 20
_READ = "import sys; f = open(sys.argv[1], 'rb')\nwhile f.read(1 << 20): pass"
_ALLOCATE = "b = bytearray(128 << 20); b[::4096] = b'x' * len(b[::4096])"


class ThisMachine(unittest.TestCase):
    def setUp(self):
        self.group = cgroup.MemoryGroup("test", 48 * MIB)
        try:
            self.group.__enter__()
        except Unavailable as error:
            self.skipTest(str(error))
        self.addCleanup(self.group.remove)

    def run_in_it(self, *argv):
        return subprocess.run(self.group.command(argv), capture_output=True, text=True, check=False)

    def test_the_page_cache_counts_and_is_limited(self):
        # Not in /tmp, which may be memory itself.
        with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
            path = Path(directory) / "file"
            path.write_bytes(os.urandom(MIB) * 96)
            cgroup.forget_files(directory)
            done = self.run_in_it(sys.executable, "-c", _READ, path)
            self.assertEqual(done.returncode, 0, done.stderr)
            usage = self.group.usage()
        self.assertEqual(usage.limit, 48 * MIB)
        self.assertLessEqual(usage.current, usage.limit)
        self.assertGreater(usage.page_cache, 16 * MIB)
        self.assertEqual(usage.oom_kills, 0)
        if usage.peak is not None:
            self.assertGreater(usage.peak, 40 * MIB)
            self.assertLessEqual(usage.peak, usage.limit)

    def test_what_takes_more_than_the_limit_is_killed(self):
        done = self.run_in_it(sys.executable, "-c", _ALLOCATE)
        self.assertNotEqual(done.returncode, 0)
        self.assertGreaterEqual(self.group.usage().oom_kills, 1)

    def test_what_a_process_starts_is_in_it_too(self):
        sleeper = subprocess.Popen(self.group.command(["sh", "-c", "sleep 60 & echo $!; wait"]), text=True,
                                   stdout=subprocess.PIPE)
        child = int(sleeper.stdout.readline())
        self.assertEqual(set(self.group.processes()), {sleeper.pid, child})
        with self.assertRaisesRegex(Failed, f"{child}"):
            self.group.remove(timeout_s=0.2)
        os.kill(child, 9)
        sleeper.wait()
        sleeper.stdout.close()
        path = self.group.path
        self.group.remove()
        self.assertFalse(path.exists())

    def test_the_group_of_a_killed_runner_is_removed(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        old = self.group.path.with_name(f"tidesdb-lab-{ended.pid}-test")
        old.mkdir()
        with cgroup.MemoryGroup("other", MIB):
            self.assertFalse(old.exists())


class Fake(unittest.TestCase):
    """Directories of plain files: reading, choosing and writing work as in a real cgroup, limits do not."""

    def setUp(self):
        self.top = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.top)
        self.patch = mock.patch.object(cgroup, "_rmdir", shutil.rmtree)
        self.patch.start()
        self.addCleanup(self.patch.stop)
        self.proc = self.top / "proc"
        self.proc.mkdir()
        self.mount = self.top / "cgroup"

    def machine(self, own, mounts):
        (self.proc / "cgroup").write_text(own)
        (self.proc / "mountinfo").write_text(mounts)

    def version_2(self, own="/user/session", root="/"):
        (self.mount / "user" / "session").mkdir(parents=True)
        (self.mount / "cgroup.controllers").write_text("cpu memory io\n")
        self.machine(f"0::{own}\n", f"30 25 0:26 {root} {self.mount} rw shared:4 - cgroup2 cgroup2 rw\n")
        return cgroup.find_hierarchy(self.proc)

    def test_version_1_is_found_beside_a_version_2_without_memory(self):
        (self.mount / "memory" / "job").mkdir(parents=True)
        (self.mount / "unified").mkdir()
        (self.mount / "unified" / "cgroup.controllers").write_text("")
        self.machine("4:cpu,memory:/job\n0::/\n",
                     f"30 25 0:26 / {self.mount}/memory rw - cgroup cgroup rw,cpu,memory\n"
                     f"31 25 0:27 / {self.mount}/unified rw - cgroup2 cgroup2 rw\n")
        found = cgroup.find_hierarchy(self.proc)
        self.assertEqual((found.version, found.own), (1, self.mount / "memory" / "job"))

    def test_version_2_is_made_below_the_first_place_that_lets_us(self):
        hierarchy = self.version_2()
        self.assertEqual(list(hierarchy.places()),
                         [self.mount / "user" / "session", self.mount / "user", self.mount])
        # A group with processes cannot limit its children's memory: the kernel refuses it; here a directory does.
        (hierarchy.own / "cgroup.subtree_control").mkdir()
        (self.mount / "user" / "cgroup.subtree_control").write_text("memory pids\n")
        with cgroup.MemoryGroup("x", 64 * MIB, hierarchy) as group:
            self.assertEqual(group.path.parent, self.mount / "user")
            self.assertEqual((group.path / "memory.max").read_text(), str(64 * MIB))
            files = {"memory.current": "40\n", "memory.peak": "50\n", "memory.events": "low 0\nmax 3\noom_kill 1\n",
                     "memory.stat": "anon 10\nfile 30\nkernel 0\n", "cgroup.procs": ""}
            for name, text in files.items():
                (group.path / name).write_text(text)
            self.assertEqual(group.usage(), cgroup.Usage(64 * MIB, 40, 50, 10, 30, 1))
            (group.path / "memory.peak").unlink()
            self.assertIsNone(group.usage().peak)
            path = group.path
        self.assertFalse(path.exists())

    def test_a_container_that_sees_its_own_group_alone(self):
        self.assertEqual(self.version_2(own="/docker/4711", root="/docker/4711").own, self.mount)
        self.assertEqual(self._own("/../other", "/"), self.mount)

    def _own(self, own, root):
        self.machine(f"0::{own}\n", f"30 25 0:26 {root} {self.mount} rw - cgroup2 cgroup2 rw\n")
        return cgroup.find_hierarchy(self.proc).own

    def test_without_the_right_it_is_said_why(self):
        hierarchy = self.version_2()
        for place in hierarchy.places():
            (place / "cgroup.subtree_control").mkdir()
        with self.assertRaisesRegex(Unavailable, "no memory cgroup can be made here: .*session: .*It needs root"):
            cgroup.MemoryGroup("x", MIB, hierarchy).__enter__()

    def test_no_process_may_enter(self):
        hierarchy = self.version_2()
        for place in hierarchy.places():
            (place / "cgroup.subtree_control").write_text("memory")
        with mock.patch.object(cgroup, "_ENTER", "echo no >&2; exit 1"):
            with self.assertRaisesRegex(Unavailable, r"no process may enter \(no\)"):
                cgroup.MemoryGroup("x", MIB, hierarchy).__enter__()
        self.assertEqual(list(self.mount.rglob("tidesdb-lab-*")), [])

    def test_a_machine_without_the_controller(self):
        self.machine("0::/\n", "24 1 0:5 / /proc rw - proc proc rw\n")
        with self.assertRaisesRegex(Unavailable, "no memory controller"):
            cgroup.find_hierarchy(self.proc)
