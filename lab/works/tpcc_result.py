"""Reads the result files of `tpcc run --json` and says clearly what is wrong with one that is none."""

from dataclasses import dataclass, field
from pathlib import Path

from lab.base import figures
from lab.base.errors import BadInput

TRANSACTIONS = ["NEWORD", "PAYMENT", "DELIVERY", "SLEV", "OSTAT"]


@dataclass
class Result:
    """One run. raw is the whole file, for what only the page's small print shows."""
    path: Path
    label: str
    raw: dict
    columns: list = field(default_factory=list)
    rows: list = field(default_factory=list)

    @property
    def nopm(self):
        return self.raw["nopm"]

    @property
    def tpm(self):
        return self.raw["tpm"]

    @property
    def config(self):
        return self.raw["config"]

    @property
    def server(self):
        return self.raw["server"]

    def transaction(self, name):
        return self.raw["transactions"][name]

    def errors(self, code=None):
        """How many errors there were: of that number, or in all."""
        return sum(entry["count"] for entry in self.raw["errors"] if code in (None, entry["code"]))

    def consistency(self):
        """"holds", "BROKEN" or "not checked"."""
        checked = self.raw["consistency"]
        if checked is None:
            return "not checked"
        return "holds" if checked["holds"] else "BROKEN"

    def series(self, column):
        """(second, value) pairs of one column of the timeline."""
        at = self.columns.index(column)
        return [(row[0], row[at]) for row in self.rows]

    def transactions_per_second(self):
        last = 1 + len(TRANSACTIONS)
        return [(row[0], sum(row[1:last])) for row in self.rows]


def load(path):
    """One result file. Raises BadInput."""
    raw = figures.result(path, "tproc-c", "tpcc run --json")
    try:
        return _checked(Path(path), raw)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BadInput(path, f"lacks a part, or it has the wrong form: {error!r}") from error


def _counted(value, name):
    """A count or a time. Of JSON: a text that looks like one is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise ValueError(f"{name} is {value!r}")


def _checked(path, raw):
    timeline = raw["timeline"]
    expected = ["second", *TRANSACTIONS, "errors", "mean_us", "max_us"]
    if timeline["columns"] != expected:
        raise ValueError(f"timeline columns {timeline['columns']}")
    if any(len(row) != len(expected) for row in timeline["rows"]):
        raise ValueError("a timeline row has another number of columns")
    for row in timeline["rows"]:
        for value, name in zip(row, expected):
            _counted(value, name)
    for name in TRANSACTIONS:
        for key in ("count", "failed", "mean_us", "p50_us", "p95_us", "p99_us", "max_us"):
            _counted(raw["transactions"][name][key], f"{name}'s {key}")
    for entry in raw["errors"]:
        _counted(entry["code"], "an error's code")
        _counted(entry["count"], "an error's count")
        str(entry["first_message"])
    for key in ("warehouses", "virtual_users", "rampup_s", "duration_s"):
        _counted(raw["config"][key], key)
    raw["config"]["isolation"]
    for key in ("version", "engine"):
        raw["server"][key]
    dict(raw["server"]["variables"])
    if raw["consistency"] is not None:
        for check in raw["consistency"]["checks"]:
            check["name"], check["title"], check["state"], list(check["samples"])
    for key in ("nopm", "tpm"):
        if raw[key] is not None:
            _counted(raw[key], key)
    _counted(raw["measured_s"], "measured_s")
    str(raw["started"]), raw["interrupted"], raw["server_lost"]
    # What ended after the plan's last second is of a second that was hardly begun; what ended early ended within one.
    planned = raw["config"]["rampup_s"] + raw["config"]["duration_s"]
    whole = timeline["rows"][:-1] if raw["nopm"] is None else timeline["rows"]
    rows = [row for row in whole if row[0] <= planned]
    return Result(path, raw["label"], raw, timeline["columns"], rows)
