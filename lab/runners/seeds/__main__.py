"""lab/seed_studies.sh: repeats each seed's study with our runners, scaled to this machine, beside the seed's figures.

  lab/seed_studies.sh --dry-run                                   shows the commands, and how long each takes
  lab/seed_studies.sh                                             all studies without a PGO build
  lab/seed_studies.sh --pgo-plugin pgo/ha_tidesdb.so              also seed 003, and seed 000's rows with PGO
  lab/seed_studies.sh --only 001-deletes,004
  lab/seed_studies.sh --publish docs/benchmarks/DATE-seeds        publishes the small files, and all checksums

  study        what                                                                      minutes (with --pgo-plugin)
{costs}

000, 001-cache and 002 are one run, because they share a workload and a my.cnf. 001-bulk and 001-index are another,
because they share a load. The same command in the same directory resumes an interrupted run, and another --only
adds to it. The directory has index.html and index.md.
"""

import argparse
import shlex
import sys
from dataclasses import asdict
from pathlib import Path

from installer import host
from installer.shell import TREE, Failed, main, say
from lab.base import watched
from lab.base.arguments import above_zero
from lab.record import form
from lab.runners.seeds import charts, index, left, ours, publish, studies
from lab.runners.seeds.texts import TEXTS
from lab.study import sitting
from lab.study.journal import Journal
from lab.study.progress import Progress, Step, duration

JOURNAL = "seed_studies.jsonl"
_SWEEPS = {"001-bulk": "one INSERT ... SELECT", "001-index": "one ALTER TABLE, three indexes"}  # As the chart names them.
_RUNNER_ENDS_S = 180  # It stops its server.


def costs():
    """A line for each study alone: its minutes without a PGO build, and with a plugin."""
    lines = []
    for study, text in TEXTS.items():
        alone, pgo = (sum(run.seconds for run in studies.runs(studies.Wanted((study,), pgo_plugin=plugin)))
                      for plugin in ("", "x"))
        lines.append(f"  {study:12} {text.title:72.72} {alone / 60:5.0f} ({pgo / 60:.0f})")
    whole = (sum(run.seconds for run in studies.runs(studies.Wanted(pgo_plugin=plugin))) / 60 for plugin in ("", "x"))
    lines.append("  {:12} {:72} {:5.0f} ({:.0f})".format("all", "", *whole))
    return "\n".join(lines)


def parser():
    it = argparse.ArgumentParser(prog="seed_studies.sh", formatter_class=argparse.RawDescriptionHelpFormatter,
                                 description=__doc__.replace("{costs}", costs()))
    add = it.add_argument
    add("--only", metavar="LIST", help=f"of {','.join(studies.STUDIES)}")
    add("--scale-down", type=above_zero, default=1, metavar="N", help="divides rows and warehouses further (%(default)s)")
    add("--minutes", type=above_zero, default=1, metavar="M",
        help="of a TPROC-C measurement; all other times change in proportion (%(default)s)")
    add("--server", choices=list(host.CODENAMES), help="the release of servers and of given ones (this machine's)")
    add("--pgo-plugin", type=Path, metavar="PATH", help="a ha_tidesdb.so with PGO, for that server")
    add("--pgo-server", type=Path, metavar="PATH", help="a mariadbd with PGO, for which --pgo-plugin is built")
    add("--plain-plugin", type=Path, metavar="PATH", help="the plugin to compare with (this tree's)")
    add("--plain-server", type=Path, metavar="PATH", help="the server to compare with (Debian's); needs --plain-plugin")
    add("-o", "--output-dir", type=Path, default=TREE / "var" / "seed_studies", metavar="DIR", help="(var/seed_studies)")
    add("--publish", type=Path, metavar="DIR", help="at the end copy the small files to DIR, with the SHA-256 of all files")
    add("--note", action="append", default=[], metavar="TEXT",
        help="a sentence for the page, about the builds or about something that went wrong")
    add("--dry-run", action="store_true", help="show what would run, and end")
    return it


def wanted_of(args):
    """The Wanted of a command line. Raises Failed."""
    chosen = tuple(args.only.split(",")) if args.only else studies.STUDIES
    unknown = [study for study in chosen if study not in studies.STUDIES]
    if unknown:
        raise Failed(f"--only: {unknown[0]} is not known; known are {', '.join(studies.STUDIES)}")
    if args.plain_server and not args.plain_plugin:
        raise Failed("--plain-server: needs --plain-plugin, a ha_tidesdb.so compiled for it")
    paths = {}
    for name in ("plain_server", "plain_plugin", "pgo_server", "pgo_plugin"):
        path = getattr(args, name)
        if path is not None and not path.is_file():
            raise Failed(f"--{name.replace('_', '-')}: {path}: there is no such file")
        paths[name] = str(path.resolve()) if path else ""
    return studies.Wanted(chosen, args.scale_down, args.minutes, args.server or host.host_server(), **paths)


