"""lab/hammerdb_runner.sh: see --help."""

import sys

from installer.shell import main
from lab.runners.hammerdb import options, study
from lab.runners.hammerdb.builds_study import BuildsStudy
from lab.study import core, sitting


def _again(begun, args):
    begun.password = args.password or begun.password


def _kind_of(args):
    return BuildsStudy if args.builds else study.Study


def run(argv):
    args = options.parse(argv)
    if args.plot_only is not None:
        sitting.make_directory("--output-dir", args.output_dir)
        study.plot(args.plot_only.split(","), args.output_dir)
        return 0
    return core.run(study.Tprocc, options.parse, "hammerdb_logs", argv, ("--pass",), _again, kind_of=_kind_of)


if __name__ == "__main__":
    main(lambda: run(sys.argv[1:]))
