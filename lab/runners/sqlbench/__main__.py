"""lab/sqlbench.sh: sysbench's workloads on several engines, by environment variables.

  TABLE_SIZES="500000" THREAD_COUNTS="4 8" TIME=240 ENGINES="InnoDB TidesDB" lab/sqlbench.sh

With no variables set it makes, measures and removes a server of its own; lab/README.md lists the variables. A run
that was interrupted goes on when the same command is given again (FRESH=1: begins anew).
"""

import argparse
import json
import os
import shutil
import sys
import time

from installer import apt, packages
from installer.shell import TREE, Failed, clean_environment, main
from lab.record import provenance, turns
from lab.reports import markdown, optional, write
from lab.runners.sqlbench import charts, settings, tables, target, units
from lab.runners.sqlbench import places as places_of
from lab.runners.sqlbench import record as adapter
from lab.runners.sqlbench.running import Running
from lab.server import private_server, profiles
from lab.study import sitting
from lab.study import journal as journals
from lab.study.progress import Progress, Step

LOG = TREE / "var" / "log" / "sqlbench.log"


def _choose_stamp(output, plan, fresh):
    """That of an interrupted run of the same plan in this directory, or a new one."""
    if not fresh:
        for path in sorted(output.glob("journal_*.jsonl"), reverse=True):
            if journals.can_resume(path, "sqlbench", plan):
                return path.stem.partition("_")[2]
    return time.strftime("%Y%m%d_%H%M%S")


class Run:
    """Owns: the files in the output directory that have its stamp."""

    def __init__(self, wanted, places, server, fresh):
        self.settings, self.output, self.server = wanted, places.output, server
        places_of.make(self.output, "OUTPUT_DIR")
        plan = json.loads(json.dumps({**wanted.plan(), turns.KEY: turns.ORDER, journals.BINARIES: server.identity()}))
        self.stamp = _choose_stamp(self.output, plan, fresh)
        self.raw = self.output / f"raw_{self.stamp}"
        self.units = units.units(wanted)
        journal = self.output / f"journal_{self.stamp}.jsonl"
        if not journal.exists():
            server.take_database(None)  # What is refused leaves no run that the same command would go on with.
        self.raw.mkdir(exist_ok=True)
        self.journal = journals.Journal(journal, "sqlbench", plan)
        self.facts = provenance.collect(places.data if places.data.exists() else self.output,
                                        {**server.binaries, "sysbench": shutil.which("sysbench")})

    def figures(self):
        """Of all that is measured."""
        done = [(unit, self.journal.result(unit.name)) for unit in self.units]
        return [tables.Figures(unit, result, self.raw) for unit, result in done if result]

    def _write_tables(self):
        return tables.write(self.output, self.stamp, self.figures(), self.settings.warmup_s)

    def _write_result(self, tables_paths):
        """What the report is made of."""
        whole = {"kind": "sqlbench", "format": adapter.FORMAT, "settings": self.settings.plan(),
                 turns.KEY: turns.ORDER, "unequal": [*settings.unequal(self.settings), *self.server.said()],
                 "options": {engine: self.server.options(engine) for engine in self.settings.engines},
                 "running": isinstance(self.server, Running), "history": self.journal.history(),
                 "provenance": self.facts,
                 "files": {**{path.name: provenance.sha256(path) for path in tables_paths.values()},
                           **{f"{self.raw.name}/{name}": digest
                              for name, digest in provenance.checksums(self.raw).items()}},
                 "measurements": [one.plain() for one in self.figures()]}
        path = self.output / adapter.result_name(self.stamp)
        path.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        return path

    def measure(self):
        """Everything that is not done yet; returns how many failed."""
        failed = 0
        steps = [Step(unit.name, unit.expected_s(self.settings), unit.engine) for unit in self.units]
        with Progress("sqlbench", steps) as progress:
            for unit in self.units:
                done = sitting.once(self.journal, progress, unit.name, lambda step, unit=unit: units.measure(
                    unit, self.settings, self.server, step, self.raw / unit.file_name))
                failed += done is False
                if done:
                    self._write_result(self._write_tables())
        return failed

    def go(self):
        """What is left of the run. Returns how many measurements failed, and what report() gives."""
        with self.journal:
            self.server.take_database(self.journal)
            failed = self.measure()
            reports, paths = self.report()
            if not failed:
                self.journal.end()  # Last: until then the same command makes what is missing.
        return failed, reports, paths

    def report(self):
        """Writes the report; returns the paths of its forms, and of the tables."""
        paths = self._write_tables()
        result = self._write_result(paths)
        if not self.figures():
            return [], paths
        study = adapter.study_of(result)
        print("\n" + markdown.figures(study))
        return write.write(study, self.output, charts=False, name=f"report_{self.stamp}"), paths


def _plot(paths, output, stamp):
    directory = output / f"charts_{stamp}"
    drawn = optional.drawn(lambda: charts.plot(paths["summary"], paths["detail"], directory))
    if drawn:
        print(f"{len(drawn)} files of charts in {directory}")


def _environment():
    """That of this process, with what the command line says of it."""
    parser = argparse.ArgumentParser(prog="sqlbench.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", metavar="NAME", help="PROFILE: the servers' settings and the sizes, of "
                                                          + ", ".join(profiles.known()))
    parser.add_argument("--sync", metavar="MODE", help="SYNC: with a profile, FULL or NONE")
    profiles.add_scale_down(parser.add_argument)
    private_server.add_memory_max(parser.add_argument)
    parser.set_defaults(scale_down=None)
    given = {name.upper(): str(value) for name, value in vars(parser.parse_args()).items() if value is not None}
    return {**os.environ, **given}


def _install():
    """sysbench must be there, for whatever server. Without the rest there is less to see, which is said when it is."""
    if not shutil.which("sysbench", path=clean_environment()["PATH"]):
        apt.install(packages.SYSBENCH, LOG)
    try:
        apt.install(packages.LAB_PYTHON, LOG)
    except Failed as error:
        print(f"{str(error).splitlines()[0]}; the figures are the same without", file=sys.stderr)


def _how_to_go_on(run, places):
    """What is said at the end of an interrupted run; run: None when it had not come to be one."""
    if run is None:
        return sitting.ENDED + "Nothing was measured."
    command = "the same command without FRESH=1" if places.fresh else "the same command"
    return sitting.ENDED + f"Go on with: {command}, which finds this run in OUTPUT_DIR={run.output}"


def _measured(wanted, places):
    """A run, and what its go() gives. An interruption says how to go on."""
    run, server = None, None
    try:
        _install()
        server = (Running if places.running else target.OwnServers)(wanted, places, LOG)
        server.prepare()
        run = Run(wanted, places, server, fresh=places.fresh)
        return run, *run.go()
    except KeyboardInterrupt:
        print(_how_to_go_on(run, places))
        raise
    finally:
        if server is not None:
            server.close()


def _main():
    environment = _environment()
    sitting.interrupt_on_term()
    wanted, places = settings.read(environment), places_of.read(environment)
    run, failed, reports, paths = _measured(wanted, places)
    for path in reports:
        print(f"Report: {path}")
    if reports and places.plot:
        _plot(paths, run.output, run.stamp)
    if failed:
        print(f"{failed} measurements failed; the same command tries them again", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    main(_main)
