"""Checked figures from other programs' output: a plain number, also in JSON. Anything else is a BadInput with its place."""

import json
import math
import re
from pathlib import Path

from lab.base.errors import BadInput

FORMAT = 1  # Of result files.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# Becomes a file's name and a text in a chart: no path, no formula, nothing that a legend leaves out.
_LABEL = re.compile(r"[^\W_][\w .,:=+()@#-]{0,99}")
_WHOLE_MAX = 1 << 64  # Above any counter of a server or size of a file.


def number(text, source, line=None, name="a figure", signed=False):
    """The float; signed: may be below zero."""
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        why = ", with a decimal comma; LC_ALL=C prints it with a point" if re.fullmatch(r"-?\d+,\d+", text) else ""
        raise BadInput(source, f"is damaged: {name} is {text[:40]!r}, not a number{why}", line)
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
        raise BadInput(source, f"is damaged: {name} is {text[:40]!r}, not a whole number", line)
    if len(text) > 20 or not least <= int(text) < _WHOLE_MAX:
        raise BadInput(source, f"is damaged: {name} is {text[:40]}; must be at least {least} and within 64 bits", line)
    return int(text)


def label(text, source, line=None, name="a name"):
    """A name such as an engine's or a workload's, without blanks around it."""
    text = text.strip()
    if not _LABEL.fullmatch(text):
        raise BadInput(source, f"is damaged: {name} is {text[:40]!r}; must be a letter or a digit, then letters, "
                       "digits, blanks and _ . , : = + - ( ) @ #", line)
    return text


def refuse_cut(text, source, tool):
    """Refuses a last line without its end: the tool was killed, or the disk filled, while writing it."""
    if not text.endswith("\n"):
        raise BadInput(source, f"is cut off within this line of {tool}'s", len(text.splitlines()))


def read(path):
    """A file's text, for any bytes; the parsers report wrong ones."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise BadInput(path, f"cannot be read: {error.strerror}") from error


def _finite(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is not a number")
    return value


def _whole(text):
    if len(text) > 40:
        raise ValueError(f"{text[:40]}... is beyond all figures")
    return int(text)


def of_json(text, source, empty="is empty; its program did not finish"):
    """Parses JSON, which does not include NaN and the like."""
    if not text.strip():
        raise BadInput(source, empty)
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise BadInput(source, f"is not JSON, or cut off: {error}", getattr(error, "lineno", None)) from error


def result(path, kind, program):
    """The content of a program's result file. Raises BadInput for any other file."""
    raw = of_json(read(path), path, "is empty; its run did not finish")
    if not isinstance(raw, dict) or raw.get("kind") != kind:
        raise BadInput(path, f"is not a result of `{program}`")
    if raw.get("format") != FORMAT:
        raise BadInput(path, f"has format {raw.get('format')}; this report reads format {FORMAT}")
    return raw
