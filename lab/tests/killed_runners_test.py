#!/usr/bin/env python3
"""After SIGINT, SIGTERM or SIGKILL, a runner leaves no process and nothing in /tmp.

Each runner gets SIGINT while it measures, is resumed and gets SIGKILL, is resumed and gets SIGTERM; all runners at once.
After SIGKILL its processes end by themselves, and its folder in /tmp stays until the next run.

Environment: as lab_server.py says; TIDESDB_SERVER names the server. KILLED_RUNNERS_MOMENT: initialise, load or measure.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from installer import host  # noqa: E402
from installer.shell import TREE, Failed  # noqa: E402
from lab.server import cgroup  # noqa: E402
from lab.tests import terminal_signals  # noqa: E402

_SERVER = os.environ.get("TIDESDB_SERVER") or host.host_server()
_MARK = "KILLED_RUNNERS_TEST"
_WAIT_S = 120
_LONG = 300  # Seconds; runs are ended long before.
_LAB = TREE / "lab"
_TPCC = ["--warehouses", "1", "--rampup", "0", "--duration", "5", "--settle", "0"]
_BUILD = [f"server={_SERVER}", "engine=InnoDB"]
# By name: the command, its variables, and the folder to resume (None: the same command resumes).
RUNNERS = {
    "hammerdb_runner": ([_LAB / "hammerdb_runner.sh", "-e", "innodb", f"--private-server={_SERVER}", *_TPCC, "-o", "."], {},
                        "hammerdb_logs_*"),
    "hammerdb_runner --build": ([_LAB / "hammerdb_runner.sh", "--build", "a", *_BUILD, "--build", "b", *_BUILD, *_TPCC,
                                 "-o", "."], {}, "hammerdb_logs_*"),
    "mariadb_engines_runner": ([_LAB / "mariadb_engines_runner.sh", "--engines", "innodb", f"--private-server={_SERVER}",
                                "--iterations", "1", "--no-perf", "--no-drop-cache", *_TPCC, "-o", "."], {}, "results_*"),
    "iibench_runner": ([_LAB / "iibench_runner.sh", "--server", _SERVER, "--engines", "InnoDB", "--scale-down", "1000",
                        "--phases", "l.i0,l.x,qr100", "--query-seconds", _LONG, "-o", "."], {}, "iibench_*"),
    "pgo_study": ([_LAB / "pgo_study.sh", "--build", "a", *_BUILD, "--build", "b", *_BUILD, "--tiers", "32M", "--threads",
                   "1", "--tables", "1", "--rows", "1000", "--seconds", _LONG, "--warmup-read", "0", "--warmup-write", "0",
                   "-o", "study"], {}, "study"),
    "sqlbench": ([_LAB / "sqlbench.sh"],
                 {"ENGINES": "InnoDB", "WORKLOADS": "oltp_read_write", "TABLE_SIZES": "1000", "TIME": str(_LONG),
                  "WARMUP": "0", "PLOT": "0", "OUTPUT_DIR": ".", "DATA_DIR": "data", "TIDESDB_SERVER": _SERVER}, None),
    "lab.compare": ([sys.executable, "-m", "lab.compare", "--server", _SERVER, "--engines", "InnoDB", "--sync", "NONE",
                     "--work", "read_write", "--rows", "1000", "--warehouses", "0", "--seconds", _LONG, "-o", "."], {},
                    "compare_*"),
}


def _is_at(argv):
    """By moment, whether a process with this command line shows that the runner has reached it."""
    program = Path(argv[0]).name
    return {"initialise": "--bootstrap" in argv,
            "load": (program in ("sysbench", "tpcc") and ("prepare" in argv or "build" in argv)
                     or program == "iibench" and "run" in argv),
            "measure": program in ("sysbench", "tpcc", "iibench") and "run" in argv}


class Marked:
    """The processes of one runner, whatever their parent, found by a variable in their environment."""

    def __init__(self, value):
        self._mark = f"{_MARK}={value}".encode()

    def processes(self):
        """The command lines by pid."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if self._mark in (entry / "environ").read_bytes().split(b"\0"):
                    argv = (entry / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
                    found[int(entry.name)] = argv
            except OSError:
                pass
        return {pid: argv for pid, argv in found.items() if argv != [""]}  # Without those that have ended.


class Runner:
    """One runner, ended by each of the three signals in turn. Owns: directory."""

    def __init__(self, name, directory, moment):
        self.name, self.moment = name, moment
        self.argv, self.variables, self.folder = RUNNERS[name]
        self.directory, self.temporary = directory / "results", directory / "tmp"
        self.directory.mkdir(parents=True)
        self.temporary.mkdir()
        self.marked, self.pids = Marked(directory.name), []

    def _expect(self, true, what):
        if not true:
            raise Failed(f"{self.name}: {what}")

    def _command(self):
        if self.folder is None or not self.pids:
            return self.argv
        folder, = self.directory.glob(self.folder)
        return [*self.argv[:3 if self.argv[0] == sys.executable else 1], "--resume", folder]

    def _until_it_is_there(self, child, log):
        deadline = time.monotonic() + _WAIT_S
        while not any(_is_at(argv)[self.moment] for argv in self.marked.processes().values()):
            self._expect(child.poll() is None, f"ended with {child.returncode}:\n{log.read_text()}")
            self._expect(time.monotonic() < deadline, f"does not come to {self.moment}:\n{log.read_text()}")
            time.sleep(0.05)

    def end_by(self, number):
        """Starts or resumes the runner, and sends it a signal. Returns its output."""
        log = self.directory.parent / f"{number.name}.log"
        environment = {**os.environ, **self.variables, _MARK: self.directory.parent.name, "TMPDIR": str(self.temporary),
                       "PYTHONPATH": str(TREE)}
        with open(log, "w") as out:
            child = subprocess.Popen([str(word) for word in self._command()], cwd=self.directory, env=environment,
                                     stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        self.pids.append(child.pid)
        try:
            self._until_it_is_there(child, log)
            child.send_signal(number)
            code = child.wait(_WAIT_S)
        finally:
            child.kill()
            child.wait()
        if number != signal.SIGKILL:
            self._expect(code == 130, f"{number.name}: ended with {code}:\n{log.read_text()}")
            self._expect(not self.marked.processes(), f"{number.name}: left {self.marked.processes()}")
            self._expect(not list(self.temporary.iterdir()), f"{number.name}: left {list(self.temporary.iterdir())}")
        return log.read_text()

    def after_the_kill(self):
        """Waits until all processes that it started have ended by themselves."""
        deadline = time.monotonic() + _WAIT_S / 2
        while self.marked.processes():
            self._expect(time.monotonic() < deadline, f"SIGKILL: left {self.marked.processes()}")
            time.sleep(0.05)

    def groups(self):
        """The runner's memory cgroups."""
        places = list(cgroup.find_hierarchy().places())
        return [path for place in places for pid in self.pids for path in place.glob(f"tidesdb-lab-{pid}-*")]

    def through_all(self):
        """Sends all three signals. Returns None, or what is wrong."""
        try:
            said = self.end_by(signal.SIGINT)
            how = r"--resume \S+" if self.folder else "Resume with: the same command"
            self._expect(re.search(how, said), f"does not say how to go on:\n{said}")
            self.end_by(signal.SIGKILL)
            self.after_the_kill()
            self.end_by(signal.SIGTERM)
            self._expect(not self.groups(), f"left {self.groups()}")
        except (Failed, ValueError, subprocess.TimeoutExpired) as error:
            return f"{self.name}: {error}"
        finally:
            for pid in self.marked.processes():
                os.kill(pid, signal.SIGKILL)
        return None


class KilledRunners(unittest.TestCase):
    def test_nothing_stays(self):
        terminal_signals.restore()
        moment = os.environ.get("KILLED_RUNNERS_MOMENT", "measure")
        with tempfile.TemporaryDirectory(prefix="killed-") as place, ThreadPoolExecutor(len(RUNNERS)) as pool:
            runners = [Runner(name, Path(place) / f"{Path(place).name}-{number}", moment)
                       for number, name in enumerate(RUNNERS)]
            wrong = [one for one in pool.map(Runner.through_all, runners) if one]
        self.assertEqual(wrong, [], "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
