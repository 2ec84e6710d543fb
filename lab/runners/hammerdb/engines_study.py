"""One run of mariadb_engines_runner.sh. Layout: results_TIME/{preflight.log, master.log, journal.txt, ENGINE/iterN,
final/merged}."""

import fcntl
import os
import random
import shlex
import shutil
import subprocess
import time
from pathlib import Path

from installer import apt, host, packages
from installer.shell import Failed, clean_environment, say
from lab.base import figures, watched
from lab.record import provenance
from lab.reports import optional, write
from lab.runners.hammerdb import hammerdb_csv, server
from lab.runners.hammerdb import engines_merge as merge
from lab.runners.hammerdb import engines_preflight as preflight
from lab.runners.hammerdb import options as harness
from lab.runners.hammerdb import record as report
from lab.runners.hammerdb.engines_database import NAME, Database, folder_of, harness_journals
from lab.runners.hammerdb.engines_options import harness_options
from lab.runners.hammerdb.study import plot
from lab.study import sitting
from lab.study.journal import Journal
from lab.study.progress import Progress, Step, duration

JOURNAL = "journal.txt"
_LOAD_S = {True: 90, False: 4}  # A warehouse on one loader: the real HammerDB, the built-in generator.
_HARNESS_ENDS_S = 150  # It stops its server.


def order(args, seed):
    """(engine, iteration) as they are run; an engine's iterations count up in any order."""
    engines = [engine for engine in args.engine_names for _ in range(args.iterations)]
    if args.randomize:
        random.Random(seed).shuffle(engines)
    seen, units = {}, []
    for engine in engines:
        seen[engine] = seen.get(engine, 0) + 1
        units.append((engine, seen[engine]))
    return units


def _step(engine, number):
    return f"{engine} iteration {number}"


def _wait_until_free(journal):
    """A harness that outlived this runner, which was killed, is ending: its journal is locked until then."""
    with open(journal, "rb") as file:
        for _ in range(_HARNESS_ENDS_S):
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return
            except OSError:
                time.sleep(1)


