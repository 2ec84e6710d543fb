"""lab/sqlbench.sh: sysbench's workloads on several engines, by environment variables.

  TABLE_SIZES="500000" THREAD_COUNTS="4 8" TIME=240 ENGINES="InnoDB TidesDB" lab/sqlbench.sh

With no variables set it makes, measures and removes a server of its own; lab/README.md lists the variables. A run
that was interrupted goes on when the same command is given again (FRESH=1: begins anew).
"""

import argparse
import json
import os
import signal
import sys
import time

from installer.shell import TREE, Failed, main
from lab.harness import journal as journals
from lab.harness import provenance
from lab.harness.progress import Progress, Step
from lab.report import write
from lab.report.adapters import sqlbench as adapter
from lab.sqlbench import report, settings, tables, target, units

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
        self.output.mkdir(parents=True, exist_ok=True)
        binaries = {name: provenance.sha256(path) for name, path in server.binaries.items() if path}
        plan = json.loads(json.dumps({**wanted.plan(), "binaries": binaries}))
        self.stamp = _choose_stamp(self.output, plan, fresh)
        self.raw = self.output / f"raw_{self.stamp}"
        self.raw.mkdir(exist_ok=True)
        self.units = units.units(wanted)
        self.journal = journals.Journal(self.output / f"journal_{self.stamp}.jsonl", "sqlbench", plan)
        self.facts = provenance.collect(places.data if places.data.exists() else self.output, server.binaries)

    def figures(self):
        """Of all that is measured."""
        done = [(unit, self.journal.result(unit.name)) for unit in self.units]
        return [tables.Figures(unit, result, self.raw) for unit, result in done if result]

    def _write_tables(self):
        return tables.write(self.output, self.stamp, self.figures(), self.settings.warmup_s)

    def measure(self):
        """Everything that is not done yet; returns how many failed."""
        failed = 0
        steps = [Step(unit.name, unit.expected_s(self.settings), unit.engine) for unit in self.units]
        with Progress("sqlbench", steps) as progress:
            for unit in self.units:
                if self.journal.result(unit.name):
                    progress.already(unit.name)
                    continue
                self.journal.begin(unit.name)
                try:
                    with progress.step(unit.name) as step:
                        result = units.measure(unit, self.settings, self.server, step, self.raw / unit.file_name)
                except Failed as error:
                    failed += 1
                    self.journal.fail(unit.name, str(error))
                    progress.say(f"    {error}")
                    continue
                self.journal.finish(unit.name, result)
                self._write_tables()
        if not failed:
            self.journal.end()
        return failed

    def report(self):
        """Writes the report; returns its path."""
        paths = self._write_tables()
        files = {path.name: provenance.sha256(path) for path in paths.values()}
        files |= {f"{self.raw.name}/{name}": digest for name, digest in provenance.checksums(self.raw).items()}
        sentences = settings.unequal(self.settings)
        if isinstance(self.server, target.RunningServer):
            sentences += self.server.differences()
        figures, history = self.figures(), self.journal.history()
        (self.output / f"provenance_{self.stamp}.json").write_text(
            json.dumps({**self.facts, "unequal": sentences}, indent=1) + "\n")
        path = self.output / f"report_{self.stamp}.md"
        path.write_text(report.markdown(figures, self.settings, sentences, history, self.facts, files,
                                        self.server.sizes_at_rest), encoding="utf-8")
        whole = {"kind": "sqlbench", "format": 1, "settings": self.settings.plan(), "unequal": sentences,
                 "history": history, "provenance": self.facts, "files": files,
                 "measurements": [one.plain() for one in figures]}
        (self.output / f"result_{self.stamp}.json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        if figures:
            write.write_page(adapter.study(self.output, self.stamp), path.with_suffix(".html"))
        return path, paths


def _plot(paths, output, stamp):
    from lab.charts import sqlbench as charts  # Here: matplotlib is for those who plot.
    directory = output / f"charts_{stamp}"
    drawn = charts.plot(paths["summary"], paths["detail"], directory)
    print(f"{len(drawn)} files of charts in {directory}")


def _stop_in_order(*_):
    raise KeyboardInterrupt  # As Ctrl-C: what was started is stopped, and the journal knows where it was.


def _main():
    parser = argparse.ArgumentParser(prog="sqlbench.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # As nohup sets it.
            signal.signal(number, _stop_in_order)
    wanted, places = settings.read(os.environ), settings.read_places(os.environ)
    kind = target.RunningServer if places.socket and not places.mysqld else target.OwnServers
    server = kind(wanted, places, LOG)
    try:
        server.prepare()
        run = Run(wanted, places, server, fresh=os.environ.get("FRESH") == "1")
        with run.journal:
            failed = run.measure()
            path, paths = run.report()
    finally:
        server.close()
    print("\n".join(["", "Most transactions a second:", *report.top(run.figures()), ""]))
    if run.figures() and os.environ.get("PLOT", "1") != "0":
        _plot(paths, run.output, run.stamp)
    print(f"Report: {path}")
    if failed:
        print(f"{failed} measurements failed; the same command tries them again", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    main(_main)
