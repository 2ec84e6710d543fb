"""A study of lab/pgo_study.sh (its directory) for the report. Owns: the names of the files at its top."""

import time
from pathlib import Path

from installer.shell import Failed
from lab.base import figures
from lab.observe import clocked, iostat, mpstat, observers, pidstat, vmstat
from lab.observe.sampler import Samples
from lab.record import form, provenance, turns
from lab.record.run import LATENCIES, THROUGHPUT, Metric, Run, Study, is_state
from lab.runners.pgo import settings
from lab.study import journal
from lab.works import sampled, sysbench
from lab.works import sysbench_output as parser

KIND, JOURNAL, FACTS = "pgo-study", "pgo_study.jsonl", "facts.json"
# A page with more figures than this is none that a browser opens with ease: 144 runs of 15 minutes have 100 million.
_VALUES_MAX = 4_000_000
_ALWAYS_WHOLE = (THROUGHPUT, *LATENCIES)
_UNITS = {"r/s": "1/s", "w/s": "1/s", "f/s": "1/s", "rkB/s": "kB/s", "wkB/s": "kB/s", "r_await": "ms", "w_await": "ms",
          "f_await": "ms", "aqu-sz": "requests", "%util": "%"}
_VMSTAT = {"r": "tasks that run or wait for a CPU", "b": "tasks that wait for the disk", "free": "KiB", "cache": "KiB",
           "buff": "KiB", "si": "KiB/s", "so": "KiB/s", "bi": "KiB/s", "bo": "KiB/s", "in": "1/s", "cs": "1/s"}


def record(directory):
    """The journal of a study. Raises Failed."""
    path = Path(directory) / JOURNAL
    if not path.exists():
        raise Failed(f"{directory}: holds no study of pgo_study.sh")
    found = journal.read(path)
    if found.kind != KIND:
        raise Failed(f"{path}: is the journal of {found.kind}")
    return found


def wanted_of(plan):
    """The Wanted of a plan."""
    names = settings.Wanted.__dataclass_fields__
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in plan.items() if name in names}
    return settings.Wanted(**{**given, "tiers": tuple(settings.Tier(**tier) for tier in given["tiers"])})


def of_iostat(reports):
    """By name: (unit, [(time of day, value)]). Devices that did nothing are left out."""
    made = {}
    for report in reports:
        for device, figures in report.devices.items():
            for column, unit in _UNITS.items():
                if column in figures:
                    made.setdefault(f"iostat {device}: {column}", (unit, []))[1].append((report.at_s, figures[column]))
    return {name: of for name, of in made.items() if any(value for _, value in of[1])}


def of_vmstat(reports):
    made = {}
    for report in reports:
        for column, value in report.figures.items():
            if column in _VMSTAT:
                made.setdefault(f"vmstat: {column}", (_VMSTAT[column], []))[1].append((report.at_s, value))
    return made


def of_mpstat(reports):
    """Of all CPUs together each kind of time, of each one how busy it was."""
    made = {}
    for report in reports:
        for cpu, figures in report.cpus.items():
            columns = figures if cpu == "all" else {"busy": 100 - figures["%idle"]}
            for column, value in columns.items():
                made.setdefault(f"mpstat CPU {cpu}: {column}", ("%", []))[1].append((report.at_s, round(value, 2)))
    return {name: of for name, of in made.items() if any(value for _, value in of[1])}


def of_pidstat(reports):
    """CPU by the threads' names, and what the one that used most used."""
    made = {}
    for report in reports:
        values = {f"threads: {name}": cpu for name, cpu in report.by_name().items()}
        if report.threads:
            values["threads: the busiest one"] = max(thread.cpu for thread in report.threads)
            values["threads: waiting for a CPU"] = sum(thread.wait for thread in report.threads)
        for name, value in values.items():
            made.setdefault(name, ("% of a CPU", []))[1].append((report.at_s, round(value, 2)))
    return {name: of for name, of in made.items() if any(value for _, value in of[1])}


_TOOLS = {"iostat": (iostat, of_iostat), "vmstat": (vmstat, of_vmstat), "mpstat": (mpstat, of_mpstat),
          "pidstat": (pidstat, of_pidstat)}


def _observe(run, directory, result):
    """Adds what the tools saw in the measured time; what cannot be read is a note."""
    utc = time.gmtime(result["begin"])
    begin_s = (utc.tm_hour * 60 + utc.tm_min) * 60 + utc.tm_sec
    for tool, name in result["tools"].items():
        tool_s, series_of = _TOOLS[tool]
        try:
            reports = tool_s.parse(observers.text(directory / name), name)
        except (Failed, OSError, EOFError) as error:
            run.notes.append(f"without {tool}: {error}")
            continue
        seen = {report.at_s for report in reports if 0 < clocked.since(report.at_s, begin_s) <= run.seconds + 1}
        if len(seen) < 0.9 * run.seconds - 3:
            run.notes.append(f"{tool} saw {len(seen)} of {run.seconds:.0f} seconds: its metrics are of that part alone")
        for metric, (unit, points) in series_of(reports).items():
            inside = [(second, value) for second, value in ((clocked.since(at, begin_s), value) for at, value in points)
                      if 0 < second <= run.seconds + 1]
            if inside:
                run.series[metric] = Metric(unit, inside)


