"""Which lines and branches of the engine its own tests reach: unit tests and the simulation, by gcov."""

import json
import subprocess
from collections import defaultdict
from pathlib import Path

from installer.shell import TREE, Failed
from tools.run_tests.engine import ctest

_FOLDERS = ("src/", "include/")


class Reached:
    """Of one source file: how often each line ran, and each way out of each of its branches."""

    def __init__(self):
        self.lines = defaultdict(int)
        self.branches = defaultdict(int)  # By line and place in it.

    def add(self, lines):
        """What gcov says of one translation unit. The ways that only an exception takes are left out."""
        for line in lines:
            number = line["line_number"]
            self.lines[number] += line["count"]
            ways = [way for way in line["branches"] if not way["throw"]]
            for place, way in enumerate(ways if len(ways) > 1 else []):
                self.branches[number, place] += way["count"]

    @staticmethod
    def share(counts):
        """(those that ran, all)."""
        return sum(count > 0 for count in counts.values()), len(counts)


def read(said, found):
    """Adds one of gcov's JSON texts to found, by path in the tree."""
    for file in json.loads(said)["files"]:
        path = Path(file["file"])
        name = str(path.relative_to(TREE)) if path.is_absolute() and path.is_relative_to(TREE) else str(path)
        while name.startswith("../"):
            name = name[3:]
        if name.startswith(_FOLDERS) and "_test" not in name:
            found[name].add(file["lines"])


def folders(found):
    """Lines of text: each folder's shares, and those of all."""
    sums = defaultdict(lambda: [0] * 4)
    for name, reached in found.items():
        numbers = [*reached.share(reached.lines), *reached.share(reached.branches)]
        for key in (str(Path(name).parent), "all"):
            sums[key] = [a + b for a, b in zip(sums[key], numbers)]
    return [f"{key}: {_percent(lines, of_lines)} of {of_lines} lines, {_percent(ways, of_ways)} of {of_ways} branches"
            for key, (lines, of_lines, ways, of_ways) in sorted(sums.items(), key=lambda item: (item[0] == "all", item[0]))]


def _percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "none"


def whole(context):
    """The figures are printed, and stand in `coverage` beside the log."""
    build = TREE / "build" / "coverage"
    for old in build.rglob("*.gcda"):
        old.unlink()
    outcome = ctest("coverage", context)
    found = defaultdict(Reached)
    counters = sorted(build.rglob("*.gcda"))
    if not counters:
        raise Failed(f"no test left counters in {build}")
    for counter in counters:
        done = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", counter],
                              cwd=counter.parent, capture_output=True, text=True, check=True)
        read(done.stdout, found)
    said = folders(found)
    (context.directory / "coverage").write_text("\n".join(said) + "\n", encoding="utf-8")
    print("\n".join(f"    {line}" for line in said), flush=True)
    return outcome
