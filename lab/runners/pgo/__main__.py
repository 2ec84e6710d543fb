"""lab/pgo_study.sh: is one build faster than another? Builds × memory tiers × threads × repetitions of sysbench.

  lab/pgo_study.sh --build plain server=debian12 plugin=plain/ha_tidesdb.so \\
                   --build pgo   server=debian12 plugin=pgo/ha_tidesdb.so
  lab/pgo_study.sh --profile seed-003 --scale 0.01 --build no-pgo mysqld=/opt/mysql/bin/mysqld --build pgo server=mysql-9.7

The other builds are compared with the first. After LABEL give KEY=VALUE words:
  server=debian12 | debian13     Debian's server (python3 -m installer servers)
  server=mysql-9.7               MySQL 9.7, if it is installed
  mariadbd=PATH, mysqld=PATH     any other server; basedir=, plugin-dir=, client= if they are not beside it;
                                 also server=, if it was compiled for another Debian than this machine's
  engine=InnoDB|TidesDB|RocksDB  default: TidesDB if plugin= is given, else InnoDB
  plugin=PATH | built            a ha_tidesdb.so, or this tree's
  allocator=NAME | PATH          jemalloc, mimalloc, tcmalloc, or a library to preload; checked in the running process
  option=--NAME=VALUE            an option for the server; may be repeated
  data=NAME                      builds with one NAME share loaded data; default: those of one version and engine

Use --resume DIRECTORY to continue an interrupted study.
"""

import argparse
import sys
from pathlib import Path

from installer.shell import Failed, main
from lab.runners.pgo import settings
from lab.runners.pgo.study import Study
from lab.server import profiles
from lab.server import builds as builds_of
from lab.study import core


def _parser():
    parser = argparse.ArgumentParser(prog="pgo_study.sh", allow_abbrev=False, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="append", nargs="+", default=[], metavar=("LABEL", "KEY=VALUE"))
    parser.add_argument("--profile", default="fair", choices=profiles.known(), help="settings, of lab/profiles; "
                        "seed-003 also sets that study's tiers, threads, sizes and times unless they are given")
    parser.add_argument("--sync", choices=["NONE", "FULL"], help="whether commits are synced")
    parser.add_argument("--workload", default="oltp_read_write", help="of sysbench")
    parser.add_argument("--tiers", help="caches, with :LIMIT for all memory (a cgroup; needs root): 2G,12G:16G")
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
    parser.add_argument("-o", "--output", type=Path, metavar="DIRECTORY", help="default pgo_study_TIME")
    parser.add_argument("--resume", type=Path, metavar="DIRECTORY", help="resume the study in DIRECTORY")
    parser.add_argument("--keep-data", action="store_true", help="keep the loaded data")
    return parser


def wanted_of(args):
    """The Wanted of a command line. Raises Failed."""
    presets = settings.SEED_003 if args.profile == "seed-003" else settings.SMALL
    given = {name: getattr(args, name) if getattr(args, name) is not None else preset for name, preset in presets.items()}
    for name in ("repetitions", "tables", "rows", "seconds"):
        if given.get(name, args.repetitions) < 1:
            raise Failed(f"--{name}: must be a number from 1")
    for name in ("warmup_read", "warmup_write", "pause"):
        if given[name] < 0:
            raise Failed(f"--{name.replace('_', '-')}: must be a number from 0")
    if not 0 < args.scale <= 1000:
        raise Failed(f"--scale: {args.scale}: must be a number above 0")
    if args.scale_down <= 0:
        raise Failed(f"--scale-down: {args.scale_down}: must be a number above 0")
    return settings.Wanted(args.profile, given["sync"], args.workload, settings.tiers(given["tiers"], args.scale),
                           settings.numbers(given["threads"], "--threads"), args.repetitions, given["tables"],
                           profiles.scaled_down(given["rows"], args.scale_down / args.scale), given["warmup_read"],
                           given["warmup_write"], given["seconds"], given["pause"])


def parse_builds(words):
    """The Specs of --build. Raises Failed."""
    if len(words) < 2:
        raise Failed("--build: give at least two, or there is nothing to compare")
    return builds_of.parse_all(words)


def parse(argv):
    """The options, checked; with --resume those of the interrupted study."""
    args = _parser().parse_args(argv)
    if not args.resume:
        args.wanted, args.specs = wanted_of(args), parse_builds(args.build)
    return args


def _also_keep(begun, args):
    begun.keep_data = begun.keep_data or args.keep_data


def run(argv):
    return core.run(Study, parse, "pgo_study", argv, ("--keep-data",), _also_keep,
                    lambda args, new: args.output or Path(new))


if __name__ == "__main__":
    main(lambda: run(sys.argv[1:]))
