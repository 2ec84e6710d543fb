"""Kinds of values on a runner's command line, as argparse's types: what is none is refused with the option's name."""

import argparse
import math

# No database of these is a benchmark's to make and drop.
SERVERS_DATABASES = ("mysql", "sys", "information_schema", "performance_schema")


def number(text, kind=float):
    try:
        return kind(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from error


def above_zero(text):
    value = number(text)
    if not 0 < value < math.inf:  # NaN is neither.
        raise argparse.ArgumentTypeError(f"{text} is no number above zero")
    return value


def from_zero(text):
    """Of seconds."""
    value = number(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no number from zero up")
    return int(value) if value == int(value) else value


def positive(text):
    """Of how many there are."""
    value = number(text, int)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value
