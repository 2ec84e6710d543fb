"""The gain of builds over the first one: at each point, at each condition, and all together; noise is called noise. Pure.

A repetition's runs at a point are a pair. At a condition, and all together, each repetition gives one figure, the mean
over its points. So a drift over an hour is spread, and no point counts more than once per repetition.

All lines of a study, of every figure and build, are judged at once: one in twenty studies of pure noise has a line
that says otherwise. "All together" has three times the conditions' share of that chance, and conditions three times the
points'. With equal shares, the dozen points of a small study would hide what a few repetitions can show.
"""

from collections import Counter
from dataclasses import dataclass, replace
from statistics import mean

from lab.record import statistics
from lab.record.run import Point

ALL = "all together"
_CONDITION, _POINT = "condition", "point"
_SHARES = {ALL: 9, _CONDITION: 3, _POINT: 1}


@dataclass(frozen=True)
class Figure:
    """A figure of a run; None if it was not measured."""
    name: str
    of: object
    lower_is_better: bool = False


def _cpu(run):
    return run.cpu_s / run.operations if run.cpu_s and run.operations else None


THROUGHPUT = Figure("throughput", lambda run: run.throughput)
FIGURES = (THROUGHPUT, Figure("server CPU an operation", _cpu, True))


@dataclass(frozen=True)
class Gain:
    """change: in percent, with its interval. verdict: from statistics; None if a single repetition shows nothing."""
    figure: Figure
    label: str
    where: object           # ALL, a condition's name, or a Point.
    change: statistics.Gain
    verdict: str
    lowest: float | None = None   # Of the means of its points, in percent.
    highest: float | None = None

    @property
    def of_point(self):
        return isinstance(self.where, Point)

    @property
    def level(self):
        return _POINT if self.of_point else ALL if self.where == ALL else _CONDITION


def logs_of(study, figure, label, points):
    """By point and repetition, the logarithm of the pair's ratio."""
    base, found = study.labels()[0], {}
    for point in points:
        of = {name: {run.repetition: figure.of(run) for run in study.at(point, name) if figure.of(run)}
              for name in (base, label)}
        both = sorted({*of[base]} & {*of[label]})
        logs = statistics.logs_of([of[base][key] for key in both], [of[label][key] for key in both])
        if both:
            found[point] = dict(zip(both, logs))
    return found


def means(logs):
    """The mean over several points of logs_of(), for each repetition that all of them have."""
    common = sorted(set.intersection(*({*of} for of in logs.values()))) if logs else []
    return [mean(of[repetition] for of in logs.values()) for repetition in common]


def _together(figure, label, where, logs):
    """A list with the Gain of several points; empty if fewer than two repetitions are in all of them."""
    of_repetitions = means(logs)
    if len(of_repetitions) < 2:
        return []
    points = [statistics.percent(mean(of.values())) for of in logs.values()]
    return [Gain(figure, label, where, statistics.of_logs(of_repetitions), "", min(points), max(points))]


def _judged(gains):
    """The gains with their joint verdicts."""
    lines = Counter(gain.level for gain in gains)
    verdicts = statistics.judged([gain.change for gain in gains],
                                 [_SHARES[gain.level] / lines[gain.level] for gain in gains])
    other = {statistics.GAIN: statistics.LOSS, statistics.LOSS: statistics.GAIN}
    return [replace(gain, verdict=other.get(verdict, verdict) if gain.figure.lower_is_better else verdict)
            for gain, verdict in zip(gains, verdicts)]


def gains(study):
    """All gains: for each figure and label first all together, then by condition, then by point."""
    found = []
    points = study.points()
    conditions = list(dict.fromkeys(point.condition for point in points))
    for figure in FIGURES:
        for label in study.labels()[1:]:
            logs = logs_of(study, figure, label, points)
            found += _together(figure, label, ALL, logs)
            for condition in conditions if len(conditions) > 1 else []:
                found += _together(figure, label, condition, {point: of for point, of in logs.items()
                                                              if point.condition == condition})
            found += [Gain(figure, label, point, statistics.of_logs(list(of.values())), "")
                      for point, of in logs.items() if len(of) > 1]
    return _judged(found)
