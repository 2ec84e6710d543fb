"""Debian packages: installs them here, downloads any release's packages and sources.

Mirrors come from this machine's own apt sources. Downloads use apt with separate lists
under the cache directory, so they need no root and change nothing on the machine.
"""

import glob
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from installer import host, pool
from installer.shell import Failed, Step, Unavailable, output, run


# Ubuntu has its MariaDB in universe.
_COMPONENTS = ("main", "universe")

# As apt reads it.
_NO = ("no", "false", "without", "off", "disable", "0")

# Names that differ between sources.list and deb822, and what an operator does to a name.
_OPTIONS = {"arch": "architectures", "lang": "languages", "target": "targets"}
_OPERATORS = {"": "", "+": "-add", "-": "-remove"}


@dataclass(frozen=True)
class Source:
    """A paragraph of apt's sources: its fields by lower-case name, and all lines as they stand there."""
    fields: dict

    def words(self, name):
        return self.fields.get(name, "").split()

    def but(self, **changed):
        return Source({**self.fields, **changed})

    def text(self):
        return "".join(f"{name.title()}: {value}\n" for name, value in self.fields.items())


def _deb822(text):
    for paragraph in re.split(r"\n\s*\n", re.sub(r"(?m)^#.*\n?", "", text)):
        fields, name = {}, None
        for line in paragraph.splitlines():
            if line[:1].isspace() and name:
                fields[name] += f"\n{line}"
            else:
                name, _, value = line.partition(":")
                name = name.strip().lower()
                fields[name] = value.strip()
        source = Source(fields)
        if "deb" in source.words("types") and fields.get("enabled", "yes").lower() not in _NO:
            yield source


def _one_line(text):
    pattern = re.compile(r"^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.*)$")
    for line in text.splitlines():
        found = pattern.match(line.split("#")[0].strip())
        if found:
            options, uri, suite, components = found.groups()
            fields = {"uris": uri, "suites": suite, "components": components.strip()}
            for name, operator, value in re.findall(r"([\w-]+?)([+-]?)=(\S+)", options or ""):
                fields[_OPTIONS.get(name, name) + _OPERATORS[operator]] = value.replace(",", " ")
            yield Source(fields)


def machine_sources():
    """The archives, of any owner, with packages of this machine's release; only its suites."""
    here = host.apt_codename()
    found = []
    for name in ["/etc/apt/sources.list", *sorted(glob.glob("/etc/apt/sources.list.d/*.list"))]:
        if os.path.exists(name):
            found += _one_line(Path(name).read_text())
    for name in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
        found += _deb822(Path(name).read_text())
    ours = []
    for source in found:
        suites = [s for s in source.words("suites") if s == here or s.startswith((f"{here}-", f"{here}/"))]
        components = [c for c in source.words("components") if c in _COMPONENTS]
        if suites and components:
            ours.append(source.but(suites=" ".join(suites), components=" ".join(components)))
    if not any(here in source.words("suites") for source in ours):
        raise Unavailable(f"this machine's apt sources do not name the suite {here}")
    return ours


def sources(codename):
    """The apt sources of a release (packages and sources), from this machine's mirrors."""
    here = host.apt_codename()
    if codename != here and not {codename, here} <= set(host.CODENAMES.values()):
        raise Unavailable(f"no archive of {codename} is known on {here}")
    return [source.but(types="deb deb-src",
                       suites=" ".join(suite.replace(here, codename, 1) for suite in source.words("suites")))
            for source in machine_sources()]


def sources_text(some):
    """A deb822 file of them."""
    return "\n".join(source.text() for source in some)


