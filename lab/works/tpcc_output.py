"""Reads what the built-in generator writes besides its JSON (for that: lab.works.tpcc_result). Pure: text in, rows out."""

import re
from dataclasses import dataclass

from lab.base import figures
from lab.base.errors import BadInput

_CONDITION = re.compile(r"  (\w+) +(holds|BROKEN|skipped) +(.+)")
_SAMPLE = " " * 6
_HEADER = "second,transaction,count,errors,mean_us,max_us"


@dataclass(frozen=True)
class Second:
    """One transaction's second."""
    second: int
    transaction: str
    count: int
    errors: int
    mean_us: int
    max_us: int


@dataclass(frozen=True)
class Condition:
    """state: as in the JSON of a run."""
    name: str
    title: str
    state: str
    samples: tuple = ()


def conditions(text):
    """What `tpcc check` says of each condition; none where it says nothing."""
    found = []
    for line in text.splitlines():
        said = _CONDITION.fullmatch(line)
        if said:
            found.append((said.group(1), said.group(3), said.group(2).lower(), []))
        elif found and line.startswith(_SAMPLE):
            found[-1][3].append(line.strip())
    return [Condition(name, title, state, tuple(samples)) for name, title, state, samples in found]


def timeline(text, source):
    """The file of `tpcc run --timeline`."""
    lines = text.splitlines()
    if not lines:
        raise BadInput(source, "is empty: the run that should have written it did not end", 1)
    if lines[0] != _HEADER:
        raise BadInput(source, "is not a timeline of `tpcc run --timeline`", 1)
    seconds = []
    for number, line in enumerate(lines[1:], 2):
        fields = line.split(",")
        if len(fields) != len(_HEADER.split(",")):
            raise BadInput(source, f"{line[:60]!r} is not a line of a timeline", number)
        at, name, *rest = fields
        seconds.append(Second(figures.whole(at, source, number, "second", 1), name,
                              *(figures.whole(value, source, number) for value in rest)))
    figures.refuse_cut(text, source, "tpcc")
    if seconds and len({s.transaction for s in seconds}) != sum(s.second == seconds[-1].second for s in seconds):
        raise BadInput(source, "is cut off within its last second", len(lines))
    return seconds


def per_minute(seconds, interval_s=10):
    """(second at the interval's end, transactions a minute) of the intervals that are whole."""
    counts, last = {}, max((s.second for s in seconds), default=0)
    for s in seconds:
        end = -(-s.second // interval_s) * interval_s
        counts[end] = counts.get(end, 0) + s.count
    return [(end, count * 60 / interval_s) for end, count in sorted(counts.items()) if end <= last]


def latency_windows(seconds, transaction, interval_s=10):
    """(second at the interval's end, mean ms, maximum ms) of one transaction, of the intervals that are whole."""
    windows, last = {}, max((s.second for s in seconds), default=0)
    for s in seconds:
        if s.transaction == transaction and s.count:
            end = -(-s.second // interval_s) * interval_s
            count, total, worst = windows.get(end, (0, 0, 0))
            windows[end] = (count + s.count, total + s.count * s.mean_us, max(worst, s.max_us))
    return [(end, total / count / 1000, worst / 1000) for end, (count, total, worst) in sorted(windows.items())
            if end <= last]
