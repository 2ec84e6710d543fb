"""python3 -m lab.mix: the real mix, a few minutes: mysql-test-run, TPROC-C, sysbench, iibench.

  python3 -m lab.mix train --build pgo server=debian12 plugin=instrumented/ha_tidesdb.so --counters DIR -o DIR
      Runs the whole mix on private servers of that build, so that these write their counters to DIR.
  python3 -m lab.mix compare --build plain server=debian12 plugin=A/ha_tidesdb.so \\
                             --build pgo server=debian12 plugin=B/ha_tidesdb.so -o DIR
      Runs the works of the mix on both in turn; DIR/gain.md and gain.json have the second build's gain. Resumes an
      interrupted run.
  python3 -m lab.mix count --build plain server=debian12 plugin=A/ha_tidesdb.so \
                           --build pgo server=debian12 plugin=B/ha_tidesdb.so -o DIR
      Measures a transaction's cost for each build with callgrind. DIR/counts.md and counts.json have instructions and
      simulated misses of caches and branches. Load on the machine does not change them; the server's background threads do.

--build is explained by lab/pgo_study.sh --help: mariadbd=PATH basedir=DIR is any other server.
"""

import argparse
import shutil
from pathlib import Path

from installer import apt, host, packages, servers
from installer.shell import Failed, main, say
from lab.record import provenance
from lab.runners.mix import compare, count, train, works
from lab.server import builds as builds_of
from lab.study import copies, sitting, written
from lab.study.journal import can_resume
from lab.study.progress import Progress
from lab.study.scratch import Scratch
from lab.works import generators

_MTR_SUITE = "tidesdb"


def _parser():
    it = argparse.ArgumentParser(prog="python3 -m lab.mix", description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = it.add_subparsers(required=True)
    for name, function in (("train", _train), ("compare", _compare), ("count", _count)):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        command.add_argument("--build", action="append", nargs="+", required=True, metavar=("LABEL", "KEY=VALUE"))
        command.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="for servers and their output")
        if name == "count":
            command.add_argument("--works", default=",".join(count.TRANSACTIONS), metavar="LIST", help="(%(default)s)")
            continue
        command.add_argument("--generators", type=Path, metavar="DIR", help="where to build the load generators "
                             "(build/lab; programs for another system need another place)")
        command.add_argument("--seconds", type=int, default=10 if name == "train" else 5, help="of each work (%(default)s)")
        if name == "train":
            command.add_argument("--counters", type=Path, required=True, metavar="DIR",
                                 help="where the instrumented build writes its .gcda files")
            command.add_argument("--engines", default="TidesDB", metavar="LIST",
                                 help="engines of the tables; for a whole server TidesDB,InnoDB (%(default)s)")
            command.add_argument("--tests", default=_MTR_SUITE, metavar="LIST",
                                 help="suites or tests for mysql-test-run; may be empty (%(default)s)")
        else:
            command.add_argument("--rounds", type=int, default=4, help="best an even number (%(default)s)")
    return it


def _resolve(words, log):
    spec = builds_of.parse(words)
    if spec.server in host.CODENAMES:
        servers.prepare(spec.server, log, tests=True)
    return builds_of.resolve(spec, log)


def _tools(args, log):
    where = {"directory": args.generators.absolute()} if args.generators else {}
    return works.Tools(*(generators.program(name, log, **where) for name in ("tpcc", "iibench")))


def _begun(args):
    """Returns the log of the preparation."""
    args.output = args.output.absolute()
    args.output.mkdir(parents=True, exist_ok=True)
    log = args.output / "build.log"
    apt.install(packages.SYSBENCH, log)
    return log


def _ready(args):
    """(builds, tools, log)"""
    log = _begun(args)
    builds = [_resolve(words, log) for words in args.build]
    for build in builds:
        # For mysql-test-run and the counters; a server sees its own files.
        for path, what in ((args.output, "-o"), (getattr(args, "counters", None), "--counters"), (build.plugin, "plugin")):
            if path:
                builds_of.check_visible(build.environment, path.absolute(), what)
    return builds, _tools(args, log), log


def _tests(args, build):
    """Names for mysql-test-run; none, with a message, if the server has no test suite."""
    wanted = [name for name in args.tests.split(",") if name]
    try:
        build.environment.mtr_dir
    except Failed as error:
        if wanted:
            say(f"  without mysql-test-run: {error}")
        return []
    return wanted


def _train(args):
    if len(args.build) != 1:
        raise Failed("train: give one --build")
    (build,), tools, _ = _ready(args)
    counters = train.Counters(args.counters.absolute())
    # A socket's path must be short, but a build may lie deep.
    with Scratch() as sockets:
        training = train.Training(build, tools, args.output, sockets, counters, args.seconds, args.engines.split(","),
                                  _tests(args, build))
        with Progress("training", training.steps()) as progress:
            training.run(progress)
    return 0


def _compare(args):
    if len(args.build) != 2 or args.rounds < 2:
        raise Failed("compare: needs two --build and at least two rounds")
    args.output = args.output.absolute()
    it, journal = compare.Comparison(args, lambda log: _tools(args, log)), args.output / written.JOURNAL
    args.output.mkdir(parents=True, exist_ok=True)
    it.prepare(args.output / "build.log")
    if not can_resume(journal, it.kind, it.whole_plan()):
        journal.unlink(missing_ok=True)  # It is finished or of other builds: start over.
        shutil.rmtree(args.output / copies.DATA, ignore_errors=True)
    return it.go()


def _count(args):
    chosen = args.works.split(",")
    unknown = [work for work in chosen if work not in count.TRANSACTIONS]
    if unknown:
        raise Failed(f"--works: {unknown[0]}: known are {', '.join(count.TRANSACTIONS)}")
    log = _begun(args)
    builds = [_resolve(words, log) for words in args.build]
    with Scratch() as sockets:
        counted = count.Count(builds, args.output, sockets, chosen)
        with Progress("counts", counted.steps()) as progress:
            found = counted.run(progress, log)
    binaries = {name: path for build in builds for name, path in build.binaries().items()}
    count.write(found, args.output, provenance.collect(args.output, binaries))
    say("\n" + count.table(found))
    return 0


def run():
    args = _parser().parse_args()
    sitting.interrupt_on_term()
    return args.function(args)


if __name__ == "__main__":
    main(run)
