"""lab/pgo_study.sh: does a build gain over another one? Builds × memory tiers × threads × repetitions of sysbench.

  lab/pgo_study.sh --build plain server=debian12 plugin=plain/ha_tidesdb.so \\
                   --build pgo   server=debian12 plugin=pgo/ha_tidesdb.so
  lab/pgo_study.sh --profile seed-003 --scale 0.01 --build no-pgo mysqld=/opt/mysql/bin/mysqld --build pgo server=mysql-9.7

The first build is what the others are compared with. LABEL is followed by KEY=VALUE words:
  server=debian12 | debian13     Debian's server (python3 -m installer servers)
  server=mysql-9.7               MySQL 9.7 where it is installed
  mariadbd=PATH, mysqld=PATH     any other server; basedir=, plugin-dir=, client= where they are not beside it;
                                 server= beside it: the Debian that it was compiled for, where this machine's is another
  engine=InnoDB|TidesDB|RocksDB  TidesDB where plugin= is given, else InnoDB
  plugin=PATH | built            of a ha_tidesdb.so, or this tree's
  allocator=NAME | PATH          jemalloc, mimalloc, tcmalloc, or a library to preload; checked in the running process
  option=--NAME=VALUE            more of the server's options, any number
  data=NAME                      builds of one NAME share loaded data; without: those of one version and engine

A study that was interrupted goes on with --resume DIRECTORY.
"""

import argparse
import fcntl
import json
import os
import shutil
import sys
import time
from pathlib import Path

from installer import apt, packages
from installer.shell import Failed, main, say
from lab.record import provenance, turns
from lab.reports import markdown, write
from lab.runners.pgo import measure, settings
from lab.runners.pgo import record as adapter
from lab.server import loaded_data, profiles
from lab.server import builds as builds_of
from lab.study import sitting
from lab.study.journal import Journal
from lab.study.progress import Progress, Step
from lab.study.scratch import Scratch

_ROWS_PER_S = 40_000
_AROUND_S = 8  # A server's start and stop.
_MARK = ".pgo-study"


def _parser():
    parser = argparse.ArgumentParser(prog="pgo_study.sh", allow_abbrev=False, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="append", nargs="+", default=[], metavar=("LABEL", "KEY=VALUE"))
    parser.add_argument("--profile", default="fair", choices=profiles.known(), help="settings, of lab/profiles; "
                        "seed-003 also means that study's tiers, threads, sizes and times where they are not given")
    parser.add_argument("--sync", choices=["NONE", "FULL"], help="whether commits are synced")
    parser.add_argument("--workload", default="oltp_read_write", help="of sysbench")
    parser.add_argument("--tiers", help="caches, with :LIMIT for all memory (a cgroup; takes root): 2G,12G:16G")
    parser.add_argument("--threads", help="numbers of connections")
    parser.add_argument("--repetitions", type=int, default=4, help="best an even number (default 4)")
    parser.add_argument("--tables", type=int)
    parser.add_argument("--rows", type=int, help="of each table")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies rows and tiers")
    profiles.add_scale_down(parser.add_argument)
    parser.add_argument("--seconds", type=int, help="of each measurement")
    parser.add_argument("--warmup-read", type=int, metavar="S", help="seconds of oltp_read_only before it")
    parser.add_argument("--warmup-write", type=int, metavar="S", help="seconds of the workload before it")
    parser.add_argument("--pause", type=int, metavar="S", help="seconds of rest before it")
    parser.add_argument("-o", "--output", type=Path, help="directory; default pgo_study_TIME")
    parser.add_argument("--resume", type=Path, metavar="DIRECTORY", help="goes on with the study there")
    parser.add_argument("--keep-data", action="store_true", help="leaves the loaded data where it is")
    return parser


