"""Reads `perf report --stdio --no-children --sort comm,dso,symbol`. Pure: text in, dataclasses out."""

import re
from dataclasses import dataclass

from lab.parse.unreadable import Unreadable

TOP = 8

_LINE = re.compile(r"\s*([\d.]+)%\s+(\S.*?)\s\s+(\S.*?)\s+\[([.kguH])\]\s+(\S.*?)(?:\s\s+-\s+-)?\s*$")


@dataclass(frozen=True)
class Hotspot:
    percent: float
    object: str  # "mariadbd", "ha_tidesdb.so", "[kernel.kallsyms]".
    symbol: str


def report(text, source, top=TOP):
    """The functions that took the most, most first; a function that several threads ran is one."""
    if not text.strip():
        raise Unreadable(source, 1, "is empty: perf recorded nothing")
    if "Overhead" not in text:
        raise Unreadable(source, 1, "is no report of perf")
    shares = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if found := _LINE.match(line):
            key = (found.group(3), found.group(5))
            shares[key] = shares.get(key, 0.0) + float(found.group(1))
    if not shares:
        raise Unreadable(source, len(text.splitlines()), "names no function: perf had no samples")
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    return [Hotspot(percent, *key) for key, percent in ordered[:top]]
