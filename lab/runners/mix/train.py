"""Runs the mix so that an instrumented build counts what it does: mysql-test-run, then each work, synced and not.

Functional tests alone would train for error paths and DDL. Load alone would leave most of SQL without a profile, and
code without a profile is compiled for size.
"""

from pathlib import Path

from installer import mtr
from installer.shell import Failed
from lab.base import watched
from lab.runners.mix import works
from lab.server import profiles
from lab.server.build_server import BuildServer
from lab.study.progress import Step
from lab.works import generators

# First: commits not synced, large caches. Second: synced commits, compressed blocks, and so little memory that flushes,
# compactions and misses are frequent.
SETTINGS = {
    "NONE": {"TidesDB": [], "InnoDB": []},
    "FULL": {"TidesDB": ["--tidesdb_block_cache_size=16M", "--tidesdb_unified_memtable_write_buffer_size=8M",
                         "--tidesdb_default_compression=LZ4"],
             "InnoDB": ["--innodb_buffer_pool_size=32M"]},
}
_MTR_S, _LOAD_S, _STOP_S, _IIBENCH_S = 100, 25, 6, 30
_IIBENCH = ["--phases", "l.i0,l.x,l.i1,l.i2,qr100,qp100", "--load-rows", 200_000, "--i1-rows", 50_000,
            "--i2-rows", 20_000, "--query-seconds", 5, "--settle", 0]


class Counters:
    """Owns: the directory of .gcda files, to which servers of several users write."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.directory.chmod(0o777)

    def open_up(self):
        """A server adds to existing files, and the next one may be another user's."""
        for path in self.files():
            path.chmod(0o666)

    def files(self):
        return sorted(self.directory.rglob("*.gcda"))

    def check(self):
        """Raises Failed if nothing was counted: a server that does not end in order writes no counters."""
        if not self.files():
            raise Failed(f"the training left no counters in {self.directory}: is the build instrumented, and did its "
                         "servers end in order?")


def options(engine, sync):
    """The server's options for one half of the training; of two values the second counts."""
    more = SETTINGS[sync][engine]
    said = {option.partition("=")[0] for option in more}
    return [*(o for o in profiles.options(profiles.DEFAULT, engine, sync) if o.partition("=")[0] not in said), *more]


class Training:
    """Owns: directory, with a server for each running part, and the parts' output."""

    def __init__(self, build, tools, directory, sockets, counters, seconds, engines, tests):
        """sockets: a short directory. seconds: of each work. engines: of the tables. tests: for mysql-test-run, if any."""
        self.build, self.tools, self.directory, self.sockets = build, tools, Path(directory), Path(sockets)
        self.counters, self.seconds, self.engines, self.tests = counters, seconds, engines, tests
        self.sizes = works.Sizes()

    def steps(self):
        """Of the progress."""
        made = [Step("mysql-test-run", _MTR_S)] if self.tests else []
        for engine in self.engines:
            for sync in SETTINGS:
                made.append(Step(_name(engine, sync, "load"), _LOAD_S, "load"))
                made += [Step(_name(engine, sync, work), works.expected_s(work, self.seconds), "work")
                         for work in works.WORKS]
                if sync == "NONE":
                    made.append(Step(_name(engine, sync, "iibench"), _IIBENCH_S))
                made.append(Step(_name(engine, sync, "shutdown"), _STOP_S, "shutdown"))
        return made

    def run(self, progress):
        if self.tests:
            with progress.step("mysql-test-run") as step:
                self._mtr(step)
        for engine in self.engines:
            for sync in SETTINGS:
                self._half(engine, sync, progress)
        self.counters.check()

    def _mtr(self, step):
        results = mtr.run(self.build.environment, self.build.plugin, self.directory / "mtr", self.tests,
                          self.directory / "mtr.log")
        self.counters.open_up()
        step.note(f"{results.count('pass')} tests passed, {results.count('fail')} failed")

    def _half(self, engine, sync, progress):
        server = BuildServer(self.build, self.directory / f"{engine}-{sync}", options(engine, sync),
                             socket=self.sockets / "mysqld.sock")
        server.stop()  # It may be left from an interrupted sitting.
        server.remove()
        server.initialise()
        server.start()
        try:
            with progress.step(_name(engine, sync, "load")):
                works.load(server, self.tools, engine, self.sizes)
            for seed, work in enumerate(works.WORKS, 100):
                with progress.step(_name(engine, sync, work)) as step:
                    figures = works.run(server, self.tools, work, self.sizes, self.seconds, seed,
                                        self.directory / f"{engine}-{sync}-{work}.out")
                    step.note(f"{figures.per_s:,.0f} per s")
            if sync == "NONE":
                with progress.step(_name(engine, sync, "iibench")):
                    self._iibench(server, engine)
            with progress.step(_name(engine, sync, "shutdown")) as step:
                server.stop(timeout_s=300)  # In order, because the process writes its counters as it ends.
                step.note(f"{len(self.counters.files())} files of counters")
        finally:
            server.stop()
        self.counters.open_up()
        server.remove()

    def _iibench(self, server, engine):
        watched.run([self.tools.iibench, "run", "-S", server.socket, "--db", "iibench", "--engine", engine, *_IIBENCH,
                     "--json", self.directory / f"{engine}-iibench.json"], self.directory / f"{engine}-iibench.log",
                    allowed=generators.MEASURED)


def _name(engine, sync, what):
    return f"{engine} {sync}: {what}"
