"""The distribution's MariaDB: its installed version, whether the plugin can be built for it, and its installation."""

import re
from functools import partial
from pathlib import Path

from installer import apt, headers, host, packages, servers
from installer.shell import Failed, Step, Unavailable, output, say
from installer.steps import dependencies

# The versions that plugin/base/server_port.h knows: from the first on, before the second.
SUPPORTED = (10, 11), (11, 9)

# The server, with the client that checks it; all of one version.
_SERVER = ["mariadb-server", "mariadb-server-core", "mariadb-client", "mariadb-client-core"]


def version_number(package_version):
    """10.11.18 of 1:10.11.18-0+deb12u1."""
    found = re.match(r"(?:\d+:)?(\d+\.\d+\.\d+)", package_version)
    if not found:
        raise Failed(f"{package_version} is not a version of MariaDB")
    return found.group(1)


def check_supported(version):
    """Raises Unavailable if the plugin does not support servers of that version."""
    series = tuple(int(part) for part in version.split(".")[:2])
    if not SUPPORTED[0] <= series < SUPPORTED[1]:
        raise Unavailable(f"the plugin is for MariaDB 10.11 to 11.8; this server is {version}")


def installed_version():
    """The installed server's version, or None. Its program is in mariadb-server-core, which apt upgrades alone."""
    text = output(["sh", "-c", "dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\\n' "
                               "mariadb-server mariadb-server-core 2>/dev/null || true"])
    there = dict(line.split()[1:] for line in text.splitlines() if line.startswith("installed "))
    return there.get("mariadb-server-core") if "mariadb-server" in there else None


def check_no_other_server():
    """Raises Unavailable if MySQL or the like is installed: MariaDB would replace it and take its data."""
    for line in output(["dpkg-query", "-W", "-f", "${db:Status-Status}|${Package}|${Provides}\\n"]).splitlines():
        status, name, provides = line.split("|")
        if status == "installed" and "virtual-mysql-server" in re.split(r"[\s,]+", provides):
            raise Unavailable(f"{name} is installed, and the distribution's MariaDB would replace it. Install a server "
                              "from source beside it: ./install.sh --mariadb-version VERSION. Or replace it by "
                              "mariadb-server yourself, and run this again.")


def environment(record, log, args):
    """The installed server as a target to build for; installs one if there is none."""
    package_version = installed_version()
    if not package_version:
        check_no_other_server()
    known = package_version and headers.directory(version_number(package_version)).exists()
    if not known:
        package_version = _make_known(record, package_version, log, args)
    version = version_number(package_version)
    check_supported(version)
    return servers.Environment("installed", package_version, version, Path("/"), headers.directory(version), None)


def _make_known(record, package_version, log, args):
    """Gets the headers of the installed version. If none is installed, installs the newest possible version."""
    archive = apt.Archive(host.apt_codename(), log)

    def make_headers(wanted):
        """Raises Failed if the archive lacks packages or sources."""
        version = version_number(wanted)
        check_supported(version)
        if not headers.directory(version).exists():
            dependencies.require(record, packages.UNPACK, log, args.skip_deps)
            headers.make(archive, wanted, version, host.cache_dir() / "headers.tmp", log, tarball=args.mariadb_source)

    with Step("Reading the package lists"):
        archive.update()
    if package_version:
        try:
            make_headers(package_version)
        except Unavailable:
            raise
        except Failed as error:
            raise Unavailable(_no_sources(archive, package_version, error)) from error
        return package_version
    candidates = archive.versions("mariadb-server")
    problem = None
    for candidate in candidates:
        try:
            make_headers(candidate)
        except Unavailable:
            raise
        except Failed as error:
            say(f"  not an error: the archive lacks the sources of MariaDB {version_number(candidate)}"
                + ("; trying the version before" if candidate != candidates[-1] else ""))
            problem = error
            continue
        dependencies.require(record, _SERVER, log, args.skip_deps, told=partial(archive.installable, version=candidate))
        if candidate != candidates[0]:
            record.facts["newer"] = version_number(candidates[0])
        return candidate
    raise Failed(f"no MariaDB of this release has both packages and sources (tried {', '.join(candidates) or 'none'}): "
                 f"{problem}")


def _no_sources(archive, package_version, error):
    others = [v for v in archive.listed("mariadb-server") if v != package_version]
    return (f"the sources of the installed server, {package_version}, are not available here: {error}\n"
            f"Give them with --mariadb-source mariadb-{version_number(package_version)}.tar.gz (MariaDB's own tarball), or "
            f"install another version of the server first (the archive has {', '.join(others) or 'no other'}).")
