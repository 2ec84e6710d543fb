"""python3 -m lab.report: see --help; runners/report.py."""

from installer.shell import main
from lab.runners.report import run

if __name__ == "__main__":
    main(run)
