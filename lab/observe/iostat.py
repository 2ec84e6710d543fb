"""What `S_TIME_FORMAT=ISO iostat -dxkty 1` prints (sysstat 12): each device, each second.

    for report in iostat.parse(path.read_text(), path):
        report.at_s, report.devices["vda"]["wkB/s"]
"""

from dataclasses import dataclass

from lab.base.errors import BadInput
from lab.observe import clocked


@dataclass(frozen=True)
class Report:
    """devices: by name, the figures by the names of the tool's columns ("r/s", "wkB/s", "%util")."""
    at_s: int  # Seconds since midnight.
    devices: dict


def parse(text, source="iostat's output"):
    """Raises BadInput for any other text, with its place."""
    reports, head, at_s = [], None, None
    for number, fields in clocked.body(text, source, "iostat"):
        if not fields:
            head = None
        elif len(fields) == 1 and clocked.clock(fields[0]) is not None:
            at_s, head = clocked.clock(fields[0]), None
        elif fields[0] == "Device":
            if at_s is None:
                raise BadInput(source, "has no time before this head; iostat -t and S_TIME_FORMAT=ISO are wanted", number)
            head = fields[1:]
            if "%util" not in head:
                raise BadInput(source, "is of iostat without -x, or cut off within its head", number)
            reports.append(Report(at_s, {}))
        elif head is None:
            raise BadInput(source, f"is not output of iostat -dxkty: {' '.join(fields)[:60]!r}", number)
        else:
            reports[-1].devices[fields[0]] = clocked.row(head, fields[1:], source, number, "iostat")
    clocked.refuse_nothing([one for one in reports if one.devices], text, source, "iostat")
    if not reports[-1].devices:
        raise BadInput(source, "is cut off: after iostat's head no device follows", len(text.splitlines()))
    clocked.refuse_short(text, source, "iostat")
    return reports
