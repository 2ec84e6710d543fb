"""The tables of a study, made once for markdown.py and page.py."""

from dataclasses import dataclass, field, replace
from statistics import median

from lab.record import form
from lab.record.gains import ALL, FIGURES
from lab.record.gains import gains as gains_of
from lab.record.run import CONFLICTS, is_state
from lab.record.statistics import LOSS


@dataclass(frozen=True)
class Table:
    """rows: texts; the first `names` cells of each name the row, the rest are figures."""
    title: str
    head: list
    rows: list
    names: int = 1
    note: str = ""
    bad: frozenset = field(default_factory=frozenset)  # (row, column) of cells that show a fault.
    below: tuple = ()  # (name, label, text) of texts too long for a cell.


class _Points:
    """The columns that name a point: the workload, and those that distinguish points."""

    def __init__(self, study):
        points = study.points()
        self._with_condition = any(point.condition for point in points)
        self._with_threads = len({point.threads for point in points}) > 1
        self.head = [*(["condition"] if self._with_condition else []), "workload",
                     *(["threads"] if self._with_threads else [])]

    def cells(self, point):
        return [*([point.condition] if self._with_condition else []), point.workload,
                *([str(point.threads)] if self._with_threads else [])]


def _notes_of(runs):
    """The remark after a figure."""
    notes = []
    errors = sum(error.count for run in runs for error in run.errors)
    if errors:
        notes.append(form.plural(errors, "error"))
    broken = [run for run in runs if run.broken]
    if broken:
        many = f"{len(broken)} of {len(runs)} " if len(runs) > 1 else ""
        notes.append(f"{many}INCONSISTENT: {broken[0].inconsistency()}")
    if not all(run.complete for run in runs):
        notes.append("NOT COMPLETE")
    return f" [{', '.join(notes)}]" if notes else ""


def throughput(study):
    """One row per point: medians with their spread, and ratios to the first label. None without any."""
    if not study.runs:
        return None
    labels, points = study.labels(), _Points(study)
    several = len({run.unit for run in study.runs}) > 1
    verdicts = not study.paired and any(of.verdict for _, row in study.compared() for of in row.values())
    head = [*points.head, *(["unit"] if several else []), *labels]
    for label in labels[1:]:
        head += [f"{label} / {labels[0]}", *(["95 % interval"] if verdicts else [])]
    rows, bad = [], set()
    by_point = dict(study.compared())
    for point in study.points():
        row, spreads = points.cells(point), by_point[point]
        unit = next(run.unit for run in study.runs if run.point == point)
        row += [unit] if several else []
        for label in labels:
            runs = study.at(point, label)
            notes = _notes_of(runs)
            if any(run.broken or not run.complete for run in runs):
                bad.add((len(rows), len(row)))
            row.append((form.spread(spreads[label].values) if label in spreads else "–") + notes)
        for label in labels[1:]:
            of = spreads.get(label)
            row += [form.ratio(of), *([_interval(of)] if verdicts else [])]
        rows.append(row)
    units = sorted({run.unit for run in study.runs})
    title = "Throughput" if several else f"Throughput, {units[0]}"
    note = "Median of the repetitions (lowest–highest); a ratio is that of the medians (spread: of each repetition's pair)."
    if verdicts:
        note += " The interval is the 95 % confidence of the pairs' ratio; if it contains 1, the difference is noise."
    repeated = any(len(of.values) > 1 for _, row in study.compared() for of in row.values())
    return Table(title, head, rows, len(points.head) + several, note if repeated else "", frozenset(bad))