class Archive:
    """Downloads from one release's archive, on a machine of any release."""

    def __init__(self, codename, log):
        self.codename = codename
        self.base = host.cache_dir() / "apt" / codename
        self.log = log
        self.pool = pool.Pool(codename)
        for part in ["lists/partial", "archives/partial", "sources.d"]:
            (self.base / part).mkdir(parents=True, exist_ok=True)
        self.sources = sources(codename)
        (self.base / "sources.d" / "debian.sources").write_text(sources_text(self.sources))
        self.options = []
        for key, value in {
                "Dir::State::lists": self.base / "lists",
                "Dir::Cache": self.base,
                "Dir::Etc::sourcelist": "/dev/null",
                "Dir::Etc::sourceparts": self.base / "sources.d",
                "Dir::Etc::preferencesparts": "/dev/null",
                "Dir::Etc::preferences": "/dev/null",
                "APT::Sandbox::User": "root" if host.is_root() else "",
                "Acquire::Retries": "3"}.items():
            self.options += ["-o", f"{key}={value}"]

    def update(self):
        """Reads the lists again. Raises Failed only if the distribution's own are unavailable: other archives may
        be broken, and are then left out."""
        try:
            run(["apt-get", *self.options, "update"], log=self.log)
        except Failed as error:
            if not self.mirrors():
                raise
            left_out = "; ".join(re.findall(r"(?m)^E: (.*)", str(error)))
            # On the line of the caller's step.
            print(f"not all, see {self.log} ({left_out}) ... ", end="", flush=True)

    def own_sources(self, *filters):
        """The distribution's own sources, by the origin that the lists give, since any archive may
        have a suite of that name. filters: as for apt-get indextargets."""
        origin = host.os_release()["ID"].capitalize()
        entries = output(["apt-get", *self.options, "indextargets", "--format", "$(SOURCESENTRY)",
                          "Created-By: Packages", f"Origin: {origin}", *filters]).splitlines()
        numbers = {int(entry.rpartition(":")[2]) for entry in entries}  # Paragraph numbers, from 1 on.
        return [source for number, source in enumerate(self.sources, 1) if number in numbers]

    def mirrors(self):
        """Addresses of the distribution's own archive, of the release itself."""
        own = self.own_sources(f"Release: {self.codename}")
        return [uri.rstrip("/") for source in own for uri in source.words("uris")]

    def versions(self, package):
        """The versions of the lists, newest first, then the one known to be in the pool."""
        found = self.listed(package)
        known = self.pool.version
        return found + [known] if known not in found and self.pool.package(package, known) else found

    def source_versions(self, package):
        """As versions(), of a source package."""
        found = self.listed(package, "Sources")
        known = self.pool.version
        return found + [known] if known not in found and self.pool.source(known) else found

    def listed(self, package, kind="Packages"):
        """The versions of the lists, newest first."""
        found = []
        for line in output(["apt-cache", *self.options, "madison", package]).splitlines():
            fields = [field.strip() for field in line.split("|")]
            if len(fields) == 3 and fields[2].endswith(kind) and fields[1] not in found:
                found.append(fields[1])
        return found

    def download(self, packages, version, into):
        into.mkdir(parents=True, exist_ok=True)
        listed = [name for name in packages if version in self.listed(name)]
        if listed:
            run(["apt-get", *self.options, "download", *(f"{name}={version}" for name in listed)], log=self.log, cwd=into)
        for name in set(packages).difference(listed):
            self._from_pool(self.pool.package(name, version), f"{name} {version}", into)
        return [next(into.glob(f"{name}_*.deb")) for name in packages]

    def download_source(self, package, version, into, description=False):
        """Returns the upstream tarball, or with description only the .dsc. Raises Failed if the archive lacks it."""
        into.mkdir(parents=True, exist_ok=True)
        wanted = f"{package}_*.dsc" if description else f"{package}_*.orig.tar.*[xg2z]"
        if version in self.listed(package, "Sources"):
            run(["apt-get", *self.options, "source", "--download-only", "--only-source",
                 *(["--dsc-only"] if description else []), f"{package}={version}"], log=self.log, cwd=into)
        else:
            files = self.pool.source(version)
            self._from_pool({path: digest for path, digest in files.items() if path.endswith(".dsc") or not description},
                            f"sources of {package} {version}", into)
        return next(into.glob(wanted))

    def installable(self, packages, version):
        """Arguments of apt-get install for these packages: their names with the version, or files fetched here."""
        told = []
        for name in packages:
            if self.pool.package(name, version) and version not in self.listed(name):
                told += map(str, self.download([name], version, self.base / "archives" / self.pool.name))
            else:
                told.append(f"{name}={version}")
        return told

    def _from_pool(self, files, what, into):
        if not files:
            raise Failed(f"the archive has no {what}")
        if not self.mirrors():  # Its lists were never read here, or have been removed.
            self.update()
        mirrors = self.mirrors()
        if not mirrors:
            raise Failed(f"{what} is in the pool of the distribution's archive, whose lists were not read; "
                         f"see {self.log}")
        for path, digest in files.items():
            run(["/usr/lib/apt/apt-helper", *self.options, "download-file", f"{mirrors[0]}/{path}",
                 into / path.rpartition("/")[2], f"SHA256:{digest}"], log=self.log)


