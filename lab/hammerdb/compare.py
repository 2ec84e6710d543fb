"""python3 -m lab.hammerdb.compare -H DIR [options of hammerdb_runner.sh] [--rounds N] [--calls N]: is the built-in
generator's work the real HammerDB's?

Each builds a database of its own on one server. First each procedure is called alone, --calls times a round (calls.py; 0:
not at all). Then both run in turn (built-in, HammerDB, HammerDB, built-in ...), each after a rest (--settle): what the
server counted is divided by the new orders of that time: statements, round trips, rows, bytes, and CPU time.
hammerdb_compare_TIME (-o says where) has the tables and what both generators said; --resume goes on with one that was
interrupted.
"""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

from installer.shell import Failed, main, say
from lab.hammerdb import builtin, calls, options, real, server
from lab.hammerdb.counted import CPU_APART_MAX, by_new_order, cpu_apart, markdown, status
from lab.hammerdb.study import analyze
from lab.harness import provenance, sitting, turns
from lab.harness.journal import BINARIES, Journal
from lab.harness.private_server import VERSIONS, versions_in
from lab.harness.progress import Progress, Step

KIND, JOURNAL, TABLES = "hammerdb_compare", "compare.jsonl", "compare.md"
_CALL_S = 0.01  # Of a procedure, in one session.


def in_turn(generators, rounds):
    """(round, generator): A B B A A B, so that a server that gets slower or faster does so for both."""
    for number in range(1, rounds + 1):
        yield from ((number, generator) for generator in turns.in_turn(generators, number))


class Comparison:
    """Owns: directory (hammerdb_compare_*); of a private server its data until the end."""

    def __init__(self, args, directory, plan):
        """args: those of hammerdb_runner.sh, with rounds and calls."""
        self.args, self.directory, self.plan = args, Path(directory), plan
        self.engine, = args.engines

    def go(self):
        """Does what is left of it. Returns the exit code: 1 where the server's CPU time is too far apart."""
        sitting.make_directory("--output-dir", self.directory)
        log = self.directory / "build.log"
        of_real = argparse.Namespace(**{**vars(self.args), "tpcc_db": f"{self.args.tpcc_db}_hammerdb"})
        self.generators = [builtin.Builtin(self.args, log), real.Real(of_real, log)]
        self.server = server.make(self.args, self.directory)
        self.server.check(self.args.engines)
        identities = [self.server.identity(), *(generator.identity() for generator in self.generators)]
        plan = {**self.plan, BINARIES: {name: of[name] for of in identities for name in of}}
        with Journal(self.directory / JOURNAL, KIND, plan) as self.journal:
            try:
                with Progress(" and ".join(self._names()), self._steps()) as self.progress:
                    self._measure(self.server.start(self.engine))
            finally:
                self.server.stop()
            if not self.args.keep_schema:
                self.server.remove(self.engine)
            self.journal.end()
            return self._report()

    def discard_if_empty(self):
        """Takes the folder away again when nothing was begun in it."""
        if not (self.directory / JOURNAL).exists():
            shutil.rmtree(self.directory, ignore_errors=True)

    def _names(self):
        return [generator.name for generator in self.generators]

    def _runs(self):
        """(step, generator)"""
        return [(f"round {number} {generator.name}", generator)
                for number, generator in in_turn(self.generators, self.args.rounds)]

    def _steps(self):
        made = [Step(f"build {each.name}", each.expected_s("build", "tpcc"), "build") for each in self.generators]
        if self.args.calls:
            made.append(Step("calls", self.args.calls * self.args.rounds * 2 * len(calls.NAMES) * _CALL_S))
        return made + [Step(name, self.args.settle + each.expected_s("run", "tpcc"), "run")
                       for name, each in self._runs()]

    def _once(self, name, work):
        """What a step found, now or in an earlier sitting. All of them are wanted: one that fails ends the sitting."""
        def on_the_server(step):
            try:
                return work(step)
            except Failed as error:
                raise self.server.failed(error) from error

        if sitting.once(self.journal, self.progress, name, on_the_server) is False:
            raise Failed(f"{name} failed; --resume {self.directory} tries it again")
        return self.journal.result(name)

    def _folder(self, name):
        """Of what a step leaves."""
        folder = self.directory / name.replace(" ", "_")
        folder.mkdir(exist_ok=True)
        return folder

    def _measure(self, connection):
        if self.journal.result("versions") is None:
            self.journal.finish("versions", versions_in(connection.sql(VERSIONS)))
        for generator in self.generators:
            self._take(connection, generator.args.tpcc_db)
            name = f"build {generator.name}"
            self._once(name, lambda step, of=generator, name=name: self._build(of, connection, name, step))
        if self.args.calls:
            databases = [generator.args.tpcc_db for generator in self.generators]
            self._once("calls", lambda _: calls.measure(connection, databases, self.args.warehouses, self.args.calls,
                                                        self.args.rounds))
        for name, generator in self._runs():
            self._once(name, lambda step, of=generator, name=name: self._run(of, connection, name, step))
        if not self.args.keep_schema:
            for generator in self.generators:
                connection.sql(f"DROP DATABASE IF EXISTS `{generator.args.tpcc_db}`")

    def _take(self, connection, database):
        """From here on a database of that name is this comparison's, also in a later sitting."""
        name = f"database {database}"
        if self.journal.result(name):
            return
        if connection.has_database(database) and not self.args.replace_schema:
            raise Failed(f"there is a database {database}: --replace-schema drops it, --tpcc-db names another one")
        self.journal.finish(name, {"name": database})

    def _build(self, generator, connection, name, step):
        database, begin = generator.args.tpcc_db, time.monotonic()
        connection.sql(f"DROP DATABASE IF EXISTS `{database}`")
        generator.build(connection, self.engine, "tpcc", self._folder(name), step.note)
        analyze(connection, database)
        return {"seconds": round(time.monotonic() - begin, 1)}

    def _run(self, generator, connection, name, step):
        database = generator.args.tpcc_db
        step.rest(self.args.settle)  # What the other generator left to flush, compact and purge is not this one's.
        before = status(connection, database)
        figures = generator.run(connection, self.engine, "tpcc", self._folder(name), step.note, lambda: None)
        figures.update(by_new_order(before, status(connection, database)))
        step.note(f"{figures['nopm']:,} NOPM, {figures['errors']} errors, server "
                  f"{figures.get('server_cpu_ms_per_neword', 0):.3f} ms a new order")
        return figures

    def _report(self):
        """Writes and says the tables. Returns the exit code."""
        runs = [(generator.name, self.journal.result(name)) for name, generator in self._runs()]
        called, apart = self.journal.result("calls"), cpu_apart(runs)
        parts = [calls.markdown(called)] if called else []
        parts.append(markdown(runs))
        if apart is not None:
            parts.append(f"The server's CPU time is {apart:.1%} apart; {CPU_APART_MAX:.0%} are allowed.\n")
        parts += [f"{sentence}\n" for sentence in self.journal.history()]
        facts = provenance.collect(self.directory, {**self.server.facts()[1], **self.generators[0].binaries})
        for name, version in self.journal.result("versions").items():
            facts["binaries"].setdefault("mariadbd" if name == "server" else name, {})["version"] = version
        (self.directory / "provenance.json").write_text(json.dumps(facts, indent=1) + "\n")
        (self.directory / TABLES).write_text("\n".join([*parts, provenance.markdown(facts)]))
        provenance.write_checksums(self.directory)
        say("\n" + "\n".join(parts) + f"\ntables and logs: {self.directory}")
        return 1 if apart is not None and apart > CPU_APART_MAX else 0


