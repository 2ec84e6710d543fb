#!/usr/bin/env python3
"""The size and shape of the tree at a commit: python3 -m tools.figures [COMMIT ...]; prints a table for docs/house.md.

Sources without tests. A line of comment has nothing else; p95: 95 of 100 files have at most so many lines.
"On a cycle": folders that include (or import) each other, directly or indirectly.
"""

import ast
import os
import re
import statistics
import subprocess
import sys

from tools.tidy import TREE, imported, is_test

GROUPS = {
    "`include`, `src`": r"(include|src)/.*\.(h|cc)$",
    "`plugin`": r"plugin/.*\.(h|cc)$",
    "`lab`, C++": r"lab/.*\.(h|cc)$",
    "`installer`": r"installer/.*\.py$",
    "`lab`, Python": r"lab/.*\.py$",
}
_TESTS = re.compile(r"(^|/)tests/|_test(_env)?\.|(^|/)__init__\.py$")


def _git(*argv):
    return subprocess.run(["git", *argv], cwd=TREE, capture_output=True, text=True, errors="replace", check=True).stdout


def comment_lines(path, text):
    """(lines of comment, lines of comment and code)."""
    comment = code = 0
    in_text = False  # In a Python docstring of several lines.
    for line in map(str.strip, text.splitlines()):
        if not line:
            continue
        starts = line.startswith('"""') if path.endswith(".py") else line.startswith("//")
        if in_text or starts or (path.endswith(".py") and line.startswith("#")):
            comment += 1
            if path.endswith(".py") and line.count('"""') % 2:
                in_text = not in_text
        else:
            code += 1
    return comment, comment + code


def targets(path, text, files):
    """The files of the tree that a file includes or imports."""
    if path.endswith(".py"):
        names = [name.replace(".", "/") + ".py" for _, name in imported(ast.parse(text))]
        return [name for name in names if name in files]
    found = []
    for name in re.findall(r'^#include "([^"]+)"', text, re.M):
        places = [os.path.join(top, name) for top in ("src", "include", "plugin", "", "lab/generators", "lab")]
        found += [place for place in places if place in files][:1]
    return found


def on_cycles(edges):
    """The folders of a graph {folder: folders} from which a path leads back to them."""
    def reached(start):
        seen, left = set(), list(edges.get(start, ()))
        while left:
            if (one := left.pop()) not in seen:
                seen.add(one)
                left += edges.get(one, ())
        return seen
    return [folder for folder in edges if folder in reached(folder)]


def figures(commit):
    """Rows of the table."""
    files = set(_git("ls-tree", "-r", "--name-only", commit).splitlines())
    for group, pattern in GROUPS.items():
        texts = {path: _git("show", f"{commit}:{path}") for path in sorted(files)
                 if re.match(pattern, path) and not _TESTS.search(path) and not is_test(path)}
        lengths = sorted((text.count("\n"), path) for path, text in texts.items())
        edges, comment, lines = {}, 0, 0
        for path, text in texts.items():
            folder = os.path.dirname(path)
            others = {os.path.dirname(other) for other in targets(path, text, files)}
            edges.setdefault(folder, set()).update(others - {folder})
            comment, lines = (a + b for a, b in zip((comment, lines), comment_lines(path, text)))
        longest, name = lengths[-1]
        yield [group, commit, len(texts), f"{sum(length for length, _ in lengths):,}",
               round(statistics.median(length for length, _ in lengths)), lengths[int(len(lengths) * 0.95)][0],
               f"{longest} (`{os.path.basename(name)}`)", f"{100 * comment / lines:.0f} %", len(edges),
               len(on_cycles(edges))]


def main():
    print("| part | commit | files | lines | median | p95 | longest | comment | folders | on a cycle |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    rows = [row for commit in sys.argv[1:] or ["HEAD"] for row in figures(commit)]
    for row in sorted(rows, key=lambda row: list(GROUPS).index(row[0])):
        print(f"| {' | '.join(map(str, row))} |")


if __name__ == "__main__":
    main()
