"""Writes docs/variables.md from the tables that the plugin is compiled from: python3 -m tools.variables [--check]."""

import argparse
import re
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
PAGE = TREE / "docs" / "variables.md"
STATUS = ("include/tidesdb/stats_table.h", "plugin/server/status_table.h")
SYSTEM = "plugin/base/sysvars_table.h"

_HEAD = f"""# Variables

Made by `python3 -m tools.variables` from `{STATUS[0]}`, `{STATUS[1]}` and `{SYSTEM}`; do not edit.
[tuning.md](tuning.md) says which ones to change.

"""
# A line of a table of status variables, and the index of the shown name in its arguments; the meaning is the last one.
_STATUS_LINE = re.compile(r"^  (COUNTER|NUMBER|ALIAS|X)\(", re.M)
_SHOWN = {"COUNTER": 2, "NUMBER": 2, "ALIAS": 0, "X": 0}
_NO_EFFECT = "has no effect"


def _strings(text):
    """C's string literals in a piece of code, joined."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"')


def status_tables():
    """The tables of status variables, in the shown order."""
    return "".join((TREE / path).read_text() for path in STATUS)


def status_variables(text):
    """(name, meaning) of each."""
    text, found = text.replace("\\\n", "\n"), []
    for match in _STATUS_LINE.finditer(text):
        arguments = _arguments(text[match.end():])
        found.append((f"Tidesdb_{arguments[_SHOWN[match.group(1)]]}", _strings(arguments[-1])))
    return found


def _arguments(text):
    """The arguments of a macro, from after its parenthesis; commas in literals, braces and parentheses do not
    separate them."""
    found, depth, begin, at = [], 0, 0, 0
    while True:
        char = text[at]
        if char == '"':
            at = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, at).end()
            continue
        if char in "([{":
            depth += 1
        elif char in ")]}" and depth:
            depth -= 1
        elif char == ")" or (char == "," and not depth):
            found.append(" ".join(text[begin:at].split()))
            begin = at + 1
            if char == ")":
                return found
        at += 1


def _size(text):
    """A number as people write it."""
    text = re.sub(r"(\d)U?LL\b", r"\1", text)
    if text == "kUnlimited":
        return "no limit"
    shifted = re.fullmatch(r"(\d+) << (\d+)", text)
    if not shifted:
        return text
    value, units = int(shifted.group(1)) << int(shifted.group(2)), ["", "K", "M", "G", "T", "P"]
    while value % 1024 == 0 and value and len(units) > 1:
        value //= 1024
        units.pop(0)
    return f"{value}{units[0]}"


def system_variables(text):
    """(name, where it is set, default, from, to, meaning) of each, in the order of the table."""
    text = text.replace("\\\n", "\n")
    without = _strings(re.search(r"^#define TIDESDB_NO_EFFECT (.*)$", text, re.M).group(1))
    found = []
    for match in re.finditer(r"^  X\(", text, re.M):
        name, where, kind, values, said = _arguments(text[match.end():])[:5]
        values = _arguments(values[1:])
        meaning = without if said == "TIDESDB_NO_EFFECT" else _strings(said)
        if kind == "Bool":
            default, low, high = {"0": "OFF", "1": "ON"}.get(values[0], "as InnoDB's"), "", ""
        elif kind == "Enum":
            choices = [_strings(choice) for choice in values[1:]]
            default, low, high = choices[int(values[0])], ", ".join(choices), ""
        elif kind == "Text":
            default, low, high = "", "", ""
        else:
            default, low, high = (_size(value) for value in values)
        found.append((f"tidesdb_{name}", where.lower(), default, low, high, meaning))
    return found


def page(status, system):
    lines = ["## System variables", "",
             "*start*: set in my.cnf. *global*: SET GLOBAL. *session*: SET, and SET GLOBAL for new connections.", "",
             "| variable | set | default | values | meaning |", "|---|---|---|---|---|"]
    effective = [row for row in system if _NO_EFFECT not in row[-1]]
    for name, where, default, low, high, meaning in effective:
        values = f"{low} to {high}" if high else low
        lines.append(f"| `{name}` | {where} | {default} | {values} | {meaning} |")
    without = [row for row in system if _NO_EFFECT in row[-1]]
    lines += ["", "Accepted so that configurations of the described system load, but without effect: "
              + ", ".join(f"`{row[0]}`" for row in without) + ".", "", "## Status variables", "",
              "`SHOW GLOBAL STATUS LIKE 'tidesdb%'`. Counters start at zero with the server. All numbers of one statement"
              " are of one moment.",
              "", "| variable | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in status]
    return _HEAD + "\n".join(lines) + "\n"


def made():
    """The page's text."""
    return page(status_variables(status_tables()), system_variables((TREE / SYSTEM).read_text()))


def main():
    parser = argparse.ArgumentParser(prog="python3 -m tools.variables", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the page differs")
    args = parser.parse_args()
    if args.check:
        return int(PAGE.read_text() != made())
    PAGE.write_text(made())
    return 0


if __name__ == "__main__":
    sys.exit(main())