def command_of(argv):
    """The command for the same figures, without the options for their place."""
    kept, aside = [], False
    for word in argv:
        if aside:
            aside = False
        elif word in ("-o", "--output-dir", "--publish", "--note"):
            aside = True
        elif not word.startswith(("--output-dir=", "--publish=", "--note=")):
            kept.append(word)
    return shlex.join(["lab/seed_studies.sh", *kept])


def describe(runs, said):
    """The plan, as text."""
    lines = [f"{form.plural(len(runs), 'run')}, about {duration(sum(run.seconds for run in runs))}:"]
    for run in runs:
        seeds = ", ".join(study for study in run.studies if study != studies.OF_NO_SEED)
        lines += [f"  {run.name}{f' (seed {seeds})' if seeds else ''}, about {duration(run.seconds)}: {run.about}",
                  f"    {run.command}"]
    return "\n".join([*lines, *said])


def _run_of(result):
    """The Run of a journal's entry."""
    return studies.Run(**{**result, "studies": tuple(result["studies"]), "options": tuple(result["options"]),
                          "environment": tuple(map(tuple, result["environment"]))})


class Sitting:
    """Owns: directory, with a folder for each run."""

    def __init__(self, directory, runs, said, command=""):
        self.directory, self.runs, self.said, self.command = Path(directory), runs, said, command
        self.whole = {}  # By folder, the finished runs, also of earlier sittings.

    def go(self):
        """Runs the unfinished ones; returns how many failed."""
        failed = 0
        with Journal(self.directory / JOURNAL, "seed_studies", {}) as journal:
            self.whole = {name: _run_of(result) for name, result in journal.results().items()}
            steps = [Step(left.folder_of(run), run.seconds, run.name) for run in self.runs]
            # Lines instead of a live view, because each is worth keeping.
            with Progress("seed studies", steps, live=False) as self.progress:
                for run in self.runs:
                    failed += sitting.once(journal, self.progress, left.folder_of(run),
                                           lambda step, run=run: self._run(run, step)) is False
            if not failed:
                journal.end()
        return failed

    def _run(self, run, step):
        """Returns the journal's entry: the run itself, for the index of a later sitting."""
        folder = self.directory / left.folder_of(run)
        folder.mkdir(parents=True, exist_ok=True)

        def on_line(line, _pid):
            if line.startswith("["):  # A step of the runner.
                self.progress.say(f"    {line}")
            elif line.strip():
                step.note(line.strip())

        try:
            watched.run(left.command_of(run, folder, TREE), folder / "runner.log", on_line,
                        left.environment_of(run, folder), cwd=TREE, patience_s=_RUNNER_ENDS_S)
        except Failed as error:
            raise Failed(f"{error}\nTo start over instead of resuming, remove {folder}") from error
        self.whole[folder.name] = run
        return asdict(run)

    def write_index(self):
        """Returns the finished runs, and the finished part of failed or interrupted ones."""
        begun = {left.folder_of(run): run for run in self.runs if (self.directory / left.folder_of(run)).exists()}
        done = [left.done_of(run, self.directory, name in self.whole) for name, run in {**self.whole, **begun}.items()]
        self._draw(done)
        page = index.page(done, self.said, self.command)
        (self.directory / "index.md").write_text(page.markdown(), encoding="utf-8")
        (self.directory / "index.html").write_text(page.html(), encoding="utf-8")
        publish.write_figures(done, self.directory / publish.FIGURES)
        return done

    def _draw(self, done):
        """Draws the charts that no runner draws."""
        for one in done:
            swept = {name: ours.figures(study, one.study) for study, name in _SWEEPS.items()
                     if one.study and study in one.run.studies}
            if swept:
                drawn = charts.sweep(swept, self.directory / one.folder)
                one.charts = [str(path.relative_to(self.directory)) for path in drawn if path.suffix == ".png"]


def _main():
    args = parser().parse_args(sys.argv[1:])
    wanted = wanted_of(args)
    runs, said = studies.runs(wanted), [*studies.left_out(wanted), *args.note]
    if args.publish:
        publish.check(args.publish)  # Before hours of measuring, not after.
    say(describe(runs, said))
    if args.dry_run:
        return 0
    sitting.interrupt_on_term()
    it = Sitting(args.output_dir.resolve(), runs, said, command_of(sys.argv[1:]))
    try:
        failed = it.go()
    except KeyboardInterrupt:
        it.write_index()
        say(f"\ninterrupted; all its programs have ended. The same command resumes. So far: {it.directory / 'index.md'}")
        return 130
    done = it.write_index()
    say(f"index: {it.directory / 'index.html'}\nas text: {it.directory / 'index.md'}")
    if args.publish:
        say(publish.describe(publish.publish(done, said, it.command, it.directory, args.publish), args.publish))
    if failed:
        print(f"{failed} runs failed; the same command tries them again", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    main(_main)
