"""The headers that compile a storage engine for one exact server version, collected from its sources and packages."""

import re
import shutil

from installer import host, packages
from installer.shell import Failed, Step, output, run


def directory(version):
    """The place of the headers of that version, for TIDESDB_SERVER_HEADERS."""
    return host.cache_dir() / "server-headers" / version


def make(archive, package_version, version, work, log, tarball=None):
    """Fills directory(version). work: a directory to use and remove. tarball: the sources, if not the archive's.

    Raises Failed if the archive has no sources or no packages of that version.
    """
    final = directory(version)
    if final.exists():
        return
    shutil.rmtree(work, ignore_errors=True)
    made = work / "headers"
    made.mkdir(parents=True)
    with Step(f"Collecting the headers of MariaDB {version}"):
        if tarball is None:
            tarball = archive.download_source("mariadb", package_version, work / "source")
        else:
            check_version(tarball, version)
        run(["tar", "--extract", "--file", tarball, "--directory", made, "--strip-components=1",
             "--wildcards", "mariadb-*/include", "mariadb-*/sql/*.h", "mariadb-*/wsrep-lib"], log=log)
        for path in made.iterdir():  # The wildcards match too deep.
            if path.name not in ("include", "sql", "wsrep-lib"):
                shutil.rmtree(path)
        dev = archive.download(packages.SERVER_DEV, package_version, work / "debs")
        for deb in dev:
            run(["dpkg-deb", "-x", deb, work / "dev"], log=log)
        generated = made / "generated"
        generated.mkdir()
        for header in ["my_config.h", "mysql_version.h", "mysqld_error.h"]:
            shutil.copy(work / "dev" / "usr" / "include" / "mariadb" / "server" / header, generated)
        shutil.copy(made / "include" / "probes_mysql_nodtrace.h.in",
                    generated / "probes_mysql_nodtrace.h")
        (made / "lib").mkdir()
        shutil.copy(next((work / "dev" / "usr" / "lib").rglob("libmysqlservices.a")), made / "lib")
        final.parent.mkdir(parents=True, exist_ok=True)
        made.rename(final)
        shutil.rmtree(work)


def version_in(tarball):
    """The version of the sources in a tarball; empty if it holds none."""
    text = output(["tar", "--extract", "--to-stdout", "--occurrence=1", "--file", tarball,
                   "--wildcards", "--no-wildcards-match-slash", "mariadb-*/VERSION"])  # ColumnStore has one too.
    return ".".join(re.findall(r"^MYSQL_VERSION_(?:MAJOR|MINOR|PATCH)=(\d+)", text, re.M))


def check_version(tarball, version):
    """Raises Failed unless the tarball holds the sources of that version."""
    found = version_in(tarball)
    if found != version:
        raise Failed(f"{tarball} holds {f'MariaDB {found}' if found else 'no sources of MariaDB'}, the server is {version}")
