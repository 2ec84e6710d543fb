"""Checks one history: finds all anomalies, and those that its level forbids."""

from collections import Counter
from dataclasses import dataclass

from test.isolation import levels
from test.isolation.dependencies import Dependencies, describe
from test.isolation.graph import Graph
from test.isolation.history import SERIALIZABLE
from test.isolation.rows import Anomaly, Rows


@dataclass
class Verdict:
    forbidden: list
    allowed: list

    def counts(self):
        """(forbidden, allowed), each name counted once."""
        return (Counter({anomaly.name for anomaly in self.forbidden}), Counter({anomaly.name for anomaly in self.allowed}))


def check(history):
    rows = Rows(history)
    if rows.unseen:  # A missing write may be in a version that nobody saw.
        return Verdict([Anomaly(name, text) for name, text in history.problems], [])
    dependencies = Dependencies(rows)
    if history.level == SERIALIZABLE:
        dependencies.real_time()
    found = [Anomaly(name, text) for name, text in history.problems]
    found += rows.anomalies + levels.cycles(Graph(dependencies.edges), history)
    forbidden = [anomaly for anomaly in found if levels.forbids(history, anomaly)]
    return Verdict(forbidden, [anomaly for anomaly in found if anomaly not in forbidden])


def explain(history, anomaly):
    """Lines for a person: the anomaly, the cycle's edges, and the statements of its transactions."""
    lines = [f"{anomaly.name}: {anomaly.text}" if not anomaly.edges else anomaly.text]
    lines += [f"    {describe(edge)}" for edge in anomaly.edges]
    numbers = set(anomaly.transactions)
    for transaction in history.transactions:
        if transaction.number in numbers:
            times = f"{transaction.start * 1000:.1f} ms"
            lines.append(f"  T{transaction.number} (session {transaction.session}, {transaction.outcome}, from {times}"
                         f"{', autocommit' if transaction.autocommit else ''})")
            for op in transaction.ops:
                seen = " = " + ", ".join(f"({row.id}, {row.k}, {'.'.join(map(str, row.tokens))})" for row in op.rows) \
                    if op.kind in ("read", "delete") else f" = {op.affected} rows"
                lines.append(f"    {op.start * 1000:.1f}-{op.end * 1000:.1f} {op.sql}{seen}")
    return lines