def gains(study):
    """For a paired study: the builds' gains, and whether they are more than noise. None without enough data."""
    found = gains_of(study) if study.paired else []
    if not found:
        return None
    figures = [figure for figure in FIGURES if any(gain.figure is figure for gain in found)]
    by_cell = {(gain.label, gain.where, gain.figure): gain for gain in found}
    rows, bad = [], set()
    for label, where in dict.fromkeys((gain.label, gain.where) for gain in sorted(found, key=lambda one: one.of_point)):
        row = [label, getattr(where, "name", where)]
        for figure in figures:
            gain = by_cell.get((label, where, figure))
            if gain and gain.verdict == LOSS:
                bad.add((len(rows), len(row) + 2))
            # With no-break spaces: each figure on one line.
            row += [f"{gain.change.mean:+.1f}\u00a0%", f"{gain.change.low:+.1f}\u00a0to\u00a0{gain.change.high:+.1f}",
                    gain.verdict] if gain else ["–"] * 3
        whole = by_cell.get((label, where, figures[0]))
        row.append(f"{whole.lowest:+.1f} to {whole.highest:+.1f} %" if whole and whole.lowest is not None else "")
        rows.append(row)
    head = ["", "", *[cell for figure in figures for cell in (figure.name, "95 % interval", "verdict")],
            f"points, {figures[0].name}"]
    return Table(f"Gain over {study.labels()[0]}", head, rows, 2, _GAINS, frozenset(bad))


_GAINS = (f"Mean change of the repetitions' pairs, with its 95 % confidence interval (Student's t on the logarithms of the "
          f"ratios). {ALL.capitalize()}, and for several points, each repetition gives one figure, the mean over its "
          "points. All lines of the study, of throughput and of CPU, are judged at once (Holm): one in twenty studies "
          "of a build against itself has a line that is not called noise, and a line may be noise although its interval "
          "excludes 0.")


def _interval(of):
    return f"{of.interval[0]:.3f}–{of.interval[1]:.3f}, {of.verdict}" if of and of.interval else "–"


_LATENCIES = (("mean", "mean_ms", median), ("p50", "p50_ms", median), ("p95", "p95_ms", median), ("p99", "p99_ms", median),
              ("p99.9", "p999_ms", median), ("maximum", "max_ms", max))


def percentiles(study):
    """A row for each point, operation and label. None without any."""
    points = _Points(study)
    known = [one for one in _LATENCIES
             if any(getattr(latency, one[1]) is not None for run in study.runs for latency in run.latencies)]
    rows = []
    for point in study.points():
        operations = dict.fromkeys(latency.operation for run in study.runs if run.point == point
                                   for latency in run.latencies)
        for operation in operations:
            for label in study.labels():
                of = [latency for run in study.at(point, label) for latency in run.latencies
                      if latency.operation == operation]
                if of:
                    counts = [latency.count for latency in of if latency.count is not None]
                    rows.append([*points.cells(point), operation, label, form.number(sum(counts)) if counts else "–",
                                 *[form.milliseconds(_over(combine, of, name)) for _, name, combine in known]])
    if not rows:
        return None
    head = [*points.head, "operation", "", "count", *[name for name, _, _ in known]]
    return Table("Latency in ms", head, rows, len(points.head) + 2,
                 "For several repetitions the median; the count is their sum, the maximum is over all.")


def _over(combine, latencies, name):
    values = [getattr(latency, name) for latency in latencies if getattr(latency, name) is not None]
    return combine(values) if values else None


def _columns(study):
    """The resources: (head, value of a run or None, form)."""
    def cpu(run):
        return run.cpu_s / run.operations * 1000 if run.cpu_s is not None and run.operations else None

    yield "server CPU, ms an operation", cpu, form.number
    yield "written, MB", lambda run: run.written_bytes, form.megabytes
    yield "written, kB an operation", lambda run: run.written_kb_per_operation, form.number
    yield "write amplification", lambda run: run.write_amplification, form.number
    for name in dict.fromkeys(name for run in study.runs for name in run.memory):
        yield f"memory: {name}, MB", lambda run, n=name: run.memory.get(n), form.megabytes
    for name in dict.fromkeys(name for run in study.runs for name in run.sizes):
        yield f"disk: {name}, MB", lambda run, n=name: run.sizes.get(n), form.megabytes


def resources(study):
    """The cost: CPU, writes, memory, disk. None if nothing was measured."""
    points = _Points(study)
    known = [one for one in _columns(study) if any(one[1](run) is not None for run in study.runs)]
    if not known:
        return None
    rows = []
    for point in study.points():
        for label in study.labels():
            runs = study.at(point, label)
            values = [[value(run) for run in runs if value(run) is not None] for _, value, _ in known]
            if any(values):
                rows.append([*points.cells(point), label,
                             *[write(median(of)) if of else "–" for of, (_, _, write) in zip(values, known)]])
    written = any(run.written_bytes is not None for run in study.runs)
    return Table(("Write amplification, " if written else "") + "CPU, memory and disk",
                 [*points.head, "", *[name for name, _, _ in known]], rows, len(points.head) + 1,
                 "Medians." + (" Written: the bytes that the disk with the server's data wrote in the measured time, by "
                               "its own counter. The amplification divides them by the bytes of the rows written, changed "
                               "or deleted in that time. Work that the server put off is missing." if written else ""))


