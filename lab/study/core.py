"""The core of every runner: options, units, and one measure() that returns a unit's Runs. Has plan, resume and report.

    class Study(core.Study):
        kind, command = "iibench_runner", "iibench_runner.sh"
        def prepare(self, log): ...             # Builds what is needed; sets binaries, told, unequal and so on.
        def measure(self, unit, step): ...      # [Run, ...], and more for the journal.

    main(lambda: core.run(Study, options.parse, "iibench", argv))
"""

import shutil
import time
from pathlib import Path

from installer import apt, packages
from installer.shell import Failed, say
from lab.record import form, provenance, turns
from lab.reports import markdown, write
from lab.study import room, sitting, written
from lab.study.journal import BINARIES, Journal
from lab.study.progress import Progress, Step
from lab.study.scratch import Scratch


_LOG = "build.log"


class Study:
    """Owns: directory, and while it runs sockets, a folder in /tmp.

    A unit has a name, the same as its step's, and a repetition.
    """

    kind = ""     # In the journal: a run of another kind is not resumed.
    command = ""  # As the user types it.
    packages = packages.LAB_PYTHON
    smaller = "use --scale-down to make it smaller, or -o to put it elsewhere"
    charts = True   # The charts of every report; False for a runner with its own charts.
    figures_said = True  # Print the report's figures on the terminal.
    paired = False  # Builds of one program took turns.

    def __init__(self, args, directory, plan):
        self.args, self.directory, self.plan = args, Path(directory), plan
        self.units, self.labels, self.failed, self._new = [], [], 0, False
        # Set by prepare(). binaries: by name the paths of the measured programs and the tools; told: by engine or build the
        # options of its server. Both must be the same when a run is resumed.
        self.binaries, self.told = {}, {}
        self.unequal, self.configuration = [], []
        self.reports, self.report_name, self.journal = self.directory, "report", None

    @staticmethod
    def drawn(args):
        """Entries of a new run's plan besides its command line."""
        return {}

    def needs_bytes(self):
        """The estimated size of the servers' data."""
        return 0

    def prepare(self, log):
        """Builds and looks up everything needed, before anything is written."""

    def identity(self):
        """By name, checksums that must be the same when it is resumed."""
        return provenance.sums(self.binaries, self.told)

    def whole_plan(self):
        """What must be the same for figures to belong together."""
        return {**self.plan, turns.KEY: turns.ORDER, BINARIES: self.identity()}

    def how_again(self):
        """The command that tries failed measurements again."""
        return f"{self.command} --resume {self.directory}"

    def steps(self):
        """The steps of work(), for the progress."""
        return [Step(unit.name, self.expected_s(unit), "measurement") for unit in self.units]

    def work(self):
        """Does everything that is not done yet."""
        for unit in self.units:
            self.once(unit)

    def measure(self, unit, step):
        """The unit's Runs, and a dictionary for the journal. Raises Failed."""
        raise NotImplementedError

    def title_and_about(self):
        """Of the report."""
        raise NotImplementedError

    def tables(self):
        """Writes a runner's own tables of finished units. Called after each unit, and before the report."""

    def beside(self):
        """Paths of a runner's own tables outside its directory."""
        return []

    def finished(self):
        """Called when all units are done: loaded data may be removed."""

    def once(self, unit):
        """Measures a unit unless an earlier sitting did. True: now; None: before; False: it failed, with a message."""
        def measured(step):
            runs, kept = self.measure(unit, step)
            return {**written.save(self.directory, unit.name, runs), **kept}

        done = sitting.once(self.journal, self.progress, unit.name, measured)
        self.failed += done is False
        if done:
            self.tables()
        return done

    def go(self):
        """Does the remaining work, and reports. Returns the exit code: 1 if a unit failed."""
        self._new = not self.directory.exists()
        sitting.make_directory("--output-dir", self.directory)
        log = self.directory / _LOG
        apt.install(list(self.packages), log)
        self.prepare(log)
        room.require(self.directory, self.needs_bytes(), self.smaller)
        with Journal(self.directory / written.JOURNAL, self.kind, self.whole_plan()) as self.journal, \
                Scratch() as self.sockets:
            self._write_header()
            with Progress(self.kind, self.steps()) as self.progress:
                self.work()
            if not self.failed:
                self.finished()
            self.report()
            if not self.failed:
                self.journal.end()
        return 1 if self.failed else 0

    def _write_header(self):
        title, about = self.title_and_about()
        written.write_header(self.directory, {
            "kind": self.kind, "title": title, "about": about + self.said_order(), "unequal": self.unequal,
            "configuration": self.configuration, "provenance": self.facts(), "labels": self.labels,
            "units": len(self.units), "paired": self.paired})

    def said_order(self):
        """A sentence about the order of measurements."""
        return turns.said(max((unit.repetition for unit in self.units), default=1))

    def facts(self):
        """The provenance of the figures."""
        return provenance.collect(self.directory, self.binaries)

    def report(self):
        """Writes the report in all its forms, and prints its figures."""
        study = written.read(self.directory)
        for sentence in study.history:
            say(sentence)
        if self.failed:
            say(f"{form.plural(self.failed, 'measurement')} failed; to try again: {self.how_again()}")
            self.say_what_is_kept()
        if not study.runs:
            return
        self.tables()
        if self.figures_said:
            say("\n" + markdown.figures(study))
        for path in write.write(study, self.reports, charts=self.charts, name=self.report_name):
            say(f"report: {path}")
        provenance.write_checksums(self.directory, (written.JOURNAL,), self.beside())  # A journal goes on.

    def say_what_is_kept(self):
        """Saves the state for a later sitting."""

    def discard_if_empty(self):
        """Removes the folder if nothing was begun in it."""
        if self._new and not (self.directory / written.JOURNAL).exists():
            shutil.rmtree(self.directory, ignore_errors=True)


def _refuse_what_is_there(directory):
    """Raises Failed if the directory of a new run is not empty."""
    if (directory / written.JOURNAL).exists():
        raise Failed(f"-o: {directory} has a study; resume it with --resume {directory}, or choose another directory")
    if directory.exists() and any(path.name != _LOG for path in directory.iterdir()):
        raise Failed(f"-o: {directory} is not empty and not a study; choose another directory")


def run(runner, parse, name, argv, also=(), again=None, place=lambda args, new: args.output_dir / new, kind_of=None):
    """The exit code of a runner's command line: a new run in -o DIR/NAME_TIME, or with --resume an interrupted one.

    also: options allowed beside --resume; again: copies their values into the options from the run's beginning.
    place: the directory of a new run, from the options and NAME_TIME; kind_of: the class of runner, from the options, if it
    has several.
    """
    args = parse(argv)
    if args.resume:
        directory = args.resume.resolve()
        plan = sitting.plan_of(directory / written.JOURNAL, runner.kind, argv, also)
        begun = parse(plan["argv"])
        if again:
            again(begun, args)
        it = (kind_of or (lambda _: runner))(begun)(begun, directory, plan)
    else:
        directory = place(args, time.strftime(f"{name}_%Y%m%d_%H%M%S")).resolve()
        _refuse_what_is_there(directory)
        it = (kind_of or (lambda _: runner))(args)(args, directory, {**sitting.plan(argv), **runner.drawn(args)})
    sitting.interrupt_on_term()
    try:
        return it.go()
    except KeyboardInterrupt:
        say(sitting.how_to_go_on(runner.command, it.directory / written.JOURNAL))
        it.discard_if_empty()
        it.say_what_is_kept()
        return 130
    except Failed:
        it.discard_if_empty()
        raise
