"""Our figures for a seed's study, under the names of seed_figures.csv. Pure: a report's Study in, figures out.

    figures("000", of)    # {(subject, measure): [value of each repetition]}
"""

from statistics import mean

from lab.record import gains
from lab.record.run import Latency
from lab.record.statistics import percent
from lab.runners.seeds.builds import LARGE
from lab.server.private_server import in_bytes

_PGO = "-PGO"
_TPROCC = {"NOPM": lambda run: run.throughput, "TPM": lambda run: run.measures["TPM"],
           "new-order p95": lambda run: _latency(run, "NEWORD").p95_ms,
           "delivery p95": lambda run: _latency(run, "DELIVERY").p95_ms}
_TPROCC_MEANS = {"new-order mean": lambda run: _latency(run, "NEWORD").mean_ms,
                 "delivery mean": lambda run: _latency(run, "DELIVERY").mean_ms,
                 "stock-level mean": lambda run: _latency(run, "SLEV").mean_ms}
_SYSBENCH = {"transactions/s": lambda run: run.throughput, "queries/s": lambda run: run.measures.get("queries/s"),
             "mean latency": lambda run: run.main_latency().mean_ms,
             "p95 latency": lambda run: run.main_latency().p95_ms}
_POINT_SELECT = "oltp_point_select"
# Of a step's whole seconds: the slowest and the fastest twentieth.
_SLOW, _FAST = 0.05, 0.95
_ENDS_S = 20  # The seed's rate collapsed within this time.
_TAILS = {"insert": "insert", "delete": "delete", "lowest key": "find_low"}  # A step's operations, in a reader's words.


def _latency(run, operation):
    return next((latency for latency in run.latencies if latency.operation == operation), Latency(operation))


def _by_label(of):
    """By label and repetition, the finished runs."""
    found = {}
    for run in of.runs:
        if run.throughput:
            found.setdefault(run.label, {})[run.repetition] = run
    return found


def _values(runs, value):
    return [value(runs[key]) for key in sorted(runs) if value(runs[key]) is not None]


def _pairs(above, below, value):
    """The ratio for each repetition that both have."""
    return [value(above[key]) / value(below[key]) for key in sorted({*above} & {*below}) if value(below[key])]


def _put(found, subject, runs, measures):
    for measure, value in measures.items():
        found[subject, measure] = _values(runs, value)


def _seed_000(of):
    found, by_label = {}, _by_label(of)
    for label, runs in by_label.items():
        if not label.endswith(LARGE):
            _put(found, label.replace("-", " "), runs, _TPROCC)
    for label, runs in by_label.items():
        if label + _PGO in by_label:
            for measure, value in _TPROCC.items():
                found[label.replace("-", " "), f"{measure}: gain of PGO"] = [
                    100 * (ratio - 1) for ratio in _pairs(by_label[label + _PGO], runs, value)]
    # The seed's takeaway: the best build beside InnoDB without PGO.
    best, plain = by_label.get("TidesDB-jemalloc-PGO", {}), by_label.get("InnoDB-jemalloc", {})
    for measure in ("TPM", "delivery p95"):
        found["TidesDB jemalloc PGO over InnoDB jemalloc", f"{measure}: ratio"] = _pairs(best, plain, _TPROCC[measure])
    return found


def _seed_001_cache(of):
    found, by_label = {}, _by_label(of)
    large = next((label for label in by_label if label.endswith(LARGE)), None)
    if large is None:
        return {}
    small = by_label.get(large.removesuffix(LARGE), {})
    _put(found, "small cache", small, _TPROCC)
    _put(found, "large cache", by_label[large], _TPROCC)
    found["large over small cache", "TPM: ratio"] = _pairs(by_label[large], small, _TPROCC["TPM"])
    return found


def _seed_002(of):
    found, by_label = {}, _by_label(of)
    innodb, tidesdb = by_label.get("InnoDB-glibc", {}), by_label.get("TidesDB-glibc", {})
    measures = {**_TPROCC, **_TPROCC_MEANS}
    _put(found, "InnoDB", innodb, measures)
    _put(found, "TidesDB", tidesdb, measures)
    for measure in ("NOPM", "TPM", *_TPROCC_MEANS):
        found["TidesDB over InnoDB", f"{measure}: ratio"] = _pairs(tidesdb, innodb, measures[measure])
    return found


def _rates(run):
    """Rows inserted in each whole second of a step; 0 for a second without a point."""
    inserted = run.series.get("insert rows")
    if not inserted:
        return []
    of = dict(inserted.points)
    return [of.get(second, 0) for second in range(min(of), max(of) + 1)]


def _seconds(run, share):
    """The rate of the second at this quantile of a step's seconds."""
    rates = sorted(_rates(run))
    return rates[min(len(rates) - 1, int(share * len(rates)))] if rates else None


def _at_an_end(run, part):
    """The mean rate of some seconds at an end of a step; None if the step is too short to have both ends."""
    rates = _rates(run)
    return mean(rates[part]) if len(rates) >= 2 * _ENDS_S else None


