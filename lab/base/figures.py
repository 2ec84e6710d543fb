"""Figures in what other programs print, checked: a plain number, in JSON too. What is none is a BadInput with its place."""

import json
import math
import re
from pathlib import Path

from lab.base.errors import BadInput

FORMAT = 1  # Of result files.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# What becomes the name of a file and a text in a chart: no path, no formula, nothing that a legend leaves out.
_LABEL = re.compile(r"[^\W_][\w .,:=+()@#-]{0,99}")
_WHOLE_MAX = 1 << 64  # No counter of a server's, or of a file's bytes, is beyond it.


def number(text, source, line=None, name="a figure", signed=False):
    """The float; signed: below zero too."""
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        why = ", with a decimal comma; LC_ALL=C prints it with a point" if re.fullmatch(r"-?\d+,\d+", text) else ""
        raise BadInput(source, f"is damaged: {name} is {text[:40]!r}, no number{why}", line)
    value = float(text)
    if not math.isfinite(value):
        raise BadInput(source, f"is damaged: {name} is {text[:40]!r}, beyond all numbers", line)
    if value < 0 and not signed:
        raise BadInput(source, f"is damaged: {name} is {text[:40]!r}, below zero", line)
    return value


def whole(text, source, line=None, name="a count", least=0):
    """The int."""
    text = text.strip()
    if not re.fullmatch(r"[+-]?\d+", text, re.ASCII):
        raise BadInput(source, f"is damaged: {name} is {text[:40]!r}, no whole number", line)
    if len(text) > 20 or not least <= int(text) < _WHOLE_MAX:
        raise BadInput(source, f"is damaged: {name} is {text[:40]}; from {least} up, and within 64 bits, is wanted", line)
    return int(text)


def label(text, source, line=None, name="a name"):
    """A name that somebody gave, such as an engine's or a workload's, without blanks around it."""
    text = text.strip()
    if not _LABEL.fullmatch(text):
        raise BadInput(source, f"is damaged: {name} is {text[:40]!r}; a letter or a digit is wanted, and then letters, "
                       "digits, blanks and _ . , : = + - ( ) @ #", line)
    return text


def refuse_cut(text, source, tool):
    """A line without its end was being written when the tool, or the disk, came to its end."""
    if not text.endswith("\n"):
        raise BadInput(source, f"is cut off within this line of {tool}'s", len(text.splitlines()))


def read(path):
    """A file's text, whatever its bytes; the parsers say what is wrong with them."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise BadInput(path, f"cannot be read: {error.strerror}") from error


def _finite(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is no number")
    return value


def _whole(text):
    if len(text) > 40:
        raise ValueError(f"{text[:40]}... is beyond all figures")
    return int(text)


def of_json(text, source, empty="is empty; what should have written it did not end"):
    """What JSON says; NaN and its like are no JSON."""
    if not text.strip():
        raise BadInput(source, empty)
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise BadInput(source, f"is no JSON, or cut off: {error}", getattr(error, "lineno", None)) from error


def result(path, kind, program):
    """What a program's result file says. Raises BadInput for any other file."""
    raw = of_json(read(path), path, "is empty; the run that should have written it did not end")
    if not isinstance(raw, dict) or raw.get("kind") != kind:
        raise BadInput(path, f"is no result of `{program}`")
    if raw.get("format") != FORMAT:
        raise BadInput(path, f"has format {raw.get('format')}; this report reads format {FORMAT}")
    return raw
