"""A temporary Debian root for one test: an overlay over the cached root, with its own processes."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from installer import host, roots
from installer.shell import TREE, Unavailable, clean_environment, output, run

_ENTER = TREE / "installer" / "enter_root.sh"

# The first process of the root: adopts orphans, and ends with the test.
_INIT = 'touch "$1"; while :; do sleep 1000 & wait $!; done'


class ThrowawayRoot:
    """A context manager. Owns: one temporary directory, one process and all processes started inside."""

    def __init__(self, codename, log):
        self.base = roots.Root(codename)
        self.log = log

    def __enter__(self):
        self.base.make(self.log)
        self.directory = Path(tempfile.mkdtemp(prefix="root-"))
        for name in ["upper", "work", "root"]:
            (self.directory / name).mkdir()
        (self.directory / "upper").chmod(0o755)
        ready = self.directory / "ready"
        shared = ["/tmp", str(TREE)]
        if not host.cache_dir().is_relative_to(TREE):
            shared.append(str(host.cache_dir()))
        overlay = f"lowerdir={self.base.path},upperdir={self.directory}/upper,workdir={self.directory}/work"
        script = 'mount -t overlay overlay -o "$1" "$2" && shift 2 && exec "$@"'
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                # So that everything ends with us, however we end.
                ["setpriv", "--pdeathsig", "KILL",
                 "unshare", "--mount", "--propagation", "slave", "--pid", "--fork", "--kill-child",
                 "sh", "-c", script, "sh", overlay, self.directory / "root",
                 _ENTER, self.directory / "root", *shared, "--", "/", "sh", "-c", _INIT, "sh", ready],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=clean_environment())
        deadline = time.monotonic() + 20
        while not ready.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise Unavailable(f"cannot lay an overlay over {self.base.path}; see {self.log}")
            time.sleep(0.05)
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        self.pid = int(children.split()[0])
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
        deadline = time.monotonic() + 20
        while True:
            try:
                shutil.rmtree(self.directory)
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def _inside(self, argv):
        return ["nsenter", "--target", self.pid, "--mount", "--pid", "--root", f"--wdns={TREE}", *argv]

    def run(self, *argv, env=None):
        """Runs a command inside, in the tree; its output goes to the log. Raises Failed when it fails."""
        run(self._inside(argv), log=self.log, env=env)

    def start(self, *argv, env=None):
        """Starts a command inside; its output goes to the log. Returns the process that ends with it."""
        with open(self.log, "ab") as log:
            return subprocess.Popen([str(a) for a in self._inside(argv)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    env=clean_environment(env))

    def output(self, *argv):
        """Runs a command inside and returns what it prints. Raises Failed when it fails."""
        return output(self._inside(argv))

    def path(self, inside):
        """Where a file of the root is, seen from outside."""
        return Path(f"/proc/{self.pid}/root{inside}")
