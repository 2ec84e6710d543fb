"""python3 -m lab.compare: see --help; runners/compare/."""

from installer.shell import main
from lab.runners.compare.__main__ import run

if __name__ == "__main__":
    main(run)
