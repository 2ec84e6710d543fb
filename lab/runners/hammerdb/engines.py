"""lab/mariadb_engines_runner.sh: see --help."""

import sys

from installer.shell import main
from lab.runners.hammerdb import engines_options as options
from lab.runners.hammerdb.iterations import Iterations
from lab.study import core


def _again(begun, args):
    begun.password = args.password or begun.password
    begun.skip_preflight = begun.skip_preflight or args.skip_preflight
    begun.dry_run = args.dry_run


def run(argv):
    return core.run(Iterations, options.parse, "results", argv, ("--pass", "--skip-preflight", "--dry-run"), _again)


if __name__ == "__main__":
    main(lambda: run(sys.argv[1:]))
