"""Charts as inline SVG: lines over time, and latency ranges on a logarithmic scale."""

import html
import math

# As many results as have a colour of their own (the page's style sheet has the colours: --s0 to --s5).
SERIES_MAX = 6

_WIDTH = 960
_HEIGHT = 280
_LEFT = 64
_RIGHT = 16
_TOP = 12
_BOTTOM = 34
_POINTS_MAX = 400


def nice_step(span, steps):
    """A step of 1, 2 or 5 times a power of ten that cuts the span in about so many steps."""
    raw = max(span, 1e-9) / steps
    power = 10 ** math.floor(math.log10(raw))
    for factor in (1, 2, 5, 10):
        if raw <= factor * power:
            return factor * power
    return 10 * power


def thinned(points, combine):
    """At most _POINTS_MAX points: neighbours become one, by `combine`."""
    width = math.ceil(len(points) / _POINTS_MAX) or 1
    return [(points[i][0], combine([value for _, value in points[i:i + width]]))
            for i in range(0, len(points), width)]


def mean(values):
    return sum(values) / len(values)


def _number(value):
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def lines(name, series, unit, rampup_s=0, combine=mean):
    """A line each result. series: (label, points). The page's script shows values under the pointer."""
    series = [(label, thinned(points, combine)) for label, points in series if points]
    if not series:
        return '<p class="none">No seconds were recorded.</p>'
    x_max = max(points[-1][0] for _, points in series)
    y_top = max(max(value for _, value in points) for _, points in series) or 1
    step = nice_step(y_top, 4)
    y_max = math.ceil(y_top / step) * step
    inner_w, inner_h = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x_of(second):
        return _LEFT + inner_w * second / max(x_max, 1)

    def y_of(value):
        return _TOP + inner_h * (1 - value / y_max)

    parts = []
    if rampup_s:
        parts.append(f'<rect class="rampup" x="{_LEFT}" y="{_TOP}" width="{x_of(min(rampup_s, x_max)) - _LEFT:.1f}"'
                     f' height="{inner_h}"/><text class="axis" x="{_LEFT + 6}" y="{_TOP + 14}">ramp-up</text>')
    for i in range(int(round(y_max / step)) + 1):
        y = y_of(i * step)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                     f'<text class="axis" text-anchor="end" x="{_LEFT - 8}" y="{y + 4:.1f}">{_number(i * step)}</text>')
    x_step = max(nice_step(x_max, 8), 1)
    for i in range(int(x_max // x_step) + 1):
        parts.append(f'<text class="axis" text-anchor="middle" x="{x_of(i * x_step):.1f}"'
                     f' y="{_HEIGHT - 12}">{_number(i * x_step)} s</text>')
    for number, (label, points) in enumerate(series):
        path = " ".join(f"{x_of(second):.1f},{y_of(value):.1f}" for second, value in points)
        values = " ".join(f"{second}:{value:.2f}" for second, value in points)
        parts.append(f'<polyline class="line s{number}" points="{path}" data-label="{html.escape(label, True)}"'
                     f' data-values="{values}"/>')
    parts.append(f'<line class="cursor" y1="{_TOP}" y2="{_TOP + inner_h}"/>')
    return (f'<svg class="chart" role="img" aria-label="{html.escape(name, True)}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
            f' data-unit="{html.escape(unit, True)}" data-left="{_LEFT}" data-right="{_RIGHT}" data-xmax="{x_max}">'
            + "".join(parts) + "</svg>")


def ranges(name, groups):
    """Latencies, a row each transaction and result, on one logarithmic scale.

    groups: (transaction, [(label, p50, p95, p99, max in ms)]). A thin line runs from p50 to the maximum, a thick
    one from p50 to p99; a dot is p95.
    """
    values = [v for _, entries in groups for _, *numbers in entries for v in numbers if v > 0]
    if not values:
        return '<p class="none">No transaction ended in the measured time.</p>'
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)
    row, gap, left = 20, 14, 150
    inner_w = _WIDTH - left - _RIGHT
    height = _TOP + sum(row * len(entries) + gap for _, entries in groups) + _BOTTOM

    def x_of(value):
        return left + inner_w * (math.log10(max(value, 10 ** low)) - low) / (high - low)

    parts = []
    for power in range(low, high + 1):
        x = x_of(10 ** power)
        text = f"{10 ** power:,.0f}" if power >= 0 else f"{10 ** power:.{-power}f}"
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{height - _BOTTOM}"/>'
                     f'<text class="axis" text-anchor="{"end" if power == high else "middle"}" x="{x:.1f}"'
                     f' y="{height - 12}">{text} ms</text>')
    y = _TOP
    for transaction, entries in groups:
        middle = y + row * len(entries) / 2
        parts.append(f'<text class="group" x="0" y="{middle + 4:.1f}">{transaction}</text>')
        for number, (label, p50, p95, p99, most) in enumerate(entries):
            middle = y + row / 2
            title = (f"{label}, {transaction}: p50 {p50:.2f} ms, p95 {p95:.2f} ms, p99 {p99:.2f} ms,"
                     f" maximum {most:.2f} ms")
            parts.append(
                f'<g class="range s{number}"><title>{html.escape(title)}</title>'
                f'<rect class="hit" x="{left}" y="{y}" width="{inner_w}" height="{row}"/>'
                f'<line class="thin" x1="{x_of(p50):.1f}" x2="{x_of(most):.1f}" y1="{middle}" y2="{middle}"/>'
                f'<line class="thick" x1="{x_of(p50):.1f}" x2="{x_of(p99):.1f}" y1="{middle}" y2="{middle}"/>'
                f'<circle cx="{x_of(p95):.1f}" cy="{middle}" r="5"/></g>')
            y += row
        y += gap
    return (f'<svg class="chart" role="img" aria-label="{html.escape(name, True)}" viewBox="0 0 {_WIDTH} {height}">'
            + "".join(parts) + "</svg>")