def _json(path):
    return figures.of_json(figures.read(path), path)


def _run(directory, unit, result, wanted, facts):
    stem = directory / unit.stem

    def beside(kind):
        return stem.with_name(f"{stem.name}.{kind}")

    raw = beside("sysbench.txt")
    done = parser.parse(figures.read(raw), raw)
    run = Run(unit.label, wanted.workload, unit.threads, unit.repetition, done.tps, "transactions/s", unit.tier.condition,
              done.total_s, done.transactions, [sysbench.latency(done)], sysbench.series(done), {"queries/s": done.qps},
              sysbench.errors(done), sizes={"server's directory after the run": result["bytes"]},
              memory={name: value for name, value in result["memory"].items() if value},
              notes=list(result["notes"]), files=result["files"],
              configuration={"server options": " ".join(facts["options"][unit.label][unit.tier.condition]),
                             "allocator": result["allocator"]},
              versions={"sysbench": done.version, **result.get("versions", {})})
    sampled.add(run, Samples.load(beside("samples.json")))
    _observe(run, directory, result)
    run.row_bytes = sysbench.row_bytes(run.status) or None
    run.variables = _json(beside("variables-before.json"))
    after = _json(beside("variables-after.json"))
    changed = sorted(name for name in {*run.variables, *after} if run.variables.get(name) != after.get(name)
                     and not is_state(name))
    run.notes += [f"changed while it ran: {', '.join(changed)}"] if changed else []
    return run


def thin(runs, values_max=_VALUES_MAX):
    """Means of neighbours where all series together have more values than that; over how many seconds, 1 for none."""
    total = sum(len(metric.points) for run in runs for name, metric in run.series.items() if name not in _ALWAYS_WHOLE)
    width = -(-total // values_max) or 1
    if width > 1:
        for run in runs:
            run.series = {name: metric if name in _ALWAYS_WHOLE else _means(metric, width)
                          for name, metric in run.series.items()}
    return width


def _means(metric, width):
    stretches = [metric.points[at:at + width] for at in range(0, len(metric.points), width)]
    return Metric(metric.unit, [(of[-1][0], sum(value for _, value in of) / len(of)) for of in stretches])


def study(directory):
    """Raises Failed."""
    directory = Path(directory)
    done, facts = record(directory), _json(directory / FACTS)
    wanted, builds = wanted_of(done.plan), done.plan["builds"]
    # By label, whichever was first in a repetition.
    units = sorted(settings.units(wanted, list(builds)), key=lambda unit: (list(builds).index(unit.label)))
    runs = [_run(directory, unit, done.result(unit.name), wanted, facts) for unit in units if done.result(unit.name)]
    width = thin(runs)
    history = done.history()
    if len(runs) < len(units):
        history.append(f"The study was not run to its end: {len(runs)} of {len(units)} measurements.")
    about = (f"sysbench {wanted.workload} on {form.plural(wanted.tables, 'table')} of {wanted.rows:,} rows; "
             f"{form.plural(wanted.repetitions, 'repetition')} of {wanted.seconds} s, each after {wanted.warmup_read} s of "
             f"reading and {wanted.warmup_write} s of the workload, on a fresh server and a copy of the loaded data. At "
             f"each point the builds follow each other.{turns.said(done.plan, wanted.repetitions)}")
    if width > 1:
        about += f" Metrics but throughput and latency are means of {width} s here; the raw files have every second."
    configuration = [(name, _text(value)) for name, value in done.plan.items()
                     if name not in ("binaries", "arguments", "builds", turns.KEY)]
    configuration += [(f"build {label}", ", ".join(f"{key} {_text(value)}" for key, value in of.items() if value))
                      for label, of in builds.items()]
    files = dict.fromkeys([JOURNAL, FACTS, *(name for run in runs for name in run.files)])
    return Study(KIND, "Gain of " + " and ".join(list(builds)[1:]) + f" over {next(iter(builds))}", about, runs,
                 facts["unequal"], history, configuration, facts["provenance"],
                 {name: provenance.sha256(directory / name) for name in files}, paired=True)


def _text(value):
    if isinstance(value, (list, tuple)):
        return " ".join(map(_text, value))
    return settings.Tier(**value).condition if isinstance(value, dict) else str(value)
