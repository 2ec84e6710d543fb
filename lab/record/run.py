"""A runner's data for a report: a study and its runs. Pure data.

    study = Study("compare", "InnoDB and TidesDB", "20 s a run", runs)
    page.render(study, ...), markdown.text(study), charts.draw(study, directory)
"""

from dataclasses import dataclass, field
from statistics import median

from lab.record.statistics import interval_of_ratios

# Names of series that every runner fills if it can; any other name is a metric for the explorer.
THROUGHPUT = "throughput"
LATENCIES = ("mean latency", "p50 latency", "p95 latency", "p99 latency", "p99.9 latency", "maximum latency")

# Errors of a busy database, after which a client tries again.
CONFLICTS = {1213: "deadlock", 1205: "lock wait timeout", 1020: "changed since read"}

# Variables that show a server's position, not its settings.
_STATE = ("gtid_binlog_pos", "gtid_binlog_state", "gtid_current_pos", "gtid_slave_pos", "gtid_executed", "gtid_owned",
          "gtid_purged", "last_gtid", "last_insert_id", "timestamp")

_REASONS_MAX = 2  # The table of checks has them all.


def is_state(variable):
    return variable in _STATE


@dataclass(frozen=True)
class Latency:
    """Latencies of one kind of operation, in milliseconds. None: unknown."""
    operation: str
    count: int | None = None
    mean_ms: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    p999_ms: float | None = None
    max_ms: float | None = None


@dataclass(frozen=True)
class Metric:
    """points: (second, value), in order of seconds."""
    unit: str
    points: list


@dataclass(frozen=True)
class Error:
    """code: 0 if the tool only counts."""
    code: int
    count: int
    message: str = ""
    where: str = ""

    @property
    def conflict(self):
        return self.code in CONFLICTS


@dataclass(frozen=True)
class Check:
    """A condition on the data. state: "holds", "broken" or another state from the tool."""
    name: str
    state: str
    samples: tuple = ()

    @property
    def broken(self):
        return self.state.lower() == "broken"


@dataclass(frozen=True)
class Point:
    """The properties that comparable runs have in common."""
    condition: str
    workload: str
    threads: int

    @property
    def name(self):
        parts = [self.condition] if self.condition else []
        return ", ".join([*parts, self.workload, f"{self.threads} thread{'' if self.threads == 1 else 's'}"])


@dataclass
class Run:
    """One measurement. Empty fields and None were not measured, and the report leaves them out.

    A run that left wrong data has no figures of speed: Study removes them.
    """
    label: str                  # The compared engine or build.
    workload: str
    threads: int
    repetition: int
    throughput: float | None    # None: the run did not finish.
    unit: str                   # Of throughput: "transactions/s".
    condition: str = ""         # Another difference of points: "commits synced", "12 GB of memory".
    seconds: float | None = None
    operations: float | None = None    # In throughput's unit, in the measured time.
    latencies: list = field(default_factory=list)
    series: dict = field(default_factory=dict)     # By name: Metric.
    measures: dict = field(default_factory=dict)   # Other figures, by name with the unit: {"TPM": 2300.0}.
    errors: list = field(default_factory=list)
    checks: list = field(default_factory=list)
    checked: bool = False
    complete: bool = True
    notes: list = field(default_factory=list)      # Problems of this run: "connection lost".
    wrong: str = ""                                # Wrong data or answers; "": none, or its checks tell.
    sizes: dict = field(default_factory=dict)      # On disk, bytes by name.
    memory: dict = field(default_factory=dict)     # Bytes by name.
    written_bytes: int | None = None   # By the disk that its data are on, in the measured time.
    row_bytes: int | None = None       # Of the rows written, changed or deleted in that time.
    cpu_s: float | None = None         # Of the server, in the measured time.
    status: dict = field(default_factory=dict)     # Growth of counters.
    variables: dict = field(default_factory=dict)
    configuration: dict = field(default_factory=dict)  # Of this run alone.
    versions: dict = field(default_factory=dict)   # Of the programs: "server", libraries and tools, in their own words.
    files: list = field(default_factory=list)      # Its raw files, as named in Study.files.

    @property
    def point(self):
        return Point(self.condition, self.workload, self.threads)

    @property
    def write_amplification(self):
        """Bytes written for each byte of rows."""
        return self.written_bytes / self.row_bytes if self.written_bytes is not None and self.row_bytes else None

    @property
    def written_kb_per_operation(self):
        known = self.written_bytes is not None and self.operations
        return self.written_bytes / self.operations / 1000 if known else None

    @property
    def broken(self):
        return bool(self.inconsistency())

    def inconsistency(self):
        """The problems of its data, in words; "": no check failed."""
        broken = [check for check in self.checks if check.broken]
        if self.wrong or not broken:
            return self.wrong
        said = [f"{check.name} ({check.samples[0]})" if check.samples else check.name for check in broken[:_REASONS_MAX]]
        more = len(broken) - len(said)
        return "; ".join(said) + (f" and {more} more" if more else "") + ": broken"

    def leave_out_figures(self):
        """Removes figures of speed and of an operation's cost. Sizes on disk and in memory, errors and checks stay."""
        self.throughput = self.operations = self.row_bytes = None
        self.latencies, self.series, self.measures = [], {}, {}

    def consistency(self):
        """"holds", "BROKEN" or "not checked"."""
        return "BROKEN" if self.broken else "holds" if self.checked else "not checked"

    def main_latency(self):
        """The latency of the first operation; None without any."""
        return self.latencies[0] if self.latencies else None