def _seed_001_deletes(of):
    found = {}
    for label in of.labels():
        runs = {run.repetition: run for run in of.runs if run.label == label and run.workload == "iibench l.i1"}
        _put(found, label, runs, {"rows inserted and deleted": lambda run: run.measures.get("inserted rows/s"),
                                  "slowest seconds (p5)": lambda run: _seconds(run, _SLOW),
                                  "fastest seconds (p95)": lambda run: _seconds(run, _FAST),
                                  "the slowest second": lambda run: _seconds(run, 0),
                                  f"the first {_ENDS_S} s": lambda run: _at_an_end(run, slice(None, _ENDS_S)),
                                  f"the last {_ENDS_S} s": lambda run: _at_an_end(run, slice(-_ENDS_S, None))})
        for name, operation in _TAILS.items():
            _put(found, label, runs, {f"{name} p99": lambda run, o=operation: _latency(run, o).p99_ms,
                                      f"{name} maximum": lambda run, o=operation: _latency(run, o).max_ms})
        _put(found, label, runs, {"the step's time": lambda run: run.measures.get("seconds of the step")})
    return found


def _sweep(of, workload):
    found = {}
    runs = [run for run in of.runs if run.workload == workload and run.throughput]
    for condition in dict.fromkeys(run.condition for run in runs):
        at = {run.repetition: run for run in runs if run.condition == condition}
        subject = f"{condition[:-1].split()[-1]} {condition[-1]}B staged"
        _put(found, subject, at, {"time": lambda run: run.seconds,
                                  "peak resident memory": lambda run: _megabytes(run, "resident, peak"),
                                  "resident memory before it": lambda run: _megabytes(run, "resident, before")})
    return found


def _megabytes(run, name):
    return run.memory[name] / (1 << 20) if run.memory.get(name) else None


def _seed_003(of):
    if len(of.labels()) < 2:
        return {}
    found = {}
    tiers = sorted({run.condition for run in of.runs}, key=lambda condition: in_bytes(condition.split()[0]))
    names = dict(zip(tiers, ("smallest tier", *["middle tier"] * (len(tiers) - 2), "largest tier")))
    logs = gains.logs_of(of, gains.THROUGHPUT, of.labels()[1], of.points())
    for point, by_repetition in logs.items():
        key = (names[point.condition], f"gain of PGO, {point.threads} thread{'' if point.threads == 1 else 's'}")
        found[key] = [percent(log) for log in by_repetition.values()]
    # As in the report: a mean of percentages would show a gain in pure noise.
    for name in [*names.values(), "all"]:
        of_tier = {point: by for point, by in logs.items() if name in (names[point.condition], "all")}
        found[name, "mean gain of PGO"] = [percent(log) for log in gains.means(of_tier)]
    return found


def _of_workloads(found, label, workloads, measure, choose):
    """For each repetition the lowest or highest of the workloads' figures; none if a workload lacks some."""
    of_each = [found.get((f"{workload} {label}", measure), []) for workload in workloads]
    return [choose(values) for values in zip(*of_each)] if len({len(values) for values in of_each}) == 1 else []


def _seed_004(of):
    found = {}
    most = max(run.threads for run in of.runs)
    scaling = f"efficiency from {most // 2} to {most} threads"
    workloads = list(dict.fromkeys(run.workload for run in of.runs))
    for workload in workloads:
        at = {(label, threads): {run.repetition: run for run in of.runs
                                 if (run.workload, run.label, run.threads) == (workload, label, threads)}
              for label in of.labels() for threads in {run.threads for run in of.runs}}
        for measure, value in _SYSBENCH.items():
            found[workload, f"TidesDB over InnoDB, {measure}: ratio"] = _pairs(
                at.get(("TidesDB", most), {}), at.get(("InnoDB", most), {}), value)
        for label in of.labels():
            _put(found, f"{workload} {label}", at[label, most], _SYSBENCH)
            if (label, most // 2) in at:
                found[f"{workload} {label}", scaling] = [
                    50 * ratio for ratio in _pairs(at[label, most], at[label, most // 2], lambda run: run.throughput)]
    ranges = (("all workloads", workloads, "p95 latency"),
              ("all but point_select", [workload for workload in workloads if workload != _POINT_SELECT], scaling))
    for label in of.labels():
        for subject, of_these, measure in ranges:
            for name, choose in (("lowest", min), ("highest", max)):
                found[f"{subject} {label}", f"{name} {measure}"] = _of_workloads(found, label, of_these, measure, choose)
    return found


def _engines(of):
    found, by_label = {}, _by_label(of)
    for label, runs in by_label.items():
        _put(found, label, runs, _TPROCC)
    for label in by_label:
        if label != "InnoDB" and "InnoDB" in by_label:
            found[f"{label} over InnoDB", "NOPM: ratio"] = _pairs(by_label[label], by_label["InnoDB"], _TPROCC["NOPM"])
    return found


_OF = {"000": _seed_000, "001-cache": _seed_001_cache, "002": _seed_002, "001-deletes": _seed_001_deletes,
       "001-bulk": lambda of: _sweep(of, "iibench INSERT ... SELECT"), "001-index": lambda of: _sweep(of, "iibench l.x"),
       "003": _seed_003, "004": _seed_004, "engines": _engines}


def figures(study, of):
    """The figures of a study by its name and its run's report Study. Leaves out what was not measured."""
    return {key: values for key, values in _OF[study](of).items() if values}
