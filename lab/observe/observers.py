"""iostat, vmstat, mpstat and pidstat beside a measurement: the output of each goes to its own file.

    with Observers(directory / "run1", pid) as observers:
        measure()
    observers.files, observers.notes        # {"iostat": path, ...}; their problems, in words.
"""

import gzip
import os
import shutil
import signal
import subprocess
from pathlib import Path

from installer.shell import clean_environment
from lab.base.watched import tied

_PATIENCE_S = 3
# Packages: installer.packages.OBSERVE.
_TOOLS = {"iostat": ["iostat", "-dxkty", "1"], "vmstat": ["vmstat", "-y", "-n", "-t", "-w", "1"],
          "mpstat": ["mpstat", "-P", "ALL", "1"]}


def commands(pid):
    """The command lines by name; without a pid none for threads."""
    return _TOOLS | ({"pidstat": ["pidstat", "-t", "-u", "-h", "-p", str(pid), "1"]} if pid else {})


class Observers:
    """A context. Owns: the tools' processes while it is entered, and the files PREFIX.TOOL.txt."""

    def __init__(self, prefix, pid):
        """pid: of the server; None when it is on another machine."""
        self._prefix, self._commands = Path(prefix), commands(pid)
        self._running = {}
        self.files, self.notes = {}, []

    def __enter__(self):
        environment = clean_environment({"TZ": "UTC", "S_TIME_FORMAT": "ISO", "S_COLORS": "never"})
        for tool, argv in self._commands.items():
            path = self._prefix.with_name(f"{self._prefix.name}.{tool}.txt")
            if not shutil.which(tool, path=environment["PATH"]):
                self.notes.append(f"{tool} is not installed")
                continue
            with open(path, "wb") as out:
                # Line-buffered, so that the file has all output whatever ends the tools.
                self._running[tool] = subprocess.Popen(tied(["stdbuf", "-oL", *argv]), stdin=subprocess.DEVNULL,
                                                       stdout=out, stderr=subprocess.STDOUT, env=environment)
            self.files[tool] = path
        return self

    def __exit__(self, *_):
        for process in self._running.values():
            process.send_signal(signal.SIGINT)  # Then mpstat prints its averages, which show that its output is complete.
        for tool, process in self._running.items():
            self._end(tool, process)
        if "pidstat" in self.files:  # A line for each thread and second: compression leaves a hundredth.
            self.files["pidstat"] = _compressed(self.files["pidstat"])

    def _end(self, tool, process):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                code = process.wait(_PATIENCE_S)
                break
            except subprocess.TimeoutExpired:
                process.send_signal(number)
        else:
            code = process.wait()
        if code not in (0, -signal.SIGINT, -signal.SIGTERM):
            self.notes.append(f"{tool} ended with {code}")


def _compressed(path):
    made = path.with_name(path.name + ".gz")
    with open(path, "rb") as plain, gzip.GzipFile(made, "wb", mtime=0) as packed:
        shutil.copyfileobj(plain, packed)
    os.unlink(path)
    return made


def text(path):
    """Of a tool's file, compressed or not."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", errors="replace") as file:
        return file.read()
