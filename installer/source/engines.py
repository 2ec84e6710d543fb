"""The storage engines in a server's sources, and which of them can be left out."""

import re
from dataclasses import dataclass

from installer.shell import Failed

# Engines that Debian has in packages of their own, that Debian lacks, and that are only for the server's own tests.
SKIPPED = ("columnstore", "connect", "example", "mroonga", "oqgraph", "rocksdb", "sphinx", "spider", "test_sql_discovery")

# Not mandatory for CMake, but everybody expects them in a server.
_NEEDED = ("innobase", "perfschema")

# Debian packages that an engine needs besides those of the server.
PACKAGES = {"columnstore": ["libboost-all-dev"], "connect": ["libxml2-dev", "unixodbc-dev", "uuid-dev"],
            "oqgraph": ["libboost-dev", "libjudy-dev"]}


@dataclass(frozen=True)
class Engine:
    name: str     # As --skip-engines takes it: its folder.
    plugin: str   # As CMake's PLUGIN_ variable names it.
    needed: bool  # Cannot be left out.


def find(sources):
    """The engines of an unpacked source tree, by name."""
    found = {}
    for file in sorted((sources / "storage").glob("*/CMakeLists.txt")):
        found[file.parent.name] = _engine(file.parent.name, file.read_text(errors="replace"))
    if not found:
        raise Failed(f"{sources} has no storage engines: is this MariaDB's source?")
    return found


def _engine(name, text):
    text = re.sub(r"#.*", "", text)
    call = re.search(r"(?i)\bmysql_add_plugin\s*\(\s*(\w+)([^)]*)\)", text)
    if not call:  # ColumnStore: its plugin is declared deeper, by the folder's name.
        return Engine(name, name.upper(), False)
    return Engine(name, call.group(1).upper(), "MANDATORY" in call.group(2).split() or name in _NEEDED)


def skipped(found, asked):
    """The engines to leave out. asked: names, or None for the usual ones. Raises Failed for an unknown name."""
    names = [name for name in SKIPPED if name in found] if asked is None else asked
    unknown = [name for name in names if name not in found]
    needed = [name for name in names if name in found and found[name].needed]
    if unknown or needed:
        free = ", ".join(name for name in found if not found[name].needed)
        what = (f"the sources have no storage engine {', '.join(unknown)}" if unknown
                else f"the server needs {', '.join(needed)}")
        raise Failed(f"--skip-engines: {what}; choose from {free}")
    return [found[name] for name in sorted(set(names))]


def packages(found, left_out):
    """Debian packages that the built engines need."""
    names = {engine.name for engine in left_out}
    return sorted({package for name in found if name not in names for package in PACKAGES.get(name, [])})


def absent(sources, left_out, rules):
    """Names of the requested engines of SKIPPED that CMake has left out because it lacks something for them.
    rules: its build.ninja."""
    compiled = set(re.findall(r"(?m)^build storage/([^/\s]+)/\S+\.o:", rules))
    names = {engine.name for engine in left_out}
    return [name for name in SKIPPED
            if name not in names and name not in compiled and (sources / "storage" / name / "CMakeLists.txt").exists()]


def table(found, version):
    """What --list-engines prints."""
    lines = [f"Storage engines in the sources of MariaDB {version}:"]
    for engine in found.values():
        note = "always built" if engine.needed else "left out unless --skip-engines says otherwise" if (
            engine.name in SKIPPED) else "built"
        lines.append(f"  {engine.name:20}{note}")
    return "\n".join(lines)
