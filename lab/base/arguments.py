"""Kinds of values on a runner's command line, as argparse types; a wrong value is refused with the option's name."""

import argparse
import math

# A benchmark must never make or drop these databases.
SERVERS_DATABASES = ("mysql", "sys", "information_schema", "performance_schema")


def number(text, kind=float):
    try:
        return kind(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from error


def above_zero(text):
    value = number(text)
    if not 0 < value < math.inf:  # Also refuses NaN.
        raise argparse.ArgumentTypeError(f"{text} is not a number above zero")
    return value


def from_zero(text):
    """Of seconds."""
    value = number(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number from zero up")
    return int(value) if value == int(value) else value


def positive(text):
    """A count."""
    value = number(text, int)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value
