"""One run of mariadb_engines_runner.sh: engines × iterations of TPROC-C. Layout: results_TIME/{preflight.log, study.json,
journal.jsonl, runs, ENGINE/iterN, final/merged}."""

import os
import random
import shlex
import subprocess
import time

from installer import host
from installer.shell import Failed, clean_environment, say
from lab.base import figures, watched
from lab.record import form, provenance
from lab.runners.hammerdb import hammerdb_csv, merge, options, preflight, runs, server, study
from lab.runners.hammerdb.engines_options import harness_options
from lab.runners.hammerdb.options import ENGINE_NAMES
from lab.runners.hammerdb.study import Unit
from lab.study.progress import Step, duration
from lab.works import tpcc

_LOAD_S = {True: 90, False: 4}  # Per warehouse on one loader: the real HammerDB, the built-in generator.
_HARNESS_ENDS_S = 150  # It stops its server.
# Options that the command line names itself.
_OF_ONE = ("engine", "engines", "scale down")


def order(args, seed):
    """(engine, iteration) in running order; an engine's iterations count up in any order."""
    engines = [engine for engine in args.engine_names for _ in range(args.iterations)]
    if args.randomize:
        random.Random(seed).shuffle(engines)
    seen, found = {}, []
    for engine in engines:
        seen[engine] = seen.get(engine, 0) + 1
        found.append((engine, seen[engine]))
    return found


