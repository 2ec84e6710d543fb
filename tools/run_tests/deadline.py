"""Ends a hanging step with a message, and leaves no process behind."""

import ctypes
import os
import signal
import subprocess
from pathlib import Path

from installer.shell import Failed

_PR_SET_CHILD_SUBREAPER = 36
_AGAIN_S = 60


class Deadline:
    """`with Deadline(minutes, log):` raises Failed in a body that takes longer.

    Its processes are then listed in the log and killed, including daemons that left their parents. Main thread only.
    """

    def __init__(self, minutes, log):
        self.minutes = minutes
        self.log = log

    def __enter__(self):
        # A process whose parent ends becomes our child instead of init's.
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.outer_handler = signal.signal(signal.SIGALRM, self._expired)
        # Repeatedly, because a body may catch one Failed as its own and go on.
        self.outer_timer = signal.setitimer(signal.ITIMER_REAL, self.minutes * 60, _AGAIN_S)
        return self

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, *self.outer_timer)
        signal.signal(signal.SIGALRM, self.outer_handler)

    def _expired(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)  # On a busy machine this takes longer than _AGAIN_S.
        running = _descendants()
        with open(self.log, "ab") as log:
            log.write(f"not done after {self.minutes} minutes; these ran, and are killed:\n".encode())
            log.flush()
            if running:
                subprocess.run(["ps", "-L", "-o", "pid,ppid,stat,time,wchan:24,args", "-p",
                                ",".join(map(str, running))], stdout=log, stderr=log, check=False)
        for process in running:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S, _AGAIN_S)
        raise Failed(f"not done after {self.minutes} minutes; what ran then stands at the end of {self.log}")


def _descendants():
    """The descendants of this process."""
    children = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The command's name is in parentheses and may hold anything; the parent is the second field after it.
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(parent, []).append(int(status.parent.name))
    found = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found
