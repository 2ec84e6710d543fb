"""The server's suite engines/rr_trx: many clients run its tests against one table at REPEATABLE READ.

The suite's own driver is only for InnoDB; this one takes any engine. Each test checks what it
reads within its transaction, so a difference from its result file means a broken snapshot.
"""

import random
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

from installer import server_run
from installer.mtr import Results
from installer.shell import Failed, clean_environment

SUITE = Path("suite") / "engines" / "rr_trx"
SKIPPED = 62  # mysqltest's exit code; the tests end with it after a deadlock or a lock wait timeout.
CLIENTS = 10
# The suite's own options, and the arithmetic of old servers on which its statements rely.
OPTIONS = ["--sql-mode=NO_ENGINE_SUBSTITUTION,NO_UNSIGNED_SUBTRACTION", "--innodb-lock-wait-timeout=2",
           "--loose-tidesdb-lock-wait-timeout-ms=2000", "--transaction-isolation=REPEATABLE-READ",
           "--log-bin-trust-function-creators=1"]


class _Stress:
    """Threads: one per client; lock guards the counts."""

    def __init__(self, environment, server, directory, seed):
        self.environment = environment
        self.server = server
        self.directory = directory
        self.seed = seed
        self.lock = threading.Lock()
        self.runs = {}
        self.skips = {}
        self.failures = {}

    def make_suite(self, engine):
        """A copy of the suite that works with today's servers; returns the init test."""
        suite = self.directory / SUITE
        shutil.copytree(self.environment.mtr_dir / SUITE, suite, dirs_exist_ok=True)
        for path in [*suite.glob("include/*"), *suite.glob("t/*")]:
            text = path.read_text()
            # The suite's earlier place.
            text = text.replace("suite/stress_tx_rr/", f"{SUITE}/")
            # Newer than the file: a reserved word, which the file uses as a parameter's name.
            text = re.sub(r"(?<=insertRows\()rows\b|(?<=> )rows\b", "wanted", text)
            # Newer than the files: counters need a first value, and IGNORE warns.
            if path.parent.name == "t":
                text = f"--disable_warnings\nlet $query_count= 0;\n{text}"
            path.write_text(text)
        init = suite / "t" / "init.test"
        tables = (suite / "include" / "rr_init.test").read_text()
        init.write_text(f"let $engine = '{engine}';\n{tables}")
        return init

    def mysqltest(self, test, result, place):
        place.mkdir(parents=True, exist_ok=True)
        argv = [self.environment.basedir / "bin" / "mysqltest", "--no-defaults", "--user=root",
                f"--socket={self.server.socket}", "--database=test", f"--test-file={test}",
                f"--logdir={place}", f"--tmpdir={place}"]
        if result:
            argv.append(f"--result-file={result}")
        done = subprocess.run(self.environment.command(argv, cwd=self.directory),
                              cwd=self.directory, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean_environment())
        return done.returncode, done.stdout.decode(errors="replace")

    def client(self, number, names, deadline):
        draw = random.Random(self.seed * 1000 + number)
        suite = self.directory / SUITE
        place = self.directory / f"client-{number}"
        results = place / "r"  # A copy, because the driver writes differences beside it.
        shutil.copytree(suite / "r", results, dirs_exist_ok=True)
        while time.monotonic() < deadline:
            name = draw.choice(names)
            code, text = self.mysqltest(suite / "t" / f"{name}.test", results / f"{name}.result", place)
            with self.lock:
                self.runs[name] = self.runs.get(name, 0) + 1
                if code == SKIPPED:
                    self.skips[name] = self.skips.get(name, 0) + 1
                elif code != 0:
                    self.failures.setdefault(name, []).append(text)


def run(environment, plugin, directory, engine, duration_s, seed=1):
    """Runs the suite for that long and returns a Results by test; raises Failed if it cannot run."""
    directory = Path(directory)
    options = [*OPTIONS, f"--default-storage-engine={engine}"]
    server = server_run.Server(environment, directory / "server", plugin=plugin, options=options)
    server.initialise()
    server.start()
    try:
        server.sql("CREATE OR REPLACE DATABASE test")
        stress = _Stress(environment, server, directory, seed)
        init = stress.make_suite(engine)
        code, text = stress.mysqltest(init, None, directory / "init")
        if code != 0:
            raise Failed(f"rr_trx cannot make its tables on {engine}:\n{text[-2000:]}")
        names = (environment.mtr_dir / SUITE / "run.txt").read_text().split()
        deadline = time.monotonic() + duration_s
        threads = [threading.Thread(target=stress.client, args=(number, names, deadline))
                   for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        server.stop()
    results = Results()
    for name in names:
        failures = stress.failures.get(name, [])
        ended = stress.runs.get(name, 0) - stress.skips.get(name, 0)
        results.tests[f"engines/rr_trx.{name}"] = "fail" if failures or not ended else "pass"
        if failures:
            results.reasons[f"engines/rr_trx.{name}"] = (f"{len(failures)} of {stress.runs[name]} runs")
            (directory / f"{name}.failed").write_text("\n\n".join(failures))
    return results