def wanted_of(args):
    """The Wanted of a command line. Raises Failed."""
    presets = settings.SEED_003 if args.profile == "seed-003" else settings.SMALL
    given = {name: getattr(args, name) if getattr(args, name) is not None else preset for name, preset in presets.items()}
    for name in ("repetitions", "tables", "rows", "seconds"):
        if given.get(name, args.repetitions) < 1:
            raise Failed(f"--{name}: a number from 1 is wanted")
    for name in ("warmup_read", "warmup_write", "pause"):
        if given[name] < 0:
            raise Failed(f"--{name.replace('_', '-')}: a number from 0 is wanted")
    if not 0 < args.scale <= 1000:
        raise Failed(f"--scale: {args.scale}: a number above 0 is wanted")
    if args.scale_down <= 0:
        raise Failed(f"--scale-down: {args.scale_down}: a number above 0 is wanted")
    return settings.Wanted(args.profile, given["sync"], args.workload, settings.tiers(given["tiers"], args.scale),
                           settings.numbers(given["threads"], "--threads"), args.repetitions, given["tables"],
                           profiles.scaled_down(given["rows"], args.scale_down / args.scale), given["warmup_read"],
                           given["warmup_write"], given["seconds"], given["pause"])


def parse_builds(words):
    """The Specs of --build. Raises Failed."""
    specs = [builds_of.parse(each) for each in words]
    if len(specs) < 2:
        raise Failed("--build: two of them are wanted at least, or there is nothing to compare")
    if len({spec.label for spec in specs}) < len(specs):
        raise Failed("--build: each label once")
    return specs


class Study:
    """Owns: output, where results are, and output/data, where servers and loaded data are while it runs."""

    def __init__(self, wanted, builds, output, arguments):
        self.wanted, self.output = wanted, output
        self.builds = {build.label: build for build in builds}
        self.units = settings.units(wanted, list(self.builds))
        self.groups = loaded_data.groups_of(builds)
        told = {f"{label} ({tier})": options for label, of in self._options().items() for tier, options in of.items()}
        sums = provenance.sums({name: path for build in builds for name, path in build.binaries().items()}, told)
        self.journal = Journal(output / adapter.JOURNAL, adapter.KIND,
                               {**wanted.plan(), "builds": {build.label: _plain(build) for build in builds},
                                "binaries": sums, "arguments": arguments, "cwd": os.getcwd(), turns.KEY: turns.ORDER})
        self.place = None

    def _steps(self):
        wanted = self.wanted
        load_s = 15 + wanted.rows * wanted.tables / _ROWS_PER_S
        each_s = (_AROUND_S + wanted.warmup_read + wanted.warmup_write + wanted.pause + wanted.seconds
                  + settings.disk_wanted_bytes(wanted, 0) / 400e6)
        return [*(Step(_load_name(build), load_s, "load") for build in self.groups),
                *(Step(unit.name, each_s, "run") for unit in self.units)]

    def check_disk(self):
        free, needs = shutil.disk_usage(self.output).free, settings.disk_wanted_bytes(self.wanted, len(self.groups))
        if free < needs:
            raise Failed(f"{self.output}: has {free / 1e9:.1f} GB free, and the data takes about {needs / 1e9:.1f} GB; "
                         "--scale makes it smaller, -o names another place")

    def write_facts(self):
        """What the report says besides figures."""
        binaries = {name: path for build in self.builds.values() for name, path in build.binaries().items()}
        binaries["sysbench"] = shutil.which("sysbench")
        facts = {"provenance": provenance.collect(self.output, binaries), "unequal": self._unequal(),
                 "options": self._options()}
        (self.output / adapter.FACTS).write_text(json.dumps(facts, indent=1) + "\n")

    def _options(self):
        """By build and tier, what its server is told."""
        return {build.label: {tier.condition: settings.server_options(self.wanted, build, tier)
                              for tier in self.wanted.tiers} for build in self.builds.values()}

    def _unequal(self):
        of = self.builds.values()
        said = [f"Profile {self.wanted.profile}, its cache replaced by the tier's: {profiles.about(self.wanted.profile)}",
                self._limits()]
        for what, values in (("server", [f"{b.flavour} {b.version}" for b in of]), ("engine", [b.engine for b in of]),
                             ("options", [" ".join(b.options) or "none" for b in of]),
                             ("allocator", [b.preload.rsplit("/", 1)[-1] or "the program's own" for b in of])):
            if len(set(values)) > 1:
                said.append(f"Of the builds not the same: {what} ("
                            + ", ".join(f"{label}: {value}" for label, value in zip(self.builds, values)) + ").")
        if len(self.groups) > 1:
            said.append("Data: " + "; ".join(f"{group.label} loaded its own" for group in self.groups)
                        + ". How each load came to lie on disk is part of what is measured.")
        return said

    def _limits(self):
        """Which tiers have a limit of memory: none but a tier's own counts, whatever the profile says."""
        limited = [tier.condition for tier in self.wanted.tiers if tier.limit]
        if not limited:
            return "No server has a limit of memory, whatever the profile says of one: no tier names it."
        said = f"Limits of a server's memory, its page cache counted: {', '.join(limited)}"
        return said + ("." if len(limited) == len(self.wanted.tiers) else "; the other tiers have none.")

    def run(self):
        """Everything that is not done yet; returns how many failed."""
        failed = 0
        with Progress("pgo study", self._steps()) as progress:
            for build in self.groups:
                self._load(build, progress)
            for unit in self.units:
                failed += sitting.once(self.journal, progress, unit.name, lambda step, unit=unit: measure.measure(
                    unit, self.builds, self.place, self.wanted, step, self.output)) is False
        if not failed:
            self.journal.end()
        return failed

    def _load(self, build, progress):
        name = _load_name(build)
        if self.place.is_loaded(build) or self._nothing_left(build):
            progress.already(name)
            return
        self.journal.begin(name)
        with progress.step(name) as step:
            self.journal.finish(name, measure.load(build, self.place, self.wanted, step))

    def _nothing_left(self, group):
        return all(self.journal.result(unit.name) for unit in self.units if self.builds[unit.label].data == group.data)

    def report(self):
        study = adapter.study(self.output)
        if not study.runs:
            return
        paths = write.write(study, self.output)
        provenance.write_checksums(self.output, (_MARK,))
        say("\n" + markdown.figures(study).split("\n## Throughput")[0])
        for path in paths:
            say(f"report: {path}")


