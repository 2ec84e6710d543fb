"""Common parts of the output of sysstat's tools and vmstat: a banner, a clock, columns named in a head."""

import re

from lab.base import figures
from lab.base.errors import BadInput

_BANNER = re.compile(r"^Linux \S+ \(.*\)\s+\S+\s+_\S+_\s+\(\d+ CPU\)\s*$")
_CLOCK = re.compile(r"^(?:\d{4}-\d\d-\d\dT)?([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:[+-]\d{4}|Z)?$", re.ASCII)
DAY_S = 86400


def clock(text):
    """Seconds since midnight of "15:36:54" or "2026-11-22T15:36:54+0000"; None of anything else."""
    found = _CLOCK.match(text)
    return (int(found[1]) * 60 + int(found[2])) * 60 + int(found[3]) if found else None


def since(at_s, begin_s):
    """From one time of day to another that is less than twelve hours away, midnight between them or not."""
    return (at_s - begin_s + DAY_S / 2) % DAY_S - DAY_S / 2


def refuse_empty(text, source, tool):
    if not text.strip():
        raise BadInput(source, f"is empty; {tool} did not run, or wrote nothing")


def refuse_short(text, source, tool):
    """Requires the empty line that iostat puts after each report, and pidstat after its last: else lines may be missing."""
    if text.splitlines()[-1].strip():
        raise BadInput(source, f"is cut off: the empty line that ends {tool}'s last report is missing after this one",
                       len(text.splitlines()))


def body(text, source, tool):
    """(number, fields) of each line after the banner of sysstat's, blank ones too."""
    refuse_empty(text, source, tool)
    lines = text.splitlines()
    if not _BANNER.match(lines[0]):
        raise BadInput(source, f"is not output of {tool}: it begins with {lines[0][:60]!r}", 1)
    figures.refuse_cut(text, source, tool)
    return [(number, line.split()) for number, line in enumerate(lines[1:], 2)]


def row(head, fields, source, number, tool):
    """The figures of a line by the names of its head."""
    if len(fields) != len(head):
        raise BadInput(source, f"is cut off or damaged: {len(fields)} figures, {tool}'s head names {len(head)}", number)
    return {name: figures.number(field, source, number, name) for name, field in zip(head, fields)}


def refuse_nothing(found, text, source, tool):
    if not found:
        raise BadInput(source, f"is cut off: {tool} was ended before its first report", len(text.splitlines()))
