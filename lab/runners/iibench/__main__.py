"""lab/iibench_runner.sh: see --help."""

import sys

from installer.shell import main
from lab.runners.iibench import options
from lab.runners.iibench.study import Study
from lab.study import core

if __name__ == "__main__":
    main(lambda: core.run(Study, options.parse, "iibench", sys.argv[1:]))
