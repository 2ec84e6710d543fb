"""What builds gain over the first one: at each point, at each condition, and all together; noise is called noise. Pure.

A repetition's runs at a point are a pair. At a condition, and all together, each repetition gives one figure, the mean
over its points; so what drifts in an hour is spread, and no point counts more than once a repetition.
"""

from dataclasses import dataclass, replace
from statistics import mean

from lab.harness import statistics
from lab.report.study import Point

ALL = "all together"


@dataclass(frozen=True)
class Figure:
    """A figure of a run, None where it was not measured."""
    name: str
    of: object
    lower_is_better: bool = False


def _cpu(run):
    return run.cpu_s / run.operations if run.cpu_s and run.operations else None


FIGURES = (Figure("throughput", lambda run: run.throughput), Figure("server CPU an operation", _cpu, True))


@dataclass(frozen=True)
class Gain:
    """change: in percent, with its interval. verdict: of statistics; None where one repetition alone says nothing."""
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


def _logs(study, figure, label, points):
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


def _together(figure, label, where, logs):
    """Of several points, by the repetitions that all of them have; None with fewer than two."""
    common = sorted(set.intersection(*({*of} for of in logs.values()))) if logs else []
    if len(common) < 2:
        return None
    change = statistics.of_logs([mean(of[repetition] for of in logs.values()) for repetition in common])
    points = [statistics.percent(mean(of.values())) for of in logs.values()]
    return _judged([Gain(figure, label, where, change, "", min(points), max(points))])[0]


def _judged(gains):
    """With their verdicts, which hold all together."""
    verdicts = statistics.judged([gain.change for gain in gains])
    other = {statistics.GAIN: statistics.LOSS, statistics.LOSS: statistics.GAIN}
    return [replace(gain, verdict=other.get(verdict, verdict) if gain.figure.lower_is_better else verdict)
            for gain, verdict in zip(gains, verdicts)]


def gains(study):
    """All that can be told: of each figure and label first all together, then by condition, then by point."""
    found = []
    points = study.points()
    conditions = list(dict.fromkeys(point.condition for point in points))
    for figure in FIGURES:
        for label in study.labels()[1:]:
            logs = _logs(study, figure, label, points)
            whole = _together(figure, label, ALL, logs)
            by_condition = [_together(figure, label, condition, {point: of for point, of in logs.items()
                                                                 if point.condition == condition})
                            for condition in conditions] if len(conditions) > 1 else []
            by_point = [Gain(figure, label, point, statistics.of_logs(list(of.values())), "") for point, of in logs.items()
                        if len(of) > 1]
            found += [whole] if whole else []
            found += _judged([gain for gain in by_condition if gain])
            found += _judged(by_point)
    return found
