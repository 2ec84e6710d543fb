"""A server under callgrind: the cost of work in instructions and, on request, in misses of simulated
caches and branch prediction. Load on the machine does not change them. The server's background threads are counted
too: one or two percent of TidesDB's reads, up to a quarter of InnoDB's writes.

    callgrind = Callgrind(directory, inside=server.inside)
    # The server is started with callgrind.command() before its own command line.
    server.start(START_S)
    callgrind.pid = server.pid()
    callgrind.count(work)["Ir"]
"""

import re
import time
from collections import Counter

from installer.shell import Failed, run

# Valgrind maps no room for a pool that could grow to the terabytes of the default, and knows no native asynchronous reads.
SERVER_OPTIONS = ("--innodb-buffer-pool-size-max=1G", "--innodb-use-native-aio=0")
START_S = 900
_WRITTEN_S = 60


def totals(text):
    """By callgrind's own name of an event, the sum in a file of its counts."""
    found = Counter()
    names = re.search(r"^events: (.+)$", text, re.M)
    for line in re.findall(r"^totals: ([\d ]+)$", text, re.M):
        found.update(dict(zip(names.group(1).split(), map(int, line.split()))))
    return found


class Callgrind:
    """Owns: in directory the files out*."""

    def __init__(self, directory, inside=lambda argv: argv, simulate=False):
        """inside: makes of a command line the one that runs where the server lives. simulate: caches and branches too."""
        self.directory, self.pid = directory, None
        self._inside, self._simulate = inside, simulate

    def command(self):
        """The command line to put before the server's own."""
        return ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={self.directory}/out", "-q",
                *(["--cache-sim=yes", "--branch-sim=yes"] if self._simulate else [])]

    def _control(self, *what):
        run(self._inside(["callgrind_control", *what, str(self.pid)]))

    def count(self, work):
        """totals() of the process during work(). Raises Failed."""
        before = set(self.directory.glob("out.*"))
        self._control("-i", "on")
        work()
        self._control("-i", "off")
        self._control("-d")
        deadline = time.monotonic() + _WRITTEN_S
        while time.monotonic() < deadline:
            found = Counter()
            for path in set(self.directory.glob("out.*")) - before:
                found.update(totals(path.read_text()))
            if found:
                return found
            time.sleep(0.1)
        raise Failed(f"callgrind wrote no counts in {self.directory}")
