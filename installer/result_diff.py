"""Compares the records of one of the server's tests with two engines, statement by statement."""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

_WORDS = ("alter|analyze|begin|call|change|check|checksum|commit|connect|connection|create|deallocate|delete|desc|describe|"
          "disconnect|do|drop|execute|explain|flush|grant|handler|insert|kill|load|lock|optimize|prepare|rename|repair|"
          "replace|reset|revoke|rollback|savepoint|select|set|show|start|table|truncate|unlock|update|use|values|with|xa")
# If the record does not show the statement, the column names identify it.
_STATEMENT = re.compile(rf"(?i)^\s*\(*\s*({_WORDS})\b|^Table\t|^id\tselect_type\t|^EXPLAIN$|^Variable_name\t")
_STATEMENT_LINES_MAX = 40
_CREATES = re.compile(r"(?i)^\s*create\s+(?:or\s+replace\s+)?(?:temporary\s+)?table\s+"
                      r"(?:if\s+not\s+exists\s+)?([\w.`$]+)")
# Repeats the statement's lines, and names the files that the statement stands in.
_ERROR = re.compile(r"^mysqltest: (?:In included file [^\n]*\n(?:included from [^\n]*\n)*)?"
                    r"[^\n]*query '.*?' (?:failed|succeeded)\b", re.M | re.S)
_SAME = [(re.compile(r"^(mysqltest): (?:In included file .*?)?At line \d+"), r"\1"),
         (re.compile(r"/dev/shm/tidesdb-suites-\w+/|(?<=--port=)\d+"), ""),
         # What an earlier call of the driver left; the command's own status stands before it.
         (re.compile(r"^(mysqltest: exec of .* failed, error: \d+, status: \d+), errno: \d+$"), r"\1"),
         (re.compile(r"(?i)(?:\b|(?<=\bgtid_slave_pos_))(?:tidesdb|innodb)(?=_snapshot_isolation\b|\b)"), "ENGINE")]


@dataclass(frozen=True)
class Difference:
    """One statement's difference. ours, theirs: lines that only this engine printed."""
    statement: str
    ours: tuple
    theirs: tuple
    anew: frozenset = frozenset()  # Tables that both have made alike since the previous difference.

    @property
    def lines(self):
        return (*self.ours, *self.theirs)

    @property
    def only_order(self):
        return not self.lines


def normal(line):
    """The line without the parts that differ in every test: the engine's name, and the position in the test."""
    for pattern, instead in _SAME:
        line = pattern.sub(instead, line)
    return line


def statements(text):
    """The text as pairs: a statement's first line, and the lines up to the next one."""
    found = [("", [])]
    text = _ERROR.sub(lambda error: error[0].replace("\n", " "), text)
    for line in map(normal, text.splitlines()):
        if _STATEMENT.match(line):
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return found


def _whole(statement, lines):
    """The statement's first line, and the rest of it up to its end. For column names: also the first row."""
    if "\t" in statement:
        return " ".join([statement, *lines[:1]])
    parts = [statement]
    for line in lines[:_STATEMENT_LINES_MAX]:
        if parts[-1].rstrip().endswith(";"):
            return " ".join(parts)
        parts.append(line)
    return statement


def _difference(statement, ours, theirs, anew):
    left, right = Counter(ours), Counter(theirs)
    return Difference(_whole(statement, theirs or ours), tuple((left - right).elements()),
                      tuple((right - left).elements()), frozenset(anew))


def _pieces(a, b):
    """Two lists of statements side by side, by diff: difflib takes minutes for some.

    Yields same, a1, a2, b1, b2: whether a[a1:a2] is b[b1:b2]. The pieces cover both lists.
    """
    with TemporaryDirectory() as directory:
        paths = [Path(directory) / name for name in "ab"]
        for path, lines in zip(paths, (a, b)):
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="surrogateescape")
        said = subprocess.run(["diff", "--text", *paths], stdout=subprocess.PIPE, check=False).stdout
    at, bt = 0, 0
    hunks = re.findall(r"^(\d+)(?:,(\d+))?([acd])(\d+)(?:,(\d+))?$", said.decode(errors="replace"), re.M)
    for a1, a2, what, b1, b2 in hunks:
        begin_a, begin_b = int(a1) - (what != "a"), int(b1) - (what != "d")
        yield True, at, begin_a, bt, begin_b
        at = begin_a if what == "a" else int(a2 or a1)
        bt = begin_b if what == "d" else int(b2 or b1)
        yield False, begin_a, at, begin_b, bt
    yield True, at, len(a), bt, len(b)


def differences(ours, theirs):
    """The statements with different answers, from the texts of two runs of a test."""
    if ours == theirs:
        return []
    a, b = statements(ours), statements(theirs)
    found, anew = [], set()
    for left, right in _pairs(a, b):
        statement = (left or right)[0]
        if left == right:
            anew.update(_CREATES.findall(statement))
            continue
        # A statement that only one shows counts as a line that only one prints.
        said = [[*([statement] if left is None or right is None else []), *one[1]] if one else [] for one in (left, right)]
        found.append(_difference(statement, *said, anew))
        anew = set()
    return found


def _pairs(a, b):
    """Each statement of a beside the same of b, or beside None."""
    for same, a1, a2, b1, b2 in _pieces([statement for statement, _ in a], [statement for statement, _ in b]):
        if same:
            yield from zip(a[a1:a2], b[b1:b2])
        else:
            yield from ((one, None) for one in a[a1:a2])
            yield from ((None, one) for one in b[b1:b2])
