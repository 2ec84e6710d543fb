"""python3 -m lab.mix: see --help; runners/mix/."""

from installer.shell import main
from lab.runners.mix.__main__ import run

if __name__ == "__main__":
    main(run)
