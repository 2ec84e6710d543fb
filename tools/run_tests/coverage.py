"""The lines and branches of the engine that its own tests reach: unit tests and the simulation, by gcov."""

import json
from collections import defaultdict
from pathlib import Path

from installer.shell import TREE, run
from tools.run_tests.engine import JOBS, ctest

_BUILD = TREE / "build" / "coverage"

# Tests and code that only they use; and the simulation's code, which is in no release.
_LEFT_OUT = (r".*_(test|bench|fuzz)\.cc", r".*(_test_util|_harness|/test_\w+|/fuzz_input)\.(h|cc)",
             r"src/base/(sim_\w+|failpoint)\.(h|cc)", r"src/io/(mem_(disk|files|fs|world)|fault_rules)\.(h|cc)")

# No test can survive the failing branch of a CHECK; a failpoint's branches are not in a release.
_NO_BRANCHES = r".*\b(D?CHECK(_MSG|_OK)?|TIDESDB_(FAILPOINT|PLANTED)\w*)\("


def shares(files):
    """By folder and in total: [lines run, lines, branches taken, branches]. files: of gcovr's summary."""
    sums = defaultdict(lambda: [0] * 4)
    for file in files:
        numbers = [file[f"{what}_{count}"] for what in ("line", "branch") for count in ("covered", "total")]
        for key in (str(Path(file["filename"]).parent), "all"):
            sums[key] = [a + b for a, b in zip(sums[key], numbers)]
    return dict(sorted(sums.items(), key=lambda item: (item[0] == "all", item[0])))


def table(sums):
    """A Markdown table of shares."""
    lines = ["| folder | lines | of | branches | of |", "|---|---|---|---|---|"]
    for folder, (ran, of_lines, taken, ways) in sums.items():
        lines.append(f"| {folder} | {_percent(ran, of_lines)} | {of_lines} | {_percent(taken, ways)} | {ways} |")
    return "\n".join(lines) + "\n"


def _percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "none"


def whole(context):
    """Prints the table and writes it to `coverage.md` beside the log; `html/index.html` shows each line."""
    for old in _BUILD.rglob("*.gcda"):
        old.unlink()
    outcome = ctest("coverage", context)
    report(context)
    return outcome


def report(context):
    """The summary of the counters that the tests have left."""
    summary, html = context.directory / "summary.json", context.directory / "html"
    html.mkdir()
    run(["gcovr", "-j", JOBS, "--root", TREE, "--filter", "src/", "--filter", "include/",
         *(f"--exclude={name}" for name in _LEFT_OUT), f"--exclude-branches-by-pattern={_NO_BRANCHES}",
         "--exclude-throw-branches", "--exclude-unreachable-branches", "--json-summary", summary,
         "--html-details", html / "index.html", _BUILD], log=context.log, cwd=TREE)
    said = table(shares(json.loads(summary.read_text(encoding="utf-8"))["files"]))
    (context.directory / "coverage.md").write_text(said, encoding="utf-8")
    print("".join(f"    {line}\n" for line in said.splitlines()), end="", flush=True)
