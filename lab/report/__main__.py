"""Compares results of `tpcc run --json`: python3 -m lab.report RESULT.json... [-o PAGE.html]"""

import argparse
import sys
from pathlib import Path

from lab.report import page, table
from lab.report.charts import SERIES_MAX
from lab.report.results import ResultError, load_all


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="lab.report", description=__doc__)
    parser.add_argument("results", nargs="+", metavar="RESULT.json",
                        help="the first is what the others are compared with")
    parser.add_argument("-o", "--output", metavar="PAGE.html", help="write the page here")
    parser.add_argument("--title", default="TPROC-C")
    parser.add_argument("-q", "--quiet", action="store_true", help="no table on the terminal")
    options = parser.parse_args(arguments)
    if len(options.results) > SERIES_MAX:
        parser.error(f"at most {SERIES_MAX} results fit on one page")
    try:
        results = load_all(options.results)
        if not options.quiet:
            print(table.text(results), end="")
        if options.output:
            Path(options.output).write_text(page.render(results, options.title), encoding="utf-8")
    except (ResultError, OSError) as error:
        print(f"lab.report: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
