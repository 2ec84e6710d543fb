"""A root directory with the other Debian release, and how to run a command in it.

Every command gets a mount namespace of its own (unshare), so no mount outlives it, and removing
the root can never reach into /dev or the tree. The tree, the cache, /tmp and the other directories that
a command needs have the same path inside and outside: a path, a socket and a pid mean the same on both sides.
"""

import os
import shutil
from pathlib import Path

from installer import apt, host, packages
from installer.shell import TREE, Failed, Step, Unavailable, run

_ENTER = TREE / "installer" / "enter_root.sh"


class Root:
    """The root of one release. Owns: <cache>/roots/<codename>."""

    def __init__(self, codename):
        self.codename = codename
        self.path = host.cache_dir() / "roots" / codename
        self.ready = self.path / ".ready"

    def command(self, argv, cwd=None, needs=()):
        """The command line that runs argv inside; REQUIRES root. needs: directories to show there too."""
        shared = []
        for directory in map(Path, ["/tmp", TREE, host.cache_dir(), *needs]):
            if not any(directory.is_relative_to(other) for other in shared):
                shared.append(directory)
        return ["unshare", "--mount", "--propagation", "slave", str(_ENTER), str(self.path),
                *map(str, shared), "--", str(cwd or TREE), *map(str, argv)]

    def make(self, log):
        """Makes the root if it is missing; takes about half a minute."""
        if self.ready.exists():
            return
        if not host.is_root():
            raise Unavailable(f"only root can make and enter a Debian {self.codename} root")
        apt.install(packages.ROOT, log)
        archive = apt.Archive(self.codename, log)
        with Step(f"Reading the package lists of {self.codename}"):
            archive.update()
        mirrors = archive.mirrors()
        if not mirrors:
            raise Unavailable(f"this machine's apt sources lack the lists of Debian's {self.codename}; see {log}")
        shutil.rmtree(self.path, ignore_errors=True)
        debs = host.cache_dir() / "apt" / self.codename / "debootstrap"
        debs.mkdir(parents=True, exist_ok=True)
        with Step(f"Making a Debian {self.codename} root"):
            run(["debootstrap", "--variant=minbase", "--include=ca-certificates",
                 f"--cache-dir={debs}", self.codename, self.path, mirrors[0]], log=log)
            # Only these certainly have the other release, and keys on this machine.
            self._configure(apt.sources_text(archive.own_sources()))
            try:
                run(self.command(["apt-get", "update"]), log=log)
            except Failed as error:
                raise Unavailable(f"cannot enter the {self.codename} root: {error}") from error
        self.ready.touch()

    def _configure(self, sources):
        etc = self.path / "etc"
        (etc / "apt" / "sources.list").unlink(missing_ok=True)
        (etc / "apt" / "sources.list.d" / "debian.sources").write_text(sources)
        for file in Path("/etc/apt/apt.conf.d").iterdir():  # Proxies and the like.
            if "Acquire::" in file.read_text(errors="replace"):
                shutil.copy(file, etc / "apt" / "apt.conf.d" / file.name)
        for name in ["resolv.conf", "hosts"]:
            if os.path.exists(f"/etc/{name}"):
                shutil.copy(f"/etc/{name}", etc / name)
        policy = self.path / "usr" / "sbin" / "policy-rc.d"  # Keeps packages from starting services.
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
