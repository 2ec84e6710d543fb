"""What `vmstat -y -n -t -w 1` prints (procps 4): memory, swap, blocks, interrupts and CPU of the machine, each second.

    for report in vmstat.parse(path.read_text(), path):
        report.at_s, report.figures["cs"], report.figures["bo"]
"""

from dataclasses import dataclass

from lab.base import figures
from lab.base.errors import BadInput
from lab.observe import clocked

_FIRST = ["r", "b", "swpd"]


@dataclass(frozen=True)
class Report:
    """figures: by the names of the tool's columns, its memory in KiB."""
    at_s: int  # Seconds since midnight.
    figures: dict


def parse(text, source="vmstat's output"):
    """Raises BadInput for any other text, with its place."""
    clocked.refuse_empty(text, source, "vmstat")
    lines = text.splitlines()
    if not lines[0].startswith("--procs--"):
        raise BadInput(source, f"is not output of vmstat -w -t: it begins with {lines[0][:60]!r}", 1)
    figures.refuse_cut(text, source, "vmstat")
    head = lines[1].split() if len(lines) > 1 else []
    if head[:3] != _FIRST or "timestamp" not in lines[0]:
        raise BadInput(source, "is of vmstat without -w -t, or cut off within its head", min(2, len(lines)))
    names, reports = head[:-1], []  # The last names the time zone.
    for number, line in enumerate(lines[2:], 3):
        fields = line.split()
        found = clocked.row(names, fields[:-2], source, number, "vmstat")
        at_s = clocked.clock(fields[-1])
        if at_s is None:
            raise BadInput(source, f"has no time of day at the end of this line: {fields[-1]!r}", number)
        reports.append(Report(at_s, found))
    clocked.refuse_nothing(reports, text, source, "vmstat")
    return reports
