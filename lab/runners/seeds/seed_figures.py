"""The seeds' own figures: seed_figures.csv, typed from their texts, each with its place there."""

import csv
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_suffix(".csv")


@dataclass(frozen=True)
class SeedFigure:
    study: str
    subject: str   # What was measured: a build, an engine, a workload.
    measure: str
    value: float
    unit: str
    place: str     # In the seed: its heading, or its words.


def read(path=FILE):
    """All of them, in their order."""
    with open(path, encoding="utf-8", newline="") as file:
        return [SeedFigure(**{**row, "value": float(row["value"])}) for row in csv.DictReader(file, strict=True)]


def of(study):
    """By (subject, measure)."""
    return {(figure.subject, figure.measure): figure for figure in read() if figure.study == study}