class Study:
    """Owns: directory (results_*)."""

    def __init__(self, args, directory, plan):
        self.args, self.directory, self.plan = args, Path(directory), plan
        self.units = order(args, plan["seed"])
        self.failures = []
        self.database = None  # On a running server.

    def _expected_s(self):
        args = self.args
        loaders = min(args.build_vu, args.warehouses, os.cpu_count() or 1)
        load = _LOAD_S[args.hammerdb_dir is not None] * args.warehouses / loaders
        return load + args.settle + (args.rampup + args.duration) * 60 + 30

    def describe(self):
        """What --dry-run says."""
        lines = [f"{len(self.units)} iterations, about {duration(self._expected_s() * len(self.units))}:"]
        for number, (engine, iteration) in enumerate(self.units, 1):
            lines.append(f"[{number}] {engine} iteration {iteration}")
            lines += [f"      {line}" for line in self._preparation()]
            lines.append(f"      {shlex.join(harness_options(self.args, engine, self._replaces(number - 1)))}")
        return "\n".join(lines)

    def _is_last(self, index):
        """Whether an iteration is its engine's last."""
        return all(engine != self.units[index][0] for engine, _ in self.units[index + 1:])

    def _cleans_up(self):
        """Whether an engine's database is to be dropped after its last iteration."""
        args = self.args
        return args.private_server is None and not (args.no_keep_schema or args.no_cleanup_between_engines)

    def _replaces(self, index):
        """Whether an iteration finds the database of the one before, where nothing fails."""
        return index > 0 and not self.args.no_keep_schema and not (self._cleans_up() and self._is_last(index - 1))

    def _restarts(self):
        return self.args.private_server is None and not self.args.no_restart

    def _preparation(self):
        if self._restarts():
            yield f"restart: {self.args.restart_command}"
        if not self.args.no_drop_cache:
            yield "drop the page cache"

    def check(self):
        """The preflight. Raises Failed where something is missing."""
        sitting.make_directory("--output-dir", self.directory)
        findings = preflight.look(self.args, self.directory / "build.log")
        (self.directory / "preflight.log").write_text("".join(f"{finding}\n" for finding in findings))
        for finding in findings:
            say(f"  {finding}")
        if preflight.failed(findings):
            raise Failed("the preflight failed; nothing was run (--skip-preflight goes on all the same)")

    def go(self):
        """Runs what is left. Returns the exit code: 1 when an iteration failed."""
        sitting.make_directory("--output-dir", self.directory)
        apt.install(packages.LAB_PYTHON, self.directory / "build.log")
        steps = [Step(_step(engine, number), self._expected_s(), "iteration") for engine, number in self.units]
        with Journal(self.directory / JOURNAL, "engines_runner", self.plan) as self.journal:
            if self.args.private_server is None:
                self.database = Database(self.directory, self.journal)
            for unit in self.units:
                for left in harness_journals(folder_of(self.directory, unit)):
                    _wait_until_free(left)
            with Progress(f"{self.args.iterations} × {', '.join(self.args.engine_names)}", steps) as self.progress:
                for index, (engine, number) in enumerate(self.units):
                    self._unit(engine, number)
                    if self._cleans_up() and self._is_last(index):
                        self._cleanup(engine)
            if not self.failures:
                self.journal.end()
            self._merge()
            if self.failures:
                say(f"What failed is tried again by: mariadb_engines_runner.sh --resume {self.directory}")
                self.say_what_is_kept()
        return 1 if self.failures else 0

    def say_what_is_kept(self):
        """For a later sitting, on a running server."""
        if self.database and self.database.holder():
            say(f"Until then the database {NAME} is kept.")

    def _unit(self, engine, number):
        step = _step(engine, number)
        if self.journal.result(step):
            self.progress.already(step)
            return
        directory = folder_of(self.directory, (engine, number))
        left = self._left(engine, number, directory)
        if self.database:
            self.database.begin((engine, number))
        self.journal.begin(step)
        try:
            with self.progress.step(step) as running:
                self._prepare()
                found = self._harness(engine, number, directory, left, running.note)
                running.note("INCONSISTENT" if found.get("consistent") == "no" else f"{found['nopm']:,.0f} NOPM")
        except Failed as error:
            self.journal.fail(step, str(error).splitlines()[0])
            self.progress.say(f"{step}: {error}")
            self.failures.append(step)
            return
        self.journal.finish(step, found)

    def _prepare(self):
        if self._restarts():
            self._as_root(shlex.split(self.args.restart_command))
            self._wait_for_server()
        if not self.args.no_drop_cache:
            self._as_root(["sh", "-c", "sync; echo 3 > /proc/sys/vm/drop_caches"])

    def _as_root(self, argv):
        argv = argv if host.is_root() else ["sudo", "-n", *argv]
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=clean_environment(),
                              check=False)
        if done.returncode != 0:
            raise Failed(f"{shlex.join(argv)} ended with {done.returncode}: {done.stderr.strip()}")

    def _connection(self):
        args = self.args
        return server.Connection(args.user, args.password, socket=args.socket or server.DEFAULT_SOCKET,
                                 client=args.mariadb_bin)

    def _wait_for_server(self):
        connection = self._connection()
        for attempt in range(120):
            try:
                connection.sql("DO SLEEP(1)" if attempt else "SELECT 1")
                return
            except Failed as error:
                last = error
                subprocess.run(["sleep", "1"], check=False)
        raise Failed(f"the server does not come back after its restart: {last}")

    def _left(self, engine, number, directory):
        """The logs of an interrupted harness that can be resumed, or None: then nothing of it is in the folder."""
        begun = harness_journals(directory)
        if len(begun) == 1 and (self.database is None or self.database.serves((engine, number))):
            return begun[0].parent
        if begun:  # Kept, but not where results are looked for.
            tries = len(list(directory.parent.glob(f"left-{directory.name}-*")))
            directory.rename(directory.with_name(f"left-{directory.name}-{tries + 1}"))
        return None

    def _harness(self, engine, number, directory, left, note):
        """Runs one iteration, or goes on with what is left of it. Returns its row."""
        directory.mkdir(parents=True, exist_ok=True)
        replace = self.database is not None and self.database.holder() is not None
        argv = ([self.args.harness, "--resume", left] if left else
                [*harness_options(self.args, engine, replace), "-o", directory])
        with open(self.directory / "master.log", "a") as master:
            def on_line(line, _pid):
                master.write(f"{engine} {number}: {line}\n")
                master.flush()
                if line.strip():
                    note(line.strip())

            watched.run(argv, directory / "harness.log", on_line, {harness.PASSWORD_VARIABLE: self.args.password},
                        patience_s=_HARNESS_ENDS_S)
        row = hammerdb_csv.read(figures.read(self._csv(directory)), self._csv(directory))[0]
        if row["nopm"] is None:
            raise Failed(f"the harness measured no NOPM: {self._csv(directory)}")
        return {name: row[name] for name in ("nopm", "tpm", "errors", "consistent") if name in row}

    @staticmethod
    def _csv(directory):
        found = sorted(directory.glob("hammerdb_results_*.csv"))
        if not found:
            raise Failed(f"the harness left no hammerdb_results_*.csv in {directory}")
        return found[-1]

    def _cleanup(self, engine):
        """After an engine's last iteration its database is dropped; that of one that failed is kept for another try."""
        holder = self.database.holder()
        if holder is None or holder[0] != engine or not self.journal.result(_step(*holder)):
            return
        try:
            self.database.drop(self._connection())
        except Failed as error:
            self.progress.say(f"{engine}: its database could not be dropped: {error}")

    def _merge(self):
        for sentence in self.journal.history():
            say(sentence)
        done = [(engine, number) for engine, number in self.units if self.journal.result(_step(engine, number))]
        if not done:
            return
        merged = self.directory / "final" / "merged"
        shutil.rmtree(merged, ignore_errors=True)
        merged.mkdir(parents=True)
        paths = [self._csv(folder_of(self.directory, unit)) for unit in done]
        rows = merge.read(paths)
        table = merge.markdown(rows, self.journal.history())
        (merged / "hammerdb_results_merged.csv").write_text(hammerdb_csv.write(rows))
        (merged / "summary.md").write_text(table)
        say(f"\n{table}\nresults: {merged}")
        optional.drawn(lambda: plot(paths, merged, [str(number) for _, number in done]))
        write.write_of_runner(lambda: report.study_of_iterations(self.directory), merged)
        provenance.write_checksums(self.directory)
