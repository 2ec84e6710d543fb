#!/usr/bin/env python3
"""Draws the charts of sqlbench: plot_results.py --summary SUMMARY.csv --detail DETAIL.csv --outdir DIRECTORY"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from installer.shell import Failed, main  # noqa: E402
from lab.runners.sqlbench import charts as sqlbench  # noqa: E402


def _main():
    parser = argparse.ArgumentParser(prog="plot_results.py", description=__doc__)
    parser.add_argument("--summary", type=Path, metavar="CSV")
    parser.add_argument("--detail", type=Path, metavar="CSV")
    parser.add_argument("--outdir", type=Path, default=Path("charts"), metavar="DIRECTORY", help="default: charts")
    args = parser.parse_args()
    if not args.summary and not args.detail:
        parser.error("give --summary, --detail, or both")
    try:
        drawn = sqlbench.plot(args.summary, args.detail, args.outdir, lambda text: print(text, file=sys.stderr))
    except OSError as error:
        raise Failed(f"{error.filename}: {error.strerror}") from error
    print(f"{len(drawn)} files in {args.outdir}")


if __name__ == "__main__":
    main(_main)
