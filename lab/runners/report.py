"""python3 -m lab.report: writes the report of results.

  python3 -m lab.report innodb.json tidesdb.json -o page.html    results of `tpcc run --json` or of `iibench run --json`
  python3 -m lab.report bench.json -o page.html                  results of `tidesdb bench`
  python3 -m lab.report results_20261122_120000                  a runner's folder: writes its report there again
"""

import argparse
from pathlib import Path

from installer.shell import Failed, say
from lab.reports import markdown, page, write
from lab.runners import pick


def run(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m lab.report", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="RESULT", help="the others are compared with the first")
    parser.add_argument("-o", "--output", metavar="PAGE.html", type=Path,
                        help="write only the page, here; without this option a folder gets all its files")
    parser.add_argument("--title")
    parser.add_argument("-q", "--quiet", action="store_true", help="no tables on the terminal")
    options = parser.parse_args(arguments)
    study = pick.study(options.results)
    study.title = options.title or study.title
    if not study.runs:
        raise Failed(f"{options.results[0]}: has no finished measurement")
    if not options.quiet:
        say(markdown.figures(study))
    try:
        if options.output:
            options.output.write_text(page.render(study), encoding="utf-8")
        elif Path(options.results[0]).is_dir():
            for path in write.write(study, options.results[0]):
                say(f"report: {path}")
    except OSError as error:
        raise Failed(str(error)) from error
    return 0

