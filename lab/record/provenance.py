"""Where figures come from: commit, versions, kernel, CPU, memory, disk, and the SHA-256 of raw files.

    facts = provenance.collect(data_directory, binaries={"mariadbd": path, "ha_tidesdb.so": path})
    provenance.markdown(facts)                    # lines for a report
    provenance.write_checksums(directory)         # SHA256SUMS, as `sha256sum -c` reads it
"""

import hashlib
import os
import platform
import re
import subprocess
import time
from pathlib import Path

from installer.shell import TREE

CHECKSUMS = "SHA256SUMS"
# Files found only in a datadir. After a failure it stays: many gigabytes that are not results.
_OF_A_DATADIR = "ibdata1"
_UNFINISHED = "data.unfinished"  # A datadir that was not finished.


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sums(binaries, told=()):
    """By name, the SHA-256 of programs and libraries (without None); must be the same when a run is resumed.

    told: by engine or build, the options of its server. They have checksums too, since a profile may change during a run.
    """
    options = {f"what the server of {name} is told": hashlib.sha256("\n".join(words).encode()).hexdigest()
               for name, words in dict(told).items()}
    return {name: sha256(path) for name, path in binaries.items() if path} | options


def files(directory):
    """The files below directory, sorted, without links and servers' data at any place."""
    found = []
    for folder, below, names in os.walk(directory):
        if _OF_A_DATADIR in names or Path(folder).name == _UNFINISHED:
            below.clear()
            continue
        found += [path for path in (Path(folder) / name for name in names) if path.is_file() and not path.is_symlink()]
    return sorted(found)


def checksums(directory, leave_out=()):
    """By path below directory, sorted: the SHA-256 of each file. leave_out: more names of files to skip."""
    directory = Path(directory)
    return {str(path.relative_to(directory)): sha256(path) for path in files(directory)
            if path.name not in (CHECKSUMS, *leave_out)}


def write_checksums(directory, leave_out=(), beside=()):
    """Writes SHA256SUMS into directory; returns its path. beside: related files elsewhere."""
    path = Path(directory) / CHECKSUMS
    sums = checksums(directory, leave_out) | {os.path.relpath(one, directory): sha256(one) for one in beside}
    path.write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    return path


def _said(*argv):
    """A command's output, stripped; "" if it cannot run."""
    try:
        done = subprocess.run([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, errors="replace", check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _read(path, default=""):
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return default


def commit():
    """This tree's commit, with "-dirty" if it has changes; "unknown" without git."""
    return _said("git", "-C", TREE, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*") or "unknown"


def cpu(text=None):
    """Model, and the number of its threads that this process may use."""
    text = _read("/proc/cpuinfo") if text is None else text
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.M)
    return f"{found.group(1) if found else platform.machine()}, {len(os.sched_getaffinity(0))} CPUs usable"


def memory_mb():
    found = re.search(r"^MemTotal:\s+(\d+) kB", _read("/proc/meminfo"), re.M)
    return int(found.group(1)) // 1024 if found else None


def distribution():
    found = re.search(r'^PRETTY_NAME="?([^"\n]+)', _read("/etc/os-release"), re.M)
    return found.group(1) if found else "unknown"


def _unescape(field):
    return re.sub(r"\\([0-7]{3})", lambda m: chr(int(m.group(1), 8)), field)


def mount_of(path, text=None):
    """The mount that holds path: device, file system, options, where. text: of /proc/self/mountinfo."""
    path = str(Path(path).resolve())
    best = None
    for line in (_read("/proc/self/mountinfo") if text is None else text).splitlines():
        head, _, tail = line.partition(" - ")
        fields, (kind, device, *_) = head.split(), tail.split()
        where = _unescape(fields[4])
        if path == where or path.startswith(where.rstrip("/") + "/"):
            if best is None or len(where) >= len(best["where"]):
                best = {"where": where, "device": _unescape(device), "file_system": kind, "options": fields[5],
                        "number": fields[2]}
    return best or {"where": "/", "device": "unknown", "file_system": "unknown", "options": "", "number": ""}


def disk(path):
    """The storage below path: file system, device, its model and whether it rotates, if the kernel tells."""
    mount = mount_of(path)
    number = mount.pop("number")
    del mount["where"]  # A path of this machine.
    block = Path(f"/sys/dev/block/{number}")
    if block.exists():
        block = block.resolve()
        block = block.parent if (block / "partition").exists() else block
        mount["model"] = _read(block / "device" / "model") or block.name
        mount["rotates"] = _read(block / "queue" / "rotational") == "1"
        mount["scheduler"] = _read(block / "queue" / "scheduler")
    return mount


def allocator(pid):
    """The malloc of a running process: jemalloc, mimalloc, tcmalloc or glibc, by /proc/PID/maps."""
    maps = _read(f"/proc/{pid}/maps")
    return next((name for name in ("jemalloc", "mimalloc", "tcmalloc") if f"lib{name}" in maps), "glibc")


def binary(path):
    """A program or library: size, SHA-256, and its own version (programs only); no path of this machine."""
    path = Path(path)
    facts = {"bytes": path.stat().st_size, "sha256": sha256(path)}
    if not path.name.endswith(".so") and os.access(path, os.X_OK):
        facts["version"] = _without_paths((_said(path, "--version").splitlines() or [""])[0])
    return facts


def collect(data_directory=".", binaries=None):
    """Everything above as one JSON-able dictionary. binaries: by name, a path (None is left out)."""
    return {
        "date": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        "commit": commit(),
        "distribution": distribution(),
        "kernel": platform.release(),
        "cpu": cpu(),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "not shown"),
        "huge_pages": _read("/sys/kernel/mm/transparent_hugepage/enabled", "not shown"),
        "memory_mb": memory_mb(),
        "disk": disk(data_directory),
        "binaries": {name: binary(path) for name, path in (binaries or {}).items() if path},
    }


def markdown(facts):
    """A list, one fact per item, without paths of this machine."""
    under = facts["disk"]
    model = f", {under['model']}" + (", rotating" if under.get("rotates") else "") if "model" in under else ""
    lines = [f"- {facts['date']}, commit {facts['commit']}",
             f"- {facts['distribution']}, kernel {facts['kernel']}",
             f"- {facts['cpu']}, {facts['memory_mb']:,} MB of memory; governor {facts['governor']}; "
             f"transparent huge pages {facts['huge_pages']}",
             f"- disk: {under['file_system']} ({under['options']}){model}"]
    for name, item in facts["binaries"].items():
        version = f": {item['version']}" if item.get("version") else ""
        lines.append(f"- {name}{version}" + (f", SHA-256 {item['sha256']}" if "sha256" in item else ""))
    return "\n".join(lines) + "\n"


def _without_paths(text):
    return re.sub(r"(?<!\S)/\S*/", "", text)