def _load_name(build):
    return f"load {build.data}"


def _plain(build):
    return {"engine": build.engine, "server": f"{build.flavour} {build.version}", "options": list(build.options),
            "allocator": build.preload.rsplit("/", 1)[-1], "data": build.data}


def _take(output):
    """Makes or takes the directory, locked as long as this process lives. Raises Failed for what is somebody else's."""
    if output.exists() and any(output.iterdir()) and not (output / _MARK).exists():
        raise Failed(f"-o: {output} holds something that is no study; name another directory")
    output.mkdir(parents=True, exist_ok=True)
    lock = open(output / _MARK, "a", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise Failed(f"{output}: another study works there") from error
    return lock


def _arguments(argv):
    """The command line that counts, and its output directory: with --resume that of the interrupted study."""
    parser = _parser()
    args = parser.parse_args(argv)
    if not args.resume:
        args.output = (args.output or Path(time.strftime("pgo_study_%Y%m%d_%H%M%S"))).absolute()
        if (args.output / adapter.JOURNAL).exists():
            raise Failed(f"-o: {args.output} has a study; go on with --resume {args.output}, or name another directory")
        return args, argv
    sitting.refuse_options(argv, ("--keep-data",))
    output, keep_data = args.resume.absolute(), args.keep_data
    begun = adapter.record(output).plan
    sitting.go_where_it_was_begun(output, begun)
    args = parser.parse_args(begun["arguments"])
    args.output, args.keep_data = output, args.keep_data or keep_data
    return args, begun["arguments"]


def _main():
    args, argv = _arguments(sys.argv[1:])
    sitting.interrupt_on_term()
    wanted, specs = wanted_of(args), parse_builds(args.build)
    with _take(args.output):
        log = args.output / "build.log"
        apt.install(packages.SYSBENCH + packages.OBSERVE + packages.LAB_PYTHON, log)
        builds = [builds_of.resolve(spec, log) for spec in specs]
        return _run(Study(wanted, builds, args.output, argv), args)


def _run(study, args):
    data = args.output / "data"
    with study.journal, Scratch() as sockets:
        study.place = loaded_data.LoadedData(data, sockets)
        study.place.stop_left_over(study.builds.values())
        study.check_disk()
        study.write_facts()
        try:
            failed = study.run()
        except BaseException:
            say(f"\nInterrupted; go on with: lab/pgo_study.sh --resume {args.output} (its loaded data stays in {data})")
            raise
        if not args.keep_data and not failed:
            study.place.remove()
        study.report()
    if failed:
        print(f"{failed} measurements failed; --resume {args.output} tries them again", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    main(_main)
