"""The output of iostat, vmstat, mpstat and pidstat as metrics over time."""

import time

from installer.shell import Failed
from lab.observe import clocked, iostat, mpstat, observers, pidstat, vmstat

_UNITS = {"r/s": "1/s", "w/s": "1/s", "f/s": "1/s", "rkB/s": "kB/s", "wkB/s": "kB/s", "r_await": "ms", "w_await": "ms",
          "f_await": "ms", "aqu-sz": "requests", "%util": "%"}
_VMSTAT = {"r": "tasks that run or wait for a CPU", "b": "tasks that wait for the disk", "free": "KiB", "cache": "KiB",
           "buff": "KiB", "si": "KiB/s", "so": "KiB/s", "bi": "KiB/s", "bo": "KiB/s", "in": "1/s", "cs": "1/s"}


def of_iostat(report):
    for device, figures in report.devices.items():
        yield from ((f"iostat {device}: {column}", unit, figures[column]) for column, unit in _UNITS.items()
                    if column in figures)


def _of_vmstat(report):
    yield from ((f"vmstat: {column}", _VMSTAT[column], value) for column, value in report.figures.items()
                if column in _VMSTAT)


def _of_mpstat(report):
    """Each kind of time for all CPUs together, and how busy each CPU was."""
    for cpu, figures in report.cpus.items():
        columns = figures if cpu == "all" else {"busy": 100 - figures["%idle"]}
        yield from ((f"mpstat CPU {cpu}: {column}", "%", round(value, 2)) for column, value in columns.items())


def _of_pidstat(report):
    """CPU by the threads' names, and that of the busiest thread."""
    values = {f"threads: {name}": cpu for name, cpu in report.by_name().items()}
    if report.threads:
        values["threads: the busiest one"] = max(thread.cpu for thread in report.threads)
        values["threads: waiting for a CPU"] = sum(thread.wait for thread in report.threads)
    yield from ((name, "% of a CPU", round(value, 2)) for name, value in values.items())


_TOOLS = {"iostat": (iostat, of_iostat), "vmstat": (vmstat, _of_vmstat), "mpstat": (mpstat, _of_mpstat),
          "pidstat": (pidstat, _of_pidstat)}


def seen(files, began, seconds, named=str):
    """By name (unit, [(second, value)]) of a measured time, and sentences about missing parts.

    files: those of Observers; began: Unix time; named: how a file is called in what is said of it.
    """
    utc = time.gmtime(began)
    begin_s = (utc.tm_hour * 60 + utc.tm_min) * 60 + utc.tm_sec
    found, notes = {}, []
    for tool, path in files.items():
        parser, metrics = _TOOLS[tool]
        try:
            reports = parser.parse(observers.text(path), named(path))
        except (Failed, OSError, EOFError) as error:
            notes.append(f"without {tool}: {error}")
            continue
        of_tool, moments = {}, set()
        for report in reports:
            second = clocked.since(report.at_s, begin_s)
            if 0 < second <= seconds + 1:
                moments.add(second)
                for name, unit, value in metrics(report):
                    of_tool.setdefault(name, (unit, []))[1].append((second, value))
        if len(moments) < 0.9 * seconds - 3:
            notes.append(f"{tool} saw {len(moments)} of {seconds:.0f} seconds: its metrics cover only that part")
        # Leave out idle devices and CPUs.
        found |= {name: of for name, of in of_tool.items() if tool == "vmstat" or any(value for _, value in of[1])}
    return found, notes