class Iterations(study.Study):
    """Owns: directory (results_*)."""

    kind, command = "engines_runner", "mariadb_engines_runner.sh"

    def __init__(self, asked, directory, plan):
        """asked: its own options, from which those of hammerdb_runner.sh follow."""
        args = options.parse(harness_options(asked, ",".join(asked.engine_names))[1:])
        args.password = asked.password
        super().__init__(args, directory, plan)
        self.asked = asked
        self.units = [Unit(engine, "tpcc", f"{engine} iteration {number}", f"{engine}/iter{number}", number)
                      for engine, number in order(asked, plan["seed"])]
        self.merged = self.reports = self.directory / "final" / "merged"
        self.csv = self.merged / "hammerdb_results_merged.csv"

    @staticmethod
    def drawn(args):
        return {"seed": args.seed if args.seed is not None else random.SystemRandom().randrange(1 << 31)}

    def describe(self):
        """What --dry-run says."""
        lines = [f"{len(self.units)} iterations, about {duration(self._expected_s() * len(self.units))}:"]
        for number, unit in enumerate(self.units, 1):
            lines.append(f"[{number}] {unit.work}")
            lines += [f"      {line}" for line in self._preparation()]
            lines.append(f"      {shlex.join(harness_options(self.asked, unit.engine, number > 1))}")
        return "\n".join(lines)

    def go(self):
        if self.asked.dry_run:
            say(self.describe())
            return 0
        return super().go()

    def prepare(self, log):
        if not self.asked.skip_preflight:
            self._check(log)
        self.merged.mkdir(parents=True, exist_ok=True)
        if self.asked.harness:
            self._of_another(self.asked.harness)
        else:
            super().prepare(log)
        words = runs.words(self.plan.get("argv", []))
        self.configuration = [*(pair for pair in self.configuration if pair[0] not in _OF_ONE), ("command line", words)]

    def _of_another(self, harness):
        """Its servers and its generator are unknown."""
        self.server = None if self._alone() else server.make(self.args, self.directory)
        self.binaries = {"harness": harness}
        self.unequal, self.configuration = runs.unequal(self.args, harness.name), runs.asked(self.args)

    def identity(self):
        return provenance.sums(self.binaries) if self.asked.harness else super().identity()

    def facts(self):
        return provenance.collect(self.directory) if self.asked.harness else super().facts()

    def needs_bytes(self):
        return 0 if self.asked.harness else super().needs_bytes()

    def _check(self, log):
        """Raises Failed if something is missing."""
        findings = preflight.look(self.asked, log)
        (self.directory / "preflight.log").write_text("".join(f"{finding}\n" for finding in findings))
        for finding in findings:
            say(f"  {finding}")
        if preflight.failed(findings):
            raise Failed("the preflight failed; nothing was run (--skip-preflight runs without it)")

    def title_and_about(self):
        args = self.args
        return "TPROC-C: " + " and ".join(self.labels), (
            f"{form.plural(self.asked.iterations, 'iteration')} of {tpcc.workload_of(args.warehouses)}, "
            f"{form.plural(args.tpcc_vu, 'virtual user')}, {args.rampup} min of ramp-up, {args.duration} min measured.")

    def said_order(self):
        return ""  # All iterations of an engine, then the next one's, or at random.

    def _expected_s(self):
        args = self.args
        loaders = min(args.tpcc_build_vu, args.warehouses, os.cpu_count() or 1)
        load = _LOAD_S[args.hammerdb_dir is not None] * args.warehouses / loaders
        return load + args.settle + (args.rampup + args.duration) * 60 + 30

    def steps(self):
        if self.asked.harness:
            return [Step(unit.name, self._expected_s(), "iteration") for unit in self.units]
        return super().steps()

    def groups(self):
        return [[unit] for unit in self.units]

    def place(self, unit):
        return f"{unit.engine}-{unit.repetition}"

    def work(self):
        if not self.asked.harness:
            return super().work()
        for unit in self.units:
            self.once(unit)

    def _group(self, units):
        super()._group(units)
        unit, = units
        if self._cleans_up() and unit == [one for one in self.units if one.engine == unit.engine][-1]:
            self._cleanup(unit)

    def _cleans_up(self):
        """Whether to drop an engine's database after its last iteration."""
        asked = self.asked
        return not (self._alone() or asked.no_keep_schema or asked.no_cleanup_between_engines)

    def _cleanup(self, unit):
        """Drops an engine's database after its last iteration; keeps that of a failed one for another try."""
        name = self.args.tpcc_db
        holder = self.keeps(name)
        if holder is None or not holder.startswith(f"{unit.engine} ") or not self.journal.result(f"{holder} end"):
            return
        try:
            self.server.connection.sql(f"DROP DATABASE IF EXISTS `{name}`")
            self.journal.finish(f"{holder} end", {"dropped": True})
        except Failed as error:
            self.progress.say(f"{unit.engine}: its database could not be dropped: {error}")

    def _restarts(self):
        return not self._alone() and not self.asked.no_restart

    def _preparation(self):
        if self._restarts():
            yield f"restart: {self.asked.restart_command}"
        if not self.asked.no_drop_cache:
            yield "drop the page cache"

    def before(self, unit):
        if self._restarts():
            _as_root(shlex.split(self.asked.restart_command))
            _wait_for(self.server.connection)
        if not self.asked.no_drop_cache:
            _as_root(["sh", "-c", "sync; echo 3 > /proc/sys/vm/drop_caches"])

    def measure(self, unit, step):
        return self._by_harness(unit, step) if self.asked.harness else super().measure(unit, step)

    def _by_harness(self, unit, step):
        """An iteration by another program, known only by the row that it leaves."""
        self.before(unit)
        folder = self.directory / unit.folder
        folder.mkdir(parents=True, exist_ok=True)
        kept = not self._alone() and not self.asked.no_keep_schema and unit != self.units[0]
        watched.run([*harness_options(self.asked, unit.engine, kept), "-o", folder], folder / "harness.log",
                    lambda line, _: step.note(line.strip()), {options.PASSWORD_VARIABLE: self.asked.password},
                    patience_s=_HARNESS_ENDS_S)
        csv = max(folder.glob("hammerdb_results_*.csv"), default=None)
        if csv is None:
            raise Failed(f"the harness left no hammerdb_results_*.csv in {folder}")
        row = runs.plain(hammerdb_csv.read(figures.read(csv), csv)[0])
        if row.get("nopm") is None:
            raise Failed(f"the harness measured no NOPM: {csv}")
        step.note(study.summary(row))
        logs = next(iter(sorted(folder.glob(f"hammerdb_logs_*/{unit.engine}_tpcc"))), folder)
        return [runs.run_of(row, logs, ENGINE_NAMES[unit.engine], unit.repetition, [], self.directory)], {"row": row}

    def tables(self):
        rows = [row for _, row in self.done()]
        self.csv.write_text(hammerdb_csv.write(rows))
        read = hammerdb_csv.read(self.csv.read_text(), self.csv)
        (self.merged / "summary.md").write_text(merge.markdown(read, self.journal.history()))

    def report(self):
        super().report()
        if self.done():
            say(f"\n{(self.merged / 'summary.md').read_text()}\nresults: {self.merged}")

    def say_what_is_kept(self):
        if not self._alone() and self.journal and self.keeps(self.args.tpcc_db):
            say(f"Until then the database {self.args.tpcc_db} is kept.")


def _as_root(argv):
    argv = argv if host.is_root() else ["sudo", "-n", *argv]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=clean_environment(),
                          check=False)
    if done.returncode != 0:
        raise Failed(f"{shlex.join(argv)} ended with {done.returncode}: {done.stderr.strip()}")


def _wait_for(connection):
    for _ in range(120):
        try:
            connection.sql("SELECT 1")
            return
        except Failed as error:
            last = error
            time.sleep(1)
    raise Failed(f"the server does not answer after its restart: {last}")
