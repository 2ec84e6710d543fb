"""Runs ninja, and shows on one line how far it is and how long it may take."""

import re
import subprocess
import sys
import time
from pathlib import Path

from installer.shell import Failed, clean_environment

_EDGE = re.compile(r"^\[(\d+)/(\d+)\] ")
_LINE_EVERY_S = 60  # If the output is not a terminal.


def left(seconds):
    """In words."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


class Bar:
    """Shows progress: in place on a terminal, else one line a minute."""

    def __init__(self, text, out=None, clock=time.monotonic, live=None):
        self._text, self._out, self._clock = text, out or sys.stdout, clock
        self._live = self._out.isatty() if live is None else live
        self._begin = self._said = clock()
        self._open = False

    def update(self, done, total):
        now = self._clock()
        if now - self._said < (0.5 if self._live else _LINE_EVERY_S) or not done:
            return
        self._said = now
        text = f"  {self._text}: {done} of {total}, about {left((now - self._begin) / done * (total - done))} left"
        self._out.write(f"\r\033[K{text}" if self._live else f"{text}\n")
        self._out.flush()
        self._open = self._live

    def end(self, how):
        self._out.write(("\r\033[K" if self._open else "") + f"  {self._text} ... {how}\n")
        self._out.flush()

    def seconds(self):
        return self._clock() - self._begin


def run(tree, jobs, log, text, targets=(), bar=None, lock=None):
    """Builds what is missing; returns whether anything was. Raises Failed with the log's tail. lock: as in shell.run."""
    bar, log = bar or Bar(text), Path(log)
    log.parent.mkdir(parents=True, exist_ok=True)
    done, kept = 0, []
    with open(log, "ab") as out, subprocess.Popen(
            ["ninja", "-C", str(tree), "-j", str(jobs), *targets], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=clean_environment({"NINJA_STATUS": "[%f/%t] "}),
            pass_fds=[lock.fileno()] if lock else []) as process:
        try:
            for line in process.stdout:
                out.write(line)
                kept = [*kept[-39:], line.decode(errors="replace").rstrip()]
                found = _EDGE.match(kept[-1])
                if found:
                    done = int(found.group(1))
                    bar.update(done, int(found.group(2)))
        except BaseException:
            process.terminate()  # Compiled files stay; the next run continues from there.
            bar.end("interrupted; the same command resumes it")
            raise
    if process.returncode != 0:
        bar.end("failed")
        raise Failed(f"ninja -C {tree} ended with {process.returncode}; see {log}\n" + "\n".join(kept))
    bar.end(f"{bar.seconds():.0f} s" if done else "nothing to do")
    return done > 0