def depends(debs):
    """The names of the packages that these files depend on (the first of alternatives)."""
    names = set()
    for deb in debs:
        for clause in output(["dpkg-deb", "-f", deb, "Depends"]).split(","):
            name = re.split(r"[\s:(|]", clause.strip(), maxsplit=1)[0]
            if name:
                names.add(name)
    return names


def missing(packages, wrap=lambda argv: argv):
    """The packages that are not installed (wrap asks in another root)."""
    argv = wrap(["sh", "-c", "dpkg-query -W -f '${db:Status-Abbrev} ${Package}\\n${db:Status-Abbrev} "
                             "${Provides}\\n' || true"])
    there = set()
    for line in output(argv).splitlines():
        if line.startswith("ii"):
            there.update(re.findall(r"(?:^|[\s,])([a-z0-9][a-z0-9.+-]+)", line[3:]))
    return [name for name in packages if name not in there]


def server_changes(simulated):
    """From the output of apt-get --simulate: ("mariadb-server-core", its version, the new one or "none") for each installed
    server package that would change."""
    found = re.findall(r"(?m)^Inst (mariadb-server\S*) \[(\S+)\] \((\S+)", simulated)
    gone = re.findall(r"(?m)^(?:Remv|Purg) (mariadb-server\S*) \[(\S+)\]", simulated)
    return [change for change in found if change[1] != change[2]] + [(*package, "none") for package in gone]


def _removed(simulated, wrap):
    """The packages that would be removed, except those that another package provides: libtcmalloc-minimal4t64
    replaces and provides libtcmalloc-minimal4."""
    coming = set(re.findall(r"(?m)^Inst (\S+)", simulated))
    names = []
    for name in re.findall(r"(?m)^(?:Remv|Purg) (\S+)", simulated):
        known = output(wrap(["apt-cache", "showpkg", name]))
        if coming.isdisjoint(re.findall(r"(?m)^(\S+) ", known.rpartition("Reverse Provides:")[2])):
            names.append(name)
    return names


def _get(argv, wanted, wrap, log):
    """Runs argv, apt-get's installation of wanted. Raises Failed if it would change an installed server or
    remove anything."""
    simulated = output([*argv, "--simulate"])
    if changes := server_changes(simulated):
        name, version, new = changes[0]
        raise Failed(f"apt-get would change {name} from {version} to {new}, and the installer never does that. Upgrade "
                     f"the server yourself, or install these packages yourself: {' '.join(wanted)}")
    if removed := _removed(simulated, wrap):
        raise Failed(f"apt-get would remove {' '.join(removed)}, which conflicts with the needed packages, and "
                     "the installer never removes packages. If you can do without it: apt-get install "
                     f"--no-install-recommends {' '.join(wanted)}")
    run(argv, log=log)


def install(packages, log, wrap=None):
    """Installs the missing packages, here or (wrap) in another root; an installed server keeps its version. Needs
    root."""
    in_a_root = wrap is not None
    wrap = wrap or (lambda argv: argv)
    wanted = missing(packages, wrap)
    if not wanted:
        return
    why = "not root" if not host.is_root() else "" if in_a_root or shutil.which("apt-get") else "no apt-get here"
    if why:
        raise Unavailable(f"{why}, and these packages are missing: {' '.join(wanted)}")
    # apt upgrades all installed packages of a package's source: libmariadb-dev would bring a newer server. Packages that
    # nothing needs any more stay, even if apt is configured to remove them.
    argv = wrap(["apt-get", "install", "-y", "--no-install-recommends", "-o", "Acquire::Retries=3",
                 "-o", "DPkg::Lock::Timeout=600", "-o", "APT::Get::Upgrade-By-Source-Package=false",
                 "-o", "APT::Get::AutomaticRemove=false", *wanted])
    names = [name.rpartition("/")[2] for name in wanted]
    with Step(f"Installing {len(wanted)} packages ({', '.join(names[:4])}{', ...' if names[4:] else ''})"):
        try:
            _get(argv, wanted, wrap, log)
        except Failed:
            run(wrap(["apt-get", "update"]), log=log)
            _get(argv, wanted, wrap, log)
