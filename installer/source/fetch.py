"""The server's sources: Debian's source package of a version from the machine's own archives, or a tarball."""

import json
import re
import shutil

from installer import apt, headers, host
from installer.shell import Failed, Step, Unavailable, output, run, say
from installer.source import options, places

_STAMP = ".tidesdb-sources.json"


def number(package_version):
    """11.8.6 of 1:11.8.6-0+deb13u1, or None."""
    found = re.match(r"(?:\d+:)?(\d+\.\d+\.\d+)", package_version)
    return found.group(1) if found else None


def choose(versions, wanted):
    """The package versions for 11.8.6, 11.8 or None (any), newest first. Raises Unavailable with the available ones."""
    found = [version for version in versions
             if wanted is None or f"{number(version)}.".startswith(wanted + ".")]
    if found:
        return found
    there = ", ".join(filter(None, map(number, versions))) or "none at all"
    raise Unavailable(f"the archives of this machine have no sources of MariaDB {wanted or ''}; they have {there}. "
                      "For others give MariaDB's own tarball: --mariadb-source mariadb-VERSION.tar.gz")


class Source:
    """One version's sources, before they are unpacked."""

    def __init__(self, version, package_version=None, archive=None, tarball=None):
        self.version, self.package_version, self.archive, self.tarball = version, package_version, archive, tarball

    @property
    def origin(self):
        return f"Debian's {self.package_version}" if self.package_version else str(self.tarball)

    def unpack(self, into, log):
        """Fills the directory `into`; does nothing if it has these sources already. Raises Failed if it has others."""
        stamp = into / _STAMP
        if stamp.exists():
            there = json.loads(stamp.read_text())["version"]
            if there != self.version:
                raise Failed(f"{into} has the sources of MariaDB {there}, not {self.version}; give another --build-dir")
            return
        if into.exists() and any(into.iterdir()):
            raise Failed(f"{into} exists and is not ours; give another --build-dir")
        places.claim(into.parent)
        work = into.with_name(into.name + ".tmp")
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        with Step(f"Unpacking the sources of MariaDB {self.version}"):
            if self.tarball:
                run(["tar", "--extract", "--file", self.tarball, "--directory", work, "--strip-components=1"], log=log)
            else:
                self._unpack_package(work, log)
            (work / _STAMP).write_text(json.dumps({"version": self.version, "origin": self.origin}) + "\n")
            shutil.rmtree(into, ignore_errors=True)
            work.rename(into)

    def _unpack_package(self, work, log):
        download = work.parent / "download"
        shutil.rmtree(download, ignore_errors=True)  # An interrupted one may be of another version.
        self.archive.download_source("mariadb", self.package_version, download)
        work.rmdir()  # dpkg-source makes it.
        # The files are already checked, by the archive's signed lists or by our checksums (installer/pool.py).
        run(["dpkg-source", "--no-check", "--no-copy", "-x", next(download.glob("mariadb_*.dsc")), work], log=log)
        shutil.rmtree(download)


def unpacked(into):
    """The version of the sources in it, or None."""
    stamp = into / _STAMP
    return json.loads(stamp.read_text())["version"] if stamp.exists() else None


def find(args, log):
    """The Source that the options name. Raises Unavailable if there is none, Failed if the tarball is another version."""
    if args.mariadb_source:
        return _of_tarball(args.mariadb_source.resolve(), args.mariadb_version)
    wanted = args.mariadb_version
    if wanted and wanted.count(".") == 2 and unpacked(options.paths(args, wanted).sources) == wanted:
        return Source(wanted)  # Already unpacked: no network needed.
    archive = apt.Archive(host.apt_codename(), log)
    with Step("Reading the package lists"):
        archive.update()
    versions = choose(archive.source_versions("mariadb"), wanted)
    for package_version in versions:
        try:
            archive.download_source("mariadb", package_version, archive.base / "archives", description=True)
            break
        except Failed as error:
            if package_version == versions[-1]:
                raise
            say(f"  the sources of {number(package_version)} are not available: {str(error).splitlines()[0]}\n"
                "  trying the version before")
    return Source(number(package_version), package_version, archive)


def _of_tarball(tarball, wanted):
    if not tarball.is_file():
        raise Failed(f"--mariadb-source: there is no file {tarball}")
    try:
        version = headers.version_in(tarball)
    except Failed as error:
        raise Failed(f"--mariadb-source: {tarball} holds no sources of MariaDB") from error
    if wanted and version != wanted and not version.startswith(wanted + "."):
        raise Failed(f"--mariadb-source: {tarball} holds MariaDB {version}, and --mariadb-version says {wanted}")
    return Source(version, tarball=tarball)
