"""Server environments: a MariaDB of one Debian release, unpacked, with the headers to build for it.

`debian12` is MariaDB 10.11 and `debian13` is MariaDB 11.8. The server of this machine's release
runs here; the other one runs in its own root. The server's packages are unpacked into the cache
and never installed: an installed server keeps its version and its data, and we can take
the newest version whose sources the archive has (a plugin loads only into the exact version for
which it was compiled).
"""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from installer import apt, headers, host, packages, roots
from installer.shell import Failed, Step, run, say


@dataclass(frozen=True)
class Environment:
    """A server, ready to run and to build for."""
    name: str               # "debian12"
    package_version: str    # "1:10.11.18-0+deb12u1"
    version: str            # "10.11.18"
    prefix: Path            # Where its packages are unpacked; prefix/usr is the server's basedir.
    headers: Path           # For TIDESDB_SERVER_HEADERS.
    root: roots.Root | None  # None: this machine.

    def command(self, argv, cwd=None, needs=()):
        """The command line that runs argv in this server's root. needs: directories to show there."""
        return self.root.command(argv, cwd, needs) if self.root else [str(a) for a in argv]

    @property
    def basedir(self):
        return self.prefix / "usr"

    @property
    def mariadbd(self):
        return self.basedir / "sbin" / "mariadbd"

    @property
    def plugin_dir(self):
        return self.basedir / "lib" / "mysql" / "plugin"

    @property
    def mtr_dir(self):
        """The server's own test suite."""
        return mtr_dir(self.basedir)


def mtr_dir(basedir):
    """The directory of a server's own test suite, in Debian's or MariaDB's own layout. Raises Failed."""
    for name in ["share/mariadb/mariadb-test", "share/mysql/mysql-test", "mariadb-test", "mysql-test"]:
        path = basedir / name
        if (path / "mysql-test-run.pl").exists():
            return path
    raise Failed(f"{basedir} has no mysql-test-run.pl")


def providers(options):
    """The Debian packages of the compression providers that a server with these options loads."""
    return [f"mariadb-plugin-provider-{name}" for name in
            dict.fromkeys(re.findall(r"^--plugin_load_add=provider_(\w+)\.so$", "\n".join(options), re.M))]


def find_root(name):
    return None if name == host.host_server() else roots.Root(host.CODENAMES[name])


def prepare(name, log, tests=False, update=False, more=()):
    """Makes the missing parts of the environment, and returns it.

    tests adds the server's test suite and MyRocks; more adds other server packages (compression providers). update
    looks for a newer server version; without it, an existing environment stays as it is and the network is not
    used.
    Raises Unavailable when this machine cannot have it (no root, no network, not Debian).
    """
    with host.cache_lock(name):
        root = find_root(name)
        if root:
            root.make(log)
        apt.install(packages.UNPACK, log)
        base = host.cache_dir() / "servers" / name
        stamp = base / "environment.json"
        facts = json.loads(stamp.read_text()) if stamp.exists() else None
        if facts is None or update:
            facts = _choose_version(name, base, facts, log)
        wanted = packages.SERVER + (packages.SERVER_TEST if tests else []) + list(more)
        _unpack(name, base / facts["version"], facts, wanted, root, log)
        # Other processes read it without the lock.
        new = stamp.with_suffix(".new")
        new.write_text(json.dumps(facts, indent=1) + "\n")
        os.replace(new, stamp)
        return Environment(name, facts["package_version"], facts["version"], base / facts["version"],
                           headers.directory(facts["version"]), root)


def existing(name):
    """The environment as prepare() left it. Raises Failed if there is none."""
    base = host.cache_dir() / "servers" / name
    stamp = base / "environment.json"
    if not stamp.exists():
        raise Failed(f"no {name} server yet; make it with: python3 -m installer servers {name}")
    facts = json.loads(stamp.read_text())
    return Environment(name, facts["package_version"], facts["version"], base / facts["version"],
                       headers.directory(facts["version"]), find_root(name))


def _choose_version(name, base, facts, log):
    """The newest version with both packages and sources, with its headers made.

    facts: of the existing environment, if any; its version never goes back.
    """
    archive = apt.Archive(host.CODENAMES[name], log)
    with Step(f"Reading the package lists of {host.CODENAMES[name]}"):
        archive.update()
    versions = archive.versions("mariadb-server-core")
    problem = None
    for package_version in versions:
        version = re.match(r"(?:\d+:)?([\d.]+)", package_version).group(1)
        if facts and not _is_newer(package_version, facts["package_version"]):
            return facts
        try:
            headers.make(archive, package_version, version, base / "headers.tmp", log)
            return {"package_version": package_version, "version": version, "unpacked": []}
        except Failed as error:
            say(f"  not an error: the archive lacks the sources of MariaDB {version}"
                + ("; trying the version before" if package_version != versions[-1] else ""))
            problem = error
    if facts:
        return facts
    raise Failed(f"no MariaDB version of {name} has both packages and sources "
                 f"(tried {', '.join(versions) or 'none'}): {problem}")


def _is_newer(version, than):
    return subprocess.run(["dpkg", "--compare-versions", version, "gt", than], check=False).returncode == 0


def _unpack(name, prefix, facts, wanted, root, log):
    missing = [package for package in wanted if package not in facts["unpacked"]]
    if not missing:
        return
    archive = apt.Archive(host.CODENAMES[name], log)
    debs_dir = prefix.parent / "debs"
    with Step(f"Unpacking MariaDB {facts['version']} ({', '.join(missing)})"):
        debs = archive.download(missing, facts["package_version"], debs_dir)
        for deb in debs:
            run(["dpkg-deb", "-x", deb, prefix], log=log)
    own = set(packages.SERVER + packages.SERVER_TEST + missing) | packages.SERVER_UNNEEDED
    apt.install(sorted(apt.depends(debs) - own | set(packages.PLUGIN)), log, root.command if root else None)
    shutil.rmtree(debs_dir)
    facts["unpacked"] += missing
