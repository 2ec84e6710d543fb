"""What `S_TIME_FORMAT=ISO pidstat -t -u -h -p PID 1` prints (sysstat 12): a process and each of its threads, each second.

    for report in pidstat.parse(path.read_text(), path):
        report.at_s, report.process.cpu, [(thread.name, thread.cpu) for thread in report.threads]
"""

from dataclasses import dataclass, field

from lab.base import figures
from lab.base.errors import BadInput
from lab.observe import clocked

_HEAD = ["#", "Time", "UID", "TGID", "TID", "%usr", "%system", "%guest", "%wait", "%CPU", "CPU", "Command"]


@dataclass(frozen=True)
class Task:
    """Of one second, in percent of a CPU. wait: ready to run, and no CPU for it."""
    number: int
    name: str
    user: float
    system: float
    wait: float
    cpu: float


@dataclass(frozen=True)
class Report:
    at_s: int  # Seconds since midnight.
    process: Task
    threads: list = field(default_factory=list)

    def by_name(self):
        """CPU by the threads' names: those of a pool, and of all connections, have one."""
        summed = {}
        for thread in self.threads:
            summed[thread.name] = summed.get(thread.name, 0.0) + thread.cpu
        return summed


def _task(fields, source, number):
    if len(fields) < 11:
        raise BadInput(source, f"is cut off or damaged: {len(fields)} fields where pidstat's head names 11", number)
    at_s = clocked.clock(fields[0])
    user, system, _, wait, cpu = (figures.number(field, source, number, column)
                                  for field, column in zip(fields[4:9], _HEAD[5:]))
    is_process = fields[2] != "-"
    # A thread's name may have blanks.
    name = " ".join(fields[10:]).removeprefix("|__")
    task = Task(figures.whole(fields[2] if is_process else fields[3], source, number, "TID"), name, user, system, wait, cpu)
    if at_s is None:
        raise BadInput(source, f"has no time of day in this line: {fields[0]!r}; S_TIME_FORMAT=ISO is wanted", number)
    return at_s, is_process, task


def parse(text, source="pidstat's output"):
    """Raises BadInput for any other text, with its place."""
    reports, head = [], False
    for number, fields in clocked.body(text, source, "pidstat"):
        if not fields:
            continue
        if fields[0] == "#":
            if fields != _HEAD:
                raise BadInput(source, "is of other options than pidstat's -t -u -h, or cut off within its head", number)
            head = True
            continue
        if not head:
            raise BadInput(source, f"is not output of pidstat -t -u -h: {' '.join(fields)[:60]!r}", number)
        at_s, is_process, task = _task(fields, source, number)
        if is_process:
            reports.append(Report(at_s, task))
        elif not reports:
            raise BadInput(source, "has a thread before its process", number)
        else:
            reports[-1].threads.append(task)
    clocked.refuse_nothing(reports, text, source, "pidstat")
    clocked.refuse_short(text, source, "pidstat")
    return reports