def parse(argv):
    """The options, checked. Raises Failed."""
    mine = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    mine.add_argument("--rounds", type=options.positive, default=3)
    mine.add_argument("--calls", type=int, default=1000)
    mine, rest = mine.parse_known_args(argv)
    args = options.parse([*rest, "--no-check"])
    if args.resume:
        return args
    if not args.hammerdb_dir or len(args.engines) != 1:
        raise Failed("name the real HammerDB (-H DIR) and one engine (-e)")
    # As HammerDB's own sessions have it.
    args.snapshot_isolation = "off" if real.version(args.hammerdb_dir).startswith("6") else "server"
    args.rounds, args.calls = mine.rounds, mine.calls
    return args


def _made(argv):
    args = parse(argv)
    if args.resume:
        directory = args.resume.resolve()
        plan = sitting.plan_of(directory / JOURNAL, KIND, argv, ("--pass",))
        before = parse(plan["argv"])
        before.password = args.password or before.password
        return Comparison(before, directory, plan)
    return Comparison(args, args.output_dir.resolve() / time.strftime("hammerdb_compare_%Y%m%d_%H%M%S"), sitting.plan(argv))


def _main():
    it = _made(sys.argv[1:])
    sitting.interrupt_on_term()
    try:
        return it.go()
    except KeyboardInterrupt:
        it.discard_if_empty()
        say(sitting.how_to_go_on("python3 -m lab.hammerdb.compare", it.directory / JOURNAL))
        return 130
    except Failed:
        it.discard_if_empty()
        raise


if __name__ == "__main__":
    main(_main)
