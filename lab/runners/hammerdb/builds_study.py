"""hammerdb_runner.sh --build: builds × repetitions, each on a fresh copy of data that one of them loaded."""

import time

from installer import apt, packages
from installer.shell import Failed, say
from lab.record import provenance, turns
from lab.runners.hammerdb import builtin, server, study
from lab.runners.hammerdb.watch import Watch
from lab.server import profiles
from lab.server import builds as builds_of
from lab.server.loaded_data import LoadedData, groups_of
from lab.server.private_server import memory_limit
from lab.study import sitting
from lab.study.journal import BINARIES, Journal
from lab.study.progress import Progress, Step
from lab.study.scratch import Scratch

_AROUND_S = 12  # A copy made, a server's start and end.


def units(labels, repetitions):
    """(repetition, label) in their order: neighbours in labels are measured one after the other, each first in turn."""
    return [(repetition, label) for repetition in range(1, repetitions + 1)
            for label in turns.in_turn(labels, repetition)]


def work_of(repetition, label):
    """The name of a measurement's work: of its steps, and with _ for blanks of its folder."""
    return f"rep{repetition}/{label} tpcc"


class BuildsStudy(study.Study):
    """Owns: as Study; and directory/server-data, where loaded data is while it runs or waits to be resumed."""

    def go(self):
        """Runs what is left of the plan. Returns the exit code: 1 when a step failed."""
        args, log = self.args, self.directory / "build.log"
        apt.install(packages.LAB_PYTHON, log)
        builds = [builds_of.resolve(spec, log) for spec in args.builds]
        self.limit = memory_limit(args.memory_max, args.profile)
        self.generator = builtin.Builtin(args, log)
        self.builds, self.groups = {build.label: build for build in builds}, groups_of(builds)
        self.units = units(list(self.builds), args.repetitions)
        binaries = {name: path for build in builds for name, path in build.binaries().items()} | self.generator.binaries
        told = {build.label: self._options(build) for build in builds}
        plan = {**self.plan, turns.KEY: turns.ORDER, BINARIES: provenance.sums(binaries, told)}
        with Journal(self.directory / study.JOURNAL, "hammerdb", plan) as self.journal, Scratch() as sockets:
            self.data = LoadedData(self.directory / "server-data", sockets)
            self.data.stop_left_over(builds)
            self._write_facts(binaries, {"limit": self.limit.said}, told)
            failed = self._all()
            if failed:
                say(f"What failed is tried again by: hammerdb_runner.sh --resume {self.directory}")
            else:
                self.journal.end()
                self.data.remove()
            self._report()
        return 1 if failed else 0

    def _steps(self):
        expected, settle = self.generator.expected_s, self.args.settle
        return [*(Step(f"load {build.data}", expected("build", "tpcc"), "load") for build in self.groups),
                *(Step(f"{work_of(*unit)} run", _AROUND_S + settle + expected("run", "tpcc"), "run")
                  for unit in self.units)]

    def _all(self):
        """Returns how many failed."""
        failed = 0
        with Progress(f"TPROC-C on {', '.join(self.builds)}", self._steps()) as self.progress:
            for build in self.groups:
                wanted = any(self.journal.result(f"{work_of(*unit)} run") is None for unit in self.units
                             if self.builds[unit[1]].data == build.data)
                if wanted and not self.data.is_loaded(build):
                    self._load(build)
                else:
                    self.progress.already(f"load {build.data}")
            for unit in self.units:
                failed += sitting.once(self.journal, self.progress, f"{work_of(*unit)} run",
                                       lambda step, unit=unit: self._measure(*unit, step)) is False
        return failed

    def _options(self, build):
        return [*profiles.options(self.args.profile, build.engine, self.args.sync), *build.options]

    def _of_the_server(self, error):
        return error  # A server is a step's own, which has asked it.

    def _load(self, build):
        """Data that all builds of a group are measured on: without it there is nothing to measure."""
        directory = self.directory / f"load_{build.data}"
        directory.mkdir(exist_ok=True)
        with self._journaled(f"load {build.data}") as (step, found):
            loader = self.data.loader(build, self._options(build))
            try:
                loader.start()
                connection, begin = server.connection_of(loader), time.monotonic()
                self.generator.build(connection, build.engine.lower(), "tpcc", directory, step.note)
                seconds = time.monotonic() - begin
                step.note("ANALYZE")
                study.analyze(connection, self.args.tpcc_db)
            except Failed as error:
                raise loader.failed(error) from error
            finally:
                loader.stop()
            found.update(self.data.loaded(build, loader, seconds))
            step.note(f"{found['seconds']} s, {found['bytes'] >> 20:,} MB")

    def _measure(self, repetition, label, step):
        """One run. What the journal keeps: its row."""
        args, build = self.args, self.builds[label]
        directory = self.directory / work_of(repetition, label).replace(" ", "_")
        directory.mkdir(parents=True, exist_ok=True)
        measured = self.data.fresh(build, self._options(build), self.limit)
        try:
            measured.start()
            measured.check_allocator()
            connection = server.connection_of(measured)
            step.rest(args.settle)
            with Watch(measured, directory) as watch:
                figures = self.generator.run(connection, build.engine.lower(), "tpcc", directory, step.note, watch.begin)
        except Failed as error:
            raise measured.failed(error) from error
        finally:
            measured.kill()  # Its data is thrown away: what it would still write out is not waited for.
            measured.end()
            self.data.forget()
        row = {"benchmark": "tpcc", "engine": label, "repetition": repetition, "warehouses": args.warehouses,
               "virtual_users": args.tpcc_vu, "rampup_min": args.rampup, "duration_min": args.duration,
               "settle_sec": args.settle, "build_sec": self._load_seconds(build), **figures}
        step.note(study.summary(row))
        return row

    def _load_seconds(self, build):
        return (self.journal.result(f"load {build.data}") or {}).get("seconds")
