"""Is one build faster than another, or is it noise? Ratios of runs that took turns, their mean and its interval; pure.

    gain = of_pairs(before, after)          # before[i] and after[i] ran one after the other.
    str(gain), gain.verdict                 # "+6.5 % (+4.1 to +9.0)", "gain"
    overall({"read": (before, after), "write": (before, after)})
    judged([gain, gain, ...])               # Verdicts that hold all together.
    interval_of_ratios([1.1, 1.2, 1.1])     # (1.01, 1.27); None if there is no interval.

Means are over the logarithms of ratios, so that twice as fast and half as fast cancel out. The interval is Student's t,
95 %.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import mean, stdev

CONFIDENCE = 0.95
GAIN, LOSS, NOISE = "gain", "loss", "within noise"


def _fraction(a, b, x):
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1.0 / max(1.0 - (a + b) * x / (a + 1.0), tiny)
    value = d
    for m in range(1, 300):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for part in (even, odd):
            d = 1.0 + part * d
            c = 1.0 + part / c
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1.0) < 1e-12:
            break
    return value


def _beta(a, b, x):
    """The regularised incomplete beta function."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1.0 - x) / b


def p_of_t(t, freedom):
    """The probability that chance alone gives a Student's t that far from 0, on either side."""
    return 1.0 if t == 0 else 0.0 if math.isinf(t) else _beta(freedom / 2, 0.5, freedom / (freedom + t * t))


@lru_cache(maxsize=256)
def t_of_p(p, freedom):
    """The Student's t beyond which p of the distribution lies, on both sides together."""
    low, high = 0.0, 1.0
    while p_of_t(high, freedom) > p:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if p_of_t(middle, freedom) > p else (low, middle)
    return high


@dataclass(frozen=True)
class Gain:
    """In percent; low and high are the ends of the confidence interval."""
    mean: float
    low: float
    high: float
    pairs: int
    p: float  # The probability that noise alone shows as much.

    def __str__(self):
        return f"{self.mean:+.1f} % ({self.low:+.1f} to {self.high:+.1f})"

    @property
    def verdict(self):
        """The verdict of this figure alone; judged() is for several."""
        return _verdict(self, self.p < 1 - CONFIDENCE)


def _verdict(gain, significant):
    return NOISE if not significant else GAIN if gain.mean > 0 else LOSS


def interval_of_logs(logs):
    """(mean, half its interval, p) of logarithms of ratios. REQUIRES: two at least."""
    count = len(logs)
    if count < 2:
        raise ValueError("one pair of runs has no spread; at least two are needed")
    around, error = mean(logs), stdev(logs) / math.sqrt(count)
    if error <= 1e-15 * abs(around):  # All alike, except for the last bit.
        return around, *_without_spread(around, count)
    return around, t_of_p(1 - CONFIDENCE, count - 1) * error, p_of_t(around / error, count - 1)


def _without_spread(around, count):
    """(half the interval, p) of that many equal figures, which the steps of a histogram can give.

    They do not show how large the noise is, so only their direction counts (the sign test). If there are too few
    for that, the interval reaches to no change.
    """
    p = 2.0 ** (1 - count) if around else 1.0
    return (0.0 if p < 1 - CONFIDENCE else abs(around)), p


def interval_of_ratios(ratios):
    """The ends of the confidence interval of the ratios' geometric mean; None for fewer than two, or if one is 0."""
    if len(ratios) < 2 or min(ratios) <= 0:
        return None
    around, half, _ = interval_of_logs([math.log(ratio) for ratio in ratios])
    return math.exp(around - half), math.exp(around + half)


def percent(log):
    """The change in percent for a ratio's logarithm."""
    return 100 * math.expm1(log)


def of_logs(logs):
    """The Gain from logarithms of ratios. REQUIRES: at least two."""
    around, half, p = interval_of_logs(logs)
    return Gain(percent(around), percent(around - half), percent(around + half), len(logs), p)


def logs_of(before, after):
    """The Gain of pairs: effects on both runs of a pair cancel out."""
    return [math.log(b / a) for a, b in zip(before, after, strict=True)]


def of_pairs(before, after):
    """before[i] and after[i] ran one after the other."""
    return of_logs(logs_of(before, after))


def overall(by_work):
    """The Gain over several kinds of work, (before, after) each: a round's gain is the mean over its kinds."""
    rounds = zip(*(logs_of(before, after) for before, after in by_work.values()), strict=True)
    return of_logs([mean(logs) for logs in rounds])


def judged(gains, weights=None):
    """Their verdicts, by Holm's method: if all is noise, any of them says otherwise with a chance of one in twenty.

    Judged singly, each would be wrong once in twenty, so two in a table of forty. weights: each line's
    share of that chance; equal by default.
    """
    weights = weights or [1] * len(gains)
    verdicts, left = [NOISE] * len(gains), sum(weights)
    for number in sorted(range(len(gains)), key=lambda number: gains[number].p / weights[number]):
        if gains[number].p >= (1 - CONFIDENCE) * weights[number] / left:
            break
        verdicts[number] = _verdict(gains[number], True)
        left -= weights[number]
    return verdicts
