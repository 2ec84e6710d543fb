"""One run of iibench_runner.sh: all measurements, with a journal and a report."""

import json
from pathlib import Path

from installer import apt, build_plugin, host, packages, servers
from installer.shell import say
from lab.record import provenance, turns
from lab.reports import markdown, write
from lab.runners.iibench import options, units
from lab.runners.iibench import record as adapter
from lab.server import profiles
from lab.server.private_server import memory_limit
from lab.study import room, sitting
from lab.study.journal import BINARIES, Journal
from lab.study.progress import Progress, Step
from lab.works import generators

_EXPECTED_S = 300  # Of a measurement, before one has been seen.


class Study:
    """Owns: directory (iibench_*)."""

    def __init__(self, args, directory, plan):
        self.args, self.directory, self.plan = args, Path(directory), plan
        self.units = units.units(args)
        self.failed = 0

    def go(self):
        """Measures what is not done yet, and reports. Returns the exit code: 1 when a measurement failed."""
        sitting.make_directory("--output-dir", self.directory)
        limit = memory_limit(self.args.memory_max, self.args.profile)
        room.require(self.directory, room.SERVER + options.rows_most(self.args) * room.IIBENCH_ROW,
                     "--scale-down makes it smaller, -o names another place")
        measurer, facts = self._prepare(limit)
        sums = {name: of["sha256"] for name, of in facts["provenance"]["binaries"].items()}
        sums |= provenance.sums({}, facts["options"])
        plan = {**self.plan, turns.KEY: turns.ORDER, BINARIES: sums}
        with Journal(self.directory / adapter.JOURNAL, adapter.KIND, plan) as self.journal:
            (self.directory / adapter.FACTS).write_text(json.dumps(facts, indent=1) + "\n")
            with Progress("iibench", [Step(unit.name, _EXPECTED_S, "measurement") for unit in self.units]) as progress, \
                    measurer:
                for unit in self.units:
                    self._unit(unit, measurer, progress)
            if not self.failed:
                self.journal.end()
        self._report()
        return 1 if self.failed else 0

    def _prepare(self, limit):
        """Builds what is needed. Returns what measures, and what the report says besides figures."""
        args, log, name = self.args, self.directory / "build.log", self.args.server or host.host_server()
        apt.install(packages.LAB_PYTHON, log)
        wanted = {engine: options.server_options(args, engine, {}) for engine in args.engine_names}
        needs = {"tests": "RocksDB" in wanted, "more": servers.providers([o for of in wanted.values() for o in of])}
        plugin = None
        if "TidesDB" in wanted:
            environment, plugin = build_plugin.prepare_and_build(name, log, **needs)
        else:
            environment = servers.prepare(name, log, **needs)
        tool = generators.program("iibench", log)
        binaries = {"mariadbd": environment.mariadbd, "ha_tidesdb.so": plugin, "iibench": tool}
        facts = {"provenance": provenance.collect(self.directory, binaries), "version": environment.version,
                 "unequal": [f"Profile {args.profile}: {profiles.about(args.profile)}", limit.said],
                 "options": wanted, "asked": adapter.asked(args)}
        return units.Measurer(args, self.directory, environment, plugin, tool, limit), facts

    def _unit(self, unit, measurer, progress):
        def measured(step):
            found = measurer.measure(unit, step.note)
            step.note(units.phases_of(self.directory / "raw" / f"{unit.stem}.json"))
            return {**found, "engine": unit.engine, "condition": unit.condition, "repetition": unit.repetition}

        self.failed += sitting.once(self.journal, progress, unit.name, measured) is False

    def _report(self):
        study = adapter.study(self.directory)
        for sentence in study.history:
            say(sentence)
        if not study.runs:
            return
        say("\n" + markdown.figures(study))
        for path in write.write(study, self.directory):
            say(f"report: {path}")
        provenance.write_checksums(self.directory)
