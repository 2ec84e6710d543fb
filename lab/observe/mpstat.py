"""What `S_TIME_FORMAT=ISO mpstat -P ALL 1` prints (sysstat 12), ended by SIGINT: each CPU, each second.

    for report in mpstat.parse(path.read_text(), path):
        report.at_s, report.cpus["all"]["%usr"], report.cpus["0"]["%idle"]
"""

from dataclasses import dataclass

from lab.base.errors import BadInput
from lab.observe import clocked


@dataclass(frozen=True)
class Report:
    """cpus: by number, and "all": the figures by the names of the tool's columns."""
    at_s: int  # Seconds since midnight.
    cpus: dict


def parse(text, source="mpstat's output"):
    """Raises BadInput for any other text, with its place. The averages at its end say that it is whole."""
    reports, head, averaged = [], None, 0
    for number, fields in clocked.body(text, source, "mpstat"):
        if not fields:
            continue
        average = fields[0] == "Average:"
        if not average and clocked.clock(fields[0]) is None:
            raise BadInput(source, f"is not output of mpstat: {' '.join(fields)[:60]!r}", number)
        if fields[1:2] == ["CPU"]:
            head = fields[2:]
            if not {"%usr", "%idle"} <= {*head}:
                raise BadInput(source, "is of another report than mpstat's use of CPUs, or cut off within its head", number)
            if not average:
                reports.append(Report(-1, {}))
        elif head is None:
            raise BadInput(source, "has figures before their head", number)
        else:
            figures = clocked.row(head, fields[2:], source, number, "mpstat")
            averaged += average
            if not average:  # The head's own time is that of the report before.
                reports[-1] = Report(clocked.clock(fields[0]), reports[-1].cpus | {fields[1]: figures})
    clocked.refuse_nothing([one for one in reports if one.cpus], text, source, "mpstat")
    if averaged < len(reports[0].cpus):
        raise BadInput(source, "is cut off: mpstat's averages are missing after this line", len(text.splitlines()))
    return reports
