"""Kinds of values on a runner's command line, as argparse's types: what is none is refused with the option's name."""

import argparse
import math


def above_zero(text):
    value = float(text)
    if not 0 < value < math.inf:  # NaN is neither.
        raise argparse.ArgumentTypeError(f"{text} is no number above zero")
    return value


def from_zero(text):
    """Of seconds."""
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no number from zero up")
    return int(value) if value == int(value) else value


def positive(text):
    """Of how many there are."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value
