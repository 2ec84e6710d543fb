"""For each release one complete server version: packages and sources, by path and SHA-256.

An archive's lists name only the newest patch, and its sources may come later than its packages. The patch before
stays in the pool for months, but no list vouches for it. installer/pool_files/CODENAME.sha256 does: it was
written from the archive's signed lists while they had it (python3 -m installer pool).
"""

import re
from pathlib import Path

from installer.shell import Failed, output

_FILES = Path(__file__).resolve().parent / "pool_files"
_SOURCE = "mariadb"


class Pool:
    """The known files of one release's pool; none for most releases. Paths are relative to the archive's address."""

    def __init__(self, codename, directory=_FILES, architecture=None):
        self.version = None  # "1:11.8.6-0+deb13u1"
        self._sums = {}
        self._architecture = architecture
        path = directory / f"{codename}.sha256"
        if not path.exists():
            return
        for line in path.read_text().splitlines():
            if version := re.fullmatch(rf"# {_SOURCE} (\S+)", line):
                self.version = version.group(1)
            elif entry := re.fullmatch(r"([0-9a-f]{64})  (\S+)", line):
                self._sums[entry.group(2)] = entry.group(1)
            elif not line.startswith("#"):
                raise Failed(f"{path}: not a checksum line: {line}")

    @property
    def name(self):
        """Of its version, for a directory."""
        return (self.version or "none").replace(":", "_")

    def package(self, name, version):
        """{path: SHA-256} of a binary package; empty if unknown."""
        if version != self.version:
            return {}
        if self._architecture is None:
            self._architecture = output(["dpkg", "--print-architecture"]).strip()
        return self._matching(rf"{re.escape(name)}_[^_]+_(all|{self._architecture})\.deb")

    def source(self, version):
        """{path: SHA-256} of the files of the server's source package; empty if unknown."""
        return self._matching(rf"{_SOURCE}_[^_]+\.(dsc|tar\.\w+)") if version == self.version else {}

    def _matching(self, pattern):
        return {path: digest for path, digest in self._sums.items() if re.fullmatch(pattern, path.rpartition("/")[2])}


def write(archive, codename, version):
    """Writes the archive's entries for that version of the server. Returns the file's path."""
    source = _paragraph(archive, ["showsrc", "--only-source", _SOURCE], version)
    directory = source["Directory"]
    sums = {}
    for line in source["Checksums-Sha256"].splitlines():
        if line.strip() and not line.endswith(".asc"):
            digest, _, name = line.split()
            sums[f"{directory}/{name}"] = digest
    for name in source["Binary"].replace(",", " ").split():
        try:
            package = _paragraph(archive, ["show", f"{name}={version}"], version)
        except Failed:
            continue  # Of another architecture.
        sums[package["Filename"]] = package["SHA256"]
    if other := [name for name in sums if not name.startswith("pool/main/")]:
        raise Failed(f"{version} is not in the main archive, the only one whose pool we use: {other[0]}")
    path = _FILES / f"{codename}.sha256"
    lines = [f"{digest}  {name}\n" for name, digest in sorted(sums.items())]
    path.write_text(f"# From the archive's signed lists: installer/pool.py.\n# {_SOURCE} {version}\n{''.join(lines)}")
    return path


def _paragraph(archive, words, version):
    """The fields of apt-cache for that version."""
    for text in output(["apt-cache", *archive.options, *words]).split("\n\n"):
        fields = dict(re.findall(r"(?m)^([\w-]+):[ ]*((?:.*)(?:\n .*)*)", text))
        if fields.get("Version") == version:
            return fields
    raise Failed(f"the archive's lists have no {words[-1]} of version {version}")
