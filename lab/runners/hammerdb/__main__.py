"""lab/hammerdb_runner.sh: see --help."""

import sys
import time
from pathlib import Path

from installer.shell import Failed, main, say
from lab.runners.hammerdb import builds_study, options, study
from lab.study import sitting


def _resumed(args, argv):
    """The study that was interrupted, with the password of this command line."""
    directory = args.resume.resolve()
    plan = sitting.plan_of(directory / study.JOURNAL, "hammerdb", argv, ("--pass",))
    before = options.parse(plan["argv"])
    before.password = args.password or before.password
    before.partition_from = plan["partition_from"]
    return _study(before, directory, plan)


def _study(args, directory, plan):
    return (builds_study.BuildsStudy if args.builds else study.Study)(args, directory, plan)


def _new(args, argv):
    directory = args.output_dir.resolve() / time.strftime("hammerdb_logs_%Y%m%d_%H%M%S")
    sitting.make_directory("--output-dir", directory)
    return _study(args, directory, {**sitting.plan(argv), "partition_from": args.partition_from})


def _main():
    argv = sys.argv[1:]
    args = options.parse(argv)
    if args.plot_only is not None:
        sitting.make_directory("--output-dir", args.output_dir)
        study.plot([Path(path) for path in args.plot_only.split(",")], args.output_dir)
        return 0
    sitting.interrupt_on_term()
    it = _resumed(args, argv) if args.resume else _new(args, argv)
    try:
        return it.go()
    except KeyboardInterrupt:
        it.discard_if_empty()
        say(sitting.how_to_go_on("hammerdb_runner.sh", it.directory / study.JOURNAL))
        if it.directory.exists():
            say("Until then " + ("private servers' data are" if it.args.private_server is not None or it.args.builds else
                                 "its database is") + " kept.")
        return 130
    except Failed:
        it.discard_if_empty()
        raise


if __name__ == "__main__":
    main(_main)