def measures(study):
    """Other figures that some runs have. None without any."""
    points = _Points(study)
    names = list(dict.fromkeys(name for run in study.runs for name, value in run.measures.items() if value is not None))
    if not names:
        return None
    rows = []
    for point in study.points():
        for name in names:
            values = [[run.measures[name] for run in study.at(point, label) if run.measures.get(name) is not None]
                      for label in study.labels()]
            if any(values):
                rows.append([*points.cells(point), name, *map(form.spread, values)])
    return Table("Other figures", [*points.head, "", *study.labels()], rows, len(points.head) + 1)


def errors(study):
    """By point and label; conflicts are separate from unexpected errors. None without any."""
    points, found = _Points(study), {}
    for run in study.runs:
        for error in run.errors:
            if error.count:
                key = (run.point, run.label, error.code)
                count, message, where = found.get(key, (0, error.message, error.where))
                found[key] = (count + error.count, message or error.message, where or error.where)
    rows, bad = [], set()
    for (point, label, code), (count, message, where) in found.items():
        kind = f"{code} ({CONFLICTS.get(code, 'unexpected')})" if code else "counted only"
        if code and code not in CONFLICTS:
            bad.add((len(rows), len(points.head) + 1))
        rows.append([*points.cells(point), label, kind, form.number(count), where, message])
    if not rows:
        return None
    return Table("Errors", [*points.head, "", "code", "count", "first in", "first message"], rows, len(points.head) + 1,
                 bad=frozenset(bad))


def checks(study):
    """Conditions on the data after a run. None if nothing was checked."""
    points, rows, bad = _Points(study), [], set()
    labels = study.labels()
    for point in study.points():
        names = dict.fromkeys(check.name for run in study.runs if run.point == point for check in run.checks)
        for name in names:
            row = [*points.cells(point), name]
            for label in labels:
                of = [check for run in study.at(point, label) for check in run.checks if check.name == name]
                broken = [check for check in of if check.broken]
                if broken:
                    bad.add((len(rows), len(row)))
                row.append(_state(broken or of))
            rows.append(row)
    if not rows:
        return None
    return Table("Consistency", [*points.head, "condition on the data", *labels], rows, len(points.head) + 1,
                 bad=frozenset(bad))


def _state(of):
    if not of:
        return "not checked"
    samples = "; ".join(of[0].samples)
    return of[0].state + (f": {samples}" if samples else "")


# Properties that distinguish runs of a label, the shortest first.
_TELLING = (lambda run: run.condition, lambda run: run.workload, lambda run: form.plural(run.threads, "thread"),
            lambda run: f"repetition {run.repetition}", lambda run: run.point.name,
            lambda run: f"{run.point.name}, repetition {run.repetition}")
_NAMED_MAX = 2


def _told_apart(groups):
    """For each group of runs the properties that no other group has, in words."""
    for telling in _TELLING:
        words = [list(dict.fromkeys(map(telling, group))) for group in groups]
        if len(set().union(*words)) == sum(map(len, words)):
            break
    return [" and ".join(of[:_NAMED_MAX]) + (f" and {len(of) - _NAMED_MAX} more" if len(of) > _NAMED_MAX else "")
            for of in words]


def _variants(study, what):
    """(name, dictionary) of each label; if its runs have several, the name includes their difference."""
    variants = {}
    for run in study.runs:
        values = what(run)
        if values:
            groups = variants.setdefault(run.label, [])
            if values not in [what(group[0]) for group in groups]:
                groups.append([])
            next(group for group in groups if not group or what(group[0]) == values).append(run)
    named = []
    for label, groups in variants.items():
        names = _told_apart(groups) if len(groups) > 1 else [""]
        named += [(", ".join(filter(None, (label, name))), what(group[0])) for name, group in zip(names, groups)]
    return named