def plain(run):
    """A Run as JSON data; of_plain() is the inverse."""
    return {**vars(run), "latencies": [vars(one) for one in run.latencies], "errors": [vars(one) for one in run.errors],
            "checks": [vars(one) for one in run.checks],
            "series": {name: [metric.unit, metric.points] for name, metric in run.series.items()}}


def of_plain(found):
    return Run(**{**found, "latencies": [Latency(**one) for one in found["latencies"]],
                  "errors": [Error(**one) for one in found["errors"]],
                  "checks": [Check(**{**one, "samples": tuple(one["samples"])}) for one in found["checks"]],
                  "series": {name: Metric(unit, [tuple(point) for point in points])
                             for name, (unit, points) in found["series"].items()}})


@dataclass
class Study:
    """The others are compared with the label of the first run."""
    kind: str
    title: str
    about: str
    runs: list
    unequal: list = field(default_factory=list)        # Sentences about differences between the runs.
    history: list = field(default_factory=list)        # Sentences: interruptions and failures.
    configuration: list = field(default_factory=list)  # (name, value): all requested options.
    provenance: dict = field(default_factory=dict)     # From provenance.collect().
    files: dict = field(default_factory=dict)          # By name, the SHA-256 of each raw file.
    paired: bool = False  # Builds of one program took turns: gains.py tells gains from noise.

    def __post_init__(self):
        """Removes the throughput of runs with wrong data from all tables, ratios and charts; the history says so."""
        for run in self.runs:
            if run.broken:
                run.leave_out_figures()
                said = (f"Inconsistent: {run.label}, {run.point.name}, repetition {run.repetition} has no figures: "
                        f"{run.inconsistency()}.")
                self.history = self.history if said in self.history else [*self.history, said]

    def labels(self):
        return list(dict.fromkeys(run.label for run in self.runs))

    def points(self):
        return list(dict.fromkeys(run.point for run in self.runs))

    def versions(self):
        """By name, the version of each program and library, "" if unknown: from the running program, else from its file."""
        known = self.provenance.get("binaries", {})
        said = {}
        for run in self.runs:
            server = {"server": run.variables["version"]} if "version" in run.variables else {}
            for name, version in {**server, **run.versions}.items():
                of = [binary for binary in known if _is(binary.removeprefix(f"{run.label}: "), name)]
                for binary in of or [name]:
                    said.setdefault(binary, {})[version] = True
        files = {name: item.get("version", "") for name, item in known.items()}
        return {name: ", ".join(said.get(name, ())) or files[name] for name in known} | {
            name: ", ".join(versions) for name, versions in said.items() if name not in known}

    def scales(self):
        """Whether some workload ran with several numbers of threads."""
        counts = {}
        for point in self.points():
            counts.setdefault((point.condition, point.workload), set()).add(point.threads)
        return any(len(of) > 1 for of in counts.values())

    def at(self, point, label):
        return [run for run in self.runs if run.point == point and run.label == label]

    def compared(self, value=lambda run: run.throughput):
        """(point, {label: Spread}) of every point; without labels that were not measured there."""
        base = self.labels()[0] if self.runs else None
        rows = []
        for point in self.points():
            of = {label: {run.repetition: value(run) for run in self.at(point, label) if value(run) is not None}
                  for label in self.labels()}
            rows.append((point, {label: Spread.of(values, of[base] if label != base else None)
                                 for label, values in of.items() if values}))
        return rows


def _is(binary, name):
    return binary == name or (name == "server" and binary in ("mariadbd", "mysqld"))


@dataclass(frozen=True)
class Spread:
    """The repetitions of one label at one point."""
    values: tuple
    ratio: float | None = None     # Of the medians, to the base.
    lowest: float | None = None    # Of the ratios of the repetitions' pairs.
    highest: float | None = None
    interval: tuple | None = None  # 95 % confidence of the pairs' ratio; None with too few pairs.

    @property
    def median(self):
        return median(self.values)

    @property
    def verdict(self):
        """"higher", "lower", or "within noise"; None with too few repetitions."""
        if self.interval is None:
            return None
        low, high = self.interval
        return "higher" if low > 1 else "lower" if high < 1 else "within noise"

    @staticmethod
    def of(values, base):
        """values, base: by repetition. base None: nothing to compare with."""
        ordered = tuple(values[key] for key in sorted(values))
        if not base or not median(base.values()):
            return Spread(ordered)
        pairs = [values[key] / base[key] for key in sorted(values) if base.get(key)]
        return Spread(ordered, median(ordered) / median(base.values()), min(pairs, default=None), max(pairs, default=None),
                      interval_of_ratios(pairs))


def numbered(labels):
    """The same names, with a number added to repeated ones."""
    seen, named = {}, []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        named.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return named
