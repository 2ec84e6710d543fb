"""The format of figures in every table and on every card."""

from statistics import median


def number(value):
    """At least three digits: 0.123, 1.23, 12.3, 123, 12,345; "–" for None."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 1 else f"{value:.3g}"


def milliseconds(value):
    return "–" if value is None else f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:,.0f}"


def megabytes(count):
    return "–" if count is None else number(count / (1 << 20))


def spread(values, form=number):
    """The median, and for several values the lowest and highest."""
    if not values:
        return "–"
    text = form(median(values))
    return text if len(values) == 1 else f"{text} ({form(min(values))}–{form(max(values))})"


def ratio(of):
    """"1.83 (1.50–2.00)": of a Spread, with that of its pairs."""
    if of is None or of.ratio is None:
        return "–"
    several = len(of.values) > 1 and of.lowest is not None
    return f"{of.ratio:.2f} ({of.lowest:.2f}–{of.highest:.2f})" if several else f"{of.ratio:.2f}"


def plural(count, noun):
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
