"""A memory cgroup, v1 or v2: one limit for a server and its children, including the page cache.

The kernel charges a page of the page cache to the group whose process read it. Pages already in memory when a server
starts are charged to others, so forget_files() drops them first.
"""

import errno
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from installer.shell import Failed, Unavailable

_PREFIX = "tidesdb-lab-"
# Enters the group named by $0, then becomes the command, so that all its pages are charged to the group.
_ENTER = 'echo $$ > "$0/cgroup.procs" && exec "$@"'


@dataclass(frozen=True)
class Usage:
    """In bytes, except the last."""

    limit: int
    current: int
    peak: int | None  # None: this kernel does not keep it (v2 before 5.19).
    anonymous: int
    page_cache: int
    oom_kills: int


@dataclass(frozen=True)
class Hierarchy:
    """This machine's memory controller."""

    version: int
    mount: Path
    own: Path  # This process's group.

    def places(self):
        """Places for a new group, best first: a child also counts for its parents' limits."""
        place = self.own
        while True:
            yield place
            if place == self.mount:
                return
            place = place.parent


def find_hierarchy(proc=Path("/proc/self")):
    """Raises Unavailable if no memory controller is mounted."""
    paths = {}  # By controller; "" for v2.
    for line in (proc / "cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update({controller: path for controller in controllers.split(",")})
    mounts = {}  # By version: mount point, and the group that is its root.
    for line in (proc / "mountinfo").read_text().splitlines():
        mounted, _, kind = line.partition(" - ")
        kind = kind.split()
        root, point = mounted.split()[3:5]
        if kind[0] == "cgroup" and "memory" in kind[2].split(","):
            mounts[1] = (Path(point), root)
        elif kind[0] == "cgroup2":
            mounts[2] = (Path(point), root)
    if 1 in mounts and "memory" in paths:
        return Hierarchy(1, mounts[1][0], _below(*mounts[1], paths["memory"]))
    if 2 in mounts and "" in paths and "memory" in _read(mounts[2][0] / "cgroup.controllers").split():
        return Hierarchy(2, mounts[2][0], _below(*mounts[2], paths[""]))
    raise Unavailable("no memory controller of cgroups is mounted (/sys/fs/cgroup)")


def _below(mount, root, path):
    """The directory of a group. A container may see only its own group, which is then the root."""
    try:
        own = mount / Path(path).relative_to(root)
    except ValueError:
        return mount
    return own if own.is_dir() else mount


def _read(path):
    return path.read_text() if path.exists() else ""


def _numbers(path):
    """The lines `name number` of a file."""
    pairs = (line.split() for line in _read(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


class MemoryGroup:
    """A context. Owns: one cgroup; its processes must have ended when the context ends."""

    def __init__(self, name, limit_bytes, hierarchy=None):
        self.hierarchy = hierarchy or find_hierarchy()
        self.name = f"{_PREFIX}{os.getpid()}-{name}"
        self.limit = limit_bytes
        self.path = None

    def __enter__(self):
        """Raises Unavailable without the right to make one."""
        tried = []
        for place in self.hierarchy.places():
            try:
                self._make(place)
                return self
            except OSError as error:
                tried.append(f"{place}: {error.strerror}")
                self._remove_quietly()
        raise Unavailable(
            "no memory cgroup can be made here: " + "; ".join(tried) + ". It needs root (in a container also a writable "
            "/sys/fs/cgroup); or leave out the memory limit, and the page cache is not limited")

    def __exit__(self, *_):
        self.remove()

    def _make(self, place):
        self._remove_old(place)
        if self.hierarchy.version == 2 and "memory" not in _read(place / "cgroup.subtree_control").split():
            (place / "cgroup.subtree_control").write_text("+memory")
        (place / self.name).mkdir()
        self.path = place / self.name
        if self.hierarchy.version == 1:
            self._write("memory.limit_in_bytes", self.limit)
            self._write_if_there("memory.memsw.limit_in_bytes", self.limit)
        else:
            self._write("memory.max", self.limit)
            self._write_if_there("memory.swap.max", 0)
        # Entering a group needs another right than making it.
        entered = subprocess.run(self.command(["true"]), capture_output=True, text=True)
        if entered.returncode != 0:
            raise OSError(errno.EPERM, f"no process may enter ({entered.stderr.strip()})")

    def _write(self, name, value):
        (self.path / name).write_text(str(value))

    def _write_if_there(self, name, value):
        """Not every kernel has swap accounting."""
        if (self.path / name).exists():
            self._write(name, value)

    def command(self, argv):
        """The command line that runs argv and its children in the group."""
        return ["/bin/sh", "-c", _ENTER, str(self.path), *map(str, argv)]

    def processes(self):
        return [int(pid) for pid in _read(self.path / "cgroup.procs").split()]

    def usage(self):
        stat = _numbers(self.path / "memory.stat")
        if self.hierarchy.version == 1:
            return Usage(self._number("memory.limit_in_bytes"), self._number("memory.usage_in_bytes"),
                         self._number("memory.max_usage_in_bytes"), stat["total_rss"], stat["total_cache"],
                         _numbers(self.path / "memory.oom_control").get("oom_kill", 0))
        return Usage(self._number("memory.max"), self._number("memory.current"), self._number("memory.peak"),
                     stat["anon"], stat["file"], _numbers(self.path / "memory.events").get("oom_kill", 0))

    def _number(self, name):
        text = _read(self.path / name).strip()
        return int(text) if text else None

    def remove(self, timeout_s=10):
        """Raises Failed if processes in it do not end; their owner must end them."""
        if self.path is None:
            return
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                _rmdir(self.path)
                self.path = None
                return
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    left = ", ".join(map(str, self.processes()))
                    raise Failed(f"the cgroup {self.path} cannot be removed: {error.strerror}"
                                 + (f"; these processes are in it: {left}" if left else "")) from error
            time.sleep(0.05)

    def _remove_quietly(self):
        """Removes an incomplete group; the next run removes what remains."""
        try:
            if self.path is not None:
                _rmdir(self.path)
        except OSError:
            pass
        self.path = None

    @staticmethod
    def _remove_old(place):
        """Removes groups of killed runners."""
        for path in place.glob(_PREFIX + "*"):
            owner = path.name[len(_PREFIX):].partition("-")[0]
            if owner.isdigit() and not Path("/proc", owner).exists():
                try:
                    _rmdir(path)
                except OSError:
                    pass  # It has running processes, which are not ours.


def _rmdir(path):
    path.rmdir()


def forget_files(directory):
    """Writes out the files below a directory and drops them from the page cache, so that the next reader pays for them."""
    for path in Path(directory).rglob("*"):
        if path.is_file() and not path.is_symlink():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