_MISSING = "not there"
# Not settings: the place of a server, and the time of its creation.
_OF_THE_MACHINE = ("hostname", "server_uid", "general_log_file", "slow_query_log_file", "log_basename")


def _side_by_side(title, variants, missing):
    """A row for each name; None without any."""
    if not variants:
        return None
    names = sorted({name for _, values in variants for name in values})
    rows = [[name, *[str(values.get(name, missing)) for _, values in variants]] for name in names]
    return Table(title, ["", *[name for name, _ in variants]], rows)


def variables(study):
    """All server variables; see kind(). Without paths, this machine's names, and values that are not settings."""
    whole = _side_by_side("Server variables", _variants(study, lambda run: {
        name: value for name, value in run.variables.items()
        if not str(value).startswith("/") and name not in _OF_THE_MACHINE and not is_state(name)}), _MISSING)
    if not whole:
        return None
    kinds = [kind(row) for row in whole.rows]
    differing, alone = kinds.count(DIFFERENT), kinds.count(NOT_ON_ALL)
    said = f"Of {len(kinds):,} that the servers have, {differing or 'none'} {'differ' if differing > 1 else 'differs'}"
    if alone:
        said += (f"; {alone} more {'is' if alone == 1 else 'are'} not on every server: what only one engine's knows is "
                 "no difference")
    return replace(whole, note=f"{said}.")


DIFFERENT, NOT_ON_ALL, SAME = "different", "not-on-all", "same"


def kind(row):
    """The kind of a row of variables(). DIFFERENT: at least two servers have it, with different values."""
    values = {*row[1:]}
    return DIFFERENT if len(values - {_MISSING}) > 1 else NOT_ON_ALL if _MISSING in values else SAME


def variables_that_differ(study):
    whole = variables(study)
    rows = [row for row in whole.rows if kind(row) == DIFFERENT] if whole else []
    return replace(whole, title="Server variables that differ", rows=rows) if rows else None


_CELL_MAX = 80


def run_configuration(study):
    """Options of runs beyond the study's own configuration; a server's options are below it."""
    whole = _side_by_side("Configuration of each", _variants(study, lambda run: run.configuration), "")
    if not whole:
        return None
    short = [row for row in whole.rows if max(map(len, row)) <= _CELL_MAX]
    long = []
    for name, *values in (row for row in whole.rows if row not in short):
        said = {value: [label for label, of in zip(whole.head[1:], values) if of == value] for value in values if value}
        long += [(name, " and ".join(labels) if len(said) > 1 else "each", value) for value, labels in said.items()]
    return replace(whole, rows=short, below=tuple(long))


def configuration(study):
    return Table("Configuration", ["", ""], [[name, str(value)] for name, value in study.configuration])


def provenance(study):
    """The provenance of the figures, without paths of this machine."""
    facts = study.provenance
    if not facts:
        return None
    disk = facts.get("disk", {})
    rows = [["date", facts["date"]], ["commit", facts["commit"]], ["distribution", facts["distribution"]],
            ["kernel", facts["kernel"]], ["CPU", f"{facts['cpu']}; governor {facts['governor']}"],
            ["memory", f"{facts['memory_mb']:,} MB; transparent huge pages {facts['huge_pages']}"],
            ["disk", ", ".join(str(disk[key]) for key in ("file_system", "model", "scheduler", "options")
                               if disk.get(key))]]
    rows += [[name, text] for name, text in facts.get("says", {}).items()]
    binaries = facts.get("binaries", {})
    for name, version in study.versions().items():
        digest = f"SHA-256 {binaries[name]['sha256']}" if name in binaries else ""
        if name not in facts.get("says", {}):
            rows.append([name, ", ".join(filter(None, (_without_paths(version), digest)))])
    return Table("Where this comes from", ["", ""], rows)


def _without_paths(text):
    return " ".join(word.rsplit("/", 1)[-1] if word.startswith("/") else word for word in text.split())


def files(study):
    return Table("Raw files", ["file", "SHA-256"], [[name, digest] for name, digest in study.files.items()]) \
        if study.files else None
