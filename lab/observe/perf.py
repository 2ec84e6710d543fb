"""Reads `perf report --stdio --no-children --sort comm,dso,symbol`. Pure: text in, dataclasses out.

In a stripped program only exported functions have names; all others are one entry.
"""

import re
from dataclasses import dataclass

from lab.base import figures
from lab.base.errors import BadInput

TOP = 8
NO_SYMBOL = "(without a name)"

_LINE = re.compile(r"\s*(\S+)%\s+(\S.*?)\s\s+(\S.*?)\s+\[([.kguH])\]\s+(\S.*?)(?:\s\s+-\s+-)?\s*$")


@dataclass(frozen=True)
class Hotspot:
    percent: float
    object: str  # "mariadbd", "ha_tidesdb.so", "[kernel.kallsyms]".
    symbol: str


def report(text, source, top=TOP):
    """The most expensive functions in order; a function of several threads counts once."""
    if not text.strip():
        raise BadInput(source, "is empty: perf recorded nothing", 1)
    if "Overhead" not in text:
        raise BadInput(source, "is not a report of perf", 1)
    shares = {}
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("#") or not line.strip():
            continue
        found = _LINE.match(line)
        if not found:
            raise BadInput(source, f"is cut off or damaged: {line.strip()[:60]!r} names no function's share", number)
        name = found.group(5)
        key = (found.group(3), NO_SYMBOL if re.fullmatch(r"0x[0-9a-f]+", name) else name)
        shares[key] = shares.get(key, 0.0) + figures.number(found.group(1), source, number, "a share")
    if not shares:
        raise BadInput(source, "names no function: perf had no samples", len(text.splitlines()))
    # A function that several threads ran has a line for each: what is cut off would lower its share.
    if not text.endswith("\n") or not lines[-1].startswith("#"):
        raise BadInput(source, "is cut off: the remark that ends perf's report is missing after this line", len(lines))
    if sum(shares.values()) > 101:
        raise BadInput(source, f"is damaged: its shares are {sum(shares.values()):.0f} % together")
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    return [Hotspot(percent, *key) for key, percent in ordered[:top]]
