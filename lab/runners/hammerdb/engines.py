"""lab/mariadb_engines_runner.sh: see --help."""

import random
import sys
import time

from installer.shell import main, say
from lab.runners.hammerdb import engines_options as options
from lab.runners.hammerdb import engines_same_build as same_build
from lab.runners.hammerdb import engines_study as study
from lab.study import sitting


def _resumed(args, argv):
    directory = args.resume.resolve()
    plan = sitting.plan_of(directory / study.JOURNAL, "engines_runner", argv,
                           ("--pass", "--skip-preflight", "--dry-run"))
    before = options.parse(plan["argv"])
    before.password = args.password or before.password
    before.skip_preflight = before.skip_preflight or args.skip_preflight
    return study.Study(before, directory, plan)


def _new(args, argv):
    seed = args.seed if args.seed is not None else random.SystemRandom().randrange(1 << 31)
    directory = args.output_dir.resolve() / time.strftime("results_%Y%m%d_%H%M%S")
    return study.Study(args, directory, {**sitting.plan(argv), "seed": seed})


def _main():
    argv = sys.argv[1:]
    args = options.parse(argv)
    it = _resumed(args, argv) if args.resume else _new(args, argv)
    if args.dry_run:
        say(it.describe())
        return 0
    sitting.interrupt_on_term()
    try:
        if not it.args.skip_preflight:
            it.check()
        if args.resume:
            same_build.check(it.args, it.directory)
        return it.go()
    except KeyboardInterrupt:
        say(sitting.how_to_go_on("mariadb_engines_runner.sh", it.directory / study.JOURNAL))
        it.say_what_is_kept()
        return 130


if __name__ == "__main__":
    main(_main)
