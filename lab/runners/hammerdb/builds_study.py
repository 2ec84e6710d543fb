"""hammerdb_runner.sh --build: builds × repetitions, each on a fresh copy of data that one of them loaded."""

from lab.record import turns
from lab.runners.hammerdb import builtin, runs, server, study
from lab.runners.hammerdb.study import Unit
from lab.runners.hammerdb.watch import Watch
from lab.server import profiles
from lab.server.private_server import memory_limit
from lab.study import copies
from lab.study.progress import Step

_AROUND_S = 12  # For a copy, and a server's start and end.


def units(labels, repetitions):
    """In their order: neighbours in labels are measured one after the other, and take turns at being first."""
    return [Unit(label, "tpcc", f"rep{repetition}/{label} tpcc", f"rep{repetition}/{label}_tpcc", repetition)
            for repetition in range(1, repetitions + 1) for label in turns.in_turn(labels, repetition)]


class BuildsStudy(study.Tprocc, copies.OnCopies):
    """Owns: directory (hammerdb_logs_*), and in it the data of OnCopies."""

    def __init__(self, args, directory, plan):
        super().__init__(args, directory, plan)
        self.specs = args.builds
        self.units = units([spec.label for spec in args.builds], args.repetitions)

    def prepare(self, log):
        super().prepare(log)
        args = self.args
        self.limit = memory_limit(args.memory_max, args.profile)
        self.generator = builtin.Builtin(args, log)
        self.binaries |= self.generator.binaries
        self.told = {build.label: self._options(build) for build in self.builds.values()}
        self.unequal, self.configuration = runs.unequal(args, self.generator.name, self.limit.said), runs.asked(args)

    def steps(self):
        expected = self.generator.expected_s
        return [*(Step(copies.load_name(build), expected("build", "tpcc"), "load") for build in self.groups),
                *(Step(unit.name, _AROUND_S + self.args.settle + expected("run", "tpcc"), "run") for unit in self.units)]

    def _options(self, build):
        return [*profiles.options(self.args.profile, build.engine, self.args.sync), *build.options]

    load_options = _options

    def fill(self, server_, build, step):
        connection, directory = server.connection_of(server_), self.directory / f"load_{build.data}"
        directory.mkdir(exist_ok=True)
        self.generator.build(connection, build.engine.lower(), "tpcc", directory, step.note)
        step.note("ANALYZE")
        study.analyze(connection, self.args.tpcc_db)

    def measure(self, unit, step):
        build, directory = self.builds[unit.label], self.directory / unit.folder
        directory.mkdir(parents=True, exist_ok=True)
        with self.fresh(build, self._options(build), self.limit) as measured:
            connection = server.connection_of(measured)
            step.rest(self.args.settle)
            with Watch(measured, directory) as watch:
                found = self.generator.run(connection, build.engine.lower(), "tpcc", directory, step.note, watch.begin)
        row = self.row(unit, (self.journal.result(copies.load_name(build)) or {}).get("seconds"), found)
        step.note(study.summary(row))
        return self.measured(unit, row, unit.label, self._options(build))
