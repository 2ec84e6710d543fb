"""python3 -m lab.hammerdb: see --help; lab/hammerdb_runner.sh is the same."""

import json
import signal
import sys
import time
from pathlib import Path

from installer.shell import Failed, main, say
from lab.hammerdb import options, study

# What --resume may say besides: where things are, not what is measured.
_SECRET = ("--pass",)


def _without_secrets(argv):
    kept, skip = [], False
    for argument in argv:
        if skip:
            skip = False
        elif argument in _SECRET:
            skip = True
        elif not argument.startswith(tuple(f"{name}=" for name in _SECRET)):
            kept.append(argument)
    return kept


def _journal_s_plan(directory):
    try:
        with open(directory / study.JOURNAL) as journal:
            return json.loads(journal.readline())["plan"]
    except (OSError, ValueError, KeyError) as error:
        raise Failed(f"--resume {directory}: holds no journal of an interrupted run ({error!r})") from error


def _interrupted(_number, _frame):
    raise KeyboardInterrupt


def _resumed(args):
    """The study that was interrupted, with the password of this command line."""
    directory = args.resume.resolve()
    plan = _journal_s_plan(directory)
    before = options.parse(plan["argv"])
    before.password = args.password or before.password
    before.partition_from = plan["partition_from"]
    return study.Study(before, directory, plan)


def _new(args, argv):
    output = args.output_dir.resolve()
    directory = output / time.strftime("hammerdb_logs_%Y%m%d_%H%M%S")
    try:
        directory.mkdir(parents=True)
    except OSError as error:
        raise Failed(f"--output-dir {output}: {error}") from error
    # Paths that mean the same from another working directory.
    if args.hammerdb_dir:
        argv = [*argv, "-H", str(args.hammerdb_dir.expanduser().resolve())]
    return study.Study(args, directory, {"argv": _without_secrets(argv), "partition_from": args.partition_from})


def _main():
    argv = sys.argv[1:]
    args = options.parse(argv)
    if args.plot_only:
        args.output_dir.mkdir(parents=True, exist_ok=True)
        study.plot([Path(path) for path in args.plot_only.split(",") if path], args.output_dir)
        return 0
    signal.signal(signal.SIGTERM, _interrupted)
    it = _resumed(args) if args.resume else _new(args, argv)
    try:
        return it.go()
    except KeyboardInterrupt:
        say(f"\ninterrupted; what was started is ended. Go on with: hammerdb_runner.sh --resume {it.directory}")
        return 130
    except Failed:
        it.discard_if_empty()
        raise


if __name__ == "__main__":
    main(_main)
