"""lab/iibench_runner.sh: see --help."""

import sys
import time

from installer.shell import main, say
from lab.runners.iibench import options, study
from lab.runners.iibench.record import JOURNAL, KIND
from lab.study import sitting


def _main():
    argv = sys.argv[1:]
    args = options.parse(argv)
    if args.resume:
        directory = args.resume.resolve()
        plan = sitting.plan_of(directory / JOURNAL, KIND, argv)
        args = options.parse(plan["argv"])
    else:
        directory, plan = args.output_dir.resolve() / time.strftime("iibench_%Y%m%d_%H%M%S"), sitting.plan(argv)
    it = study.Study(args, directory, plan)
    sitting.interrupt_on_term()
    try:
        return it.go()
    except KeyboardInterrupt:
        say(sitting.how_to_go_on("iibench_runner.sh", directory / JOURNAL))
        return 130


if __name__ == "__main__":
    main(_main)
