"""Hand-written histories in a short notation.

    history("SERIALIZABLE", "1:5 2:6", "T1 r1=1 w2:11", "T2 r2=2 w1:21", end="1.21,2.11")

The first text lists the initial rows as id:k, with the tokens 1, 2, ...; the others are transactions, by number.
    r1=1.4  plain read of id 1, which gave the tokens 1.4    r1=  nothing      R1=1  the same FOR UPDATE
    k2-5=1,2.7   plain scan of k 2 to 5 (K2-5=: FOR UPDATE), which gave rows by their tokens
    w1:9    append token 9 to id 1        i7:3:9  insert id 7, k 3, token 9
    d1=1.4  delete id 1, which gave 1.4   m1:8:9  set k of id 1 to 8, token 9
    abort, unknown      how it ended (else: committed)
All of them run at the same time, except those with @A-B, which run from A to B. end: the final rows, by their tokens.
"""

import re

from test.isolation.check import check
from test.isolation.history import COMMITTED, FOR_UPDATE, PLAIN, WRITE, History, Op, Row, Transaction


class _Made:
    def __init__(self, initial):
        self.place = {}  # By token: (id, k) in that version.
        self.initial = []
        for token, pair in enumerate(initial.split(), 1):
            id_, k = map(int, pair.split(":"))
            self.initial.append([id_, k, token])
            self.place[token] = (id_, k)

    def rows(self, text):
        found = []
        for part in filter(None, text.split(",")):
            tokens = tuple(map(int, part.split(".")))
            found.append(Row(*self.place[tokens[-1]], tokens))
        return found

    def op(self, word, start, end):
        times = {"start": start, "end": end, "sql": word}
        if found := re.fullmatch(r"([rRkK])(\d+)(?:-(\d+))?=(.*)", word):
            kind, lo, hi, rows = found.groups()
            by, mode = ("id" if kind in "rR" else "k"), (PLAIN if kind.islower() else FOR_UPDATE)
            index = "PRIMARY" if by == "id" else "k"
            return Op("read", mode, by, int(lo), int(hi or lo), index, rows=self.rows(rows), **times)
        kind, numbers, rows = re.fullmatch(r"([wimd])([\d:]+)(?:=(.*))?", word).groups()
        numbers = list(map(int, numbers.split(":")))
        if kind == "i":
            self.place[numbers[2]] = tuple(numbers[:2])
            return Op("insert", WRITE, inserted=[numbers], affected=1, **times)
        if kind == "d":
            return Op("delete", WRITE, "id", numbers[0], numbers[0], rows=self.rows(rows), affected=1, **times)
        if kind == "m":
            self.place[numbers[2]] = (numbers[0], numbers[1])
            return Op("set_k", WRITE, "id", numbers[0], numbers[0], token=numbers[2], value=numbers[1], affected=1, **times)
        k = next(k for id_, k in self.place.values() if id_ == numbers[0])
        self.place.setdefault(numbers[1], (numbers[0], k))
        return Op("append", WRITE, "id", numbers[0], numbers[0], token=numbers[1], affected=1, **times)


def history(level, initial, *transactions, end, snapshot_isolation=True, locks=True):
    made, found = _Made(initial), []
    for place, text in enumerate(transactions):
        words = text.split()
        number, (start, stop) = int(words.pop(0)[1:]), (1.0, 9.0)
        if words and words[0].startswith("@"):
            start, stop = map(float, words.pop(0)[1:].split("-"))
        outcome = {"abort": "aborted", "unknown": "unknown"}.get(words[-1], COMMITTED)
        words = words if outcome == COMMITTED else words[:-1]
        found.append((number, place, outcome, words, start, stop))
    for _, _, _, words, start, stop in found:  # All writes are known before any read.
        for word in words:
            if word[0] in "wim":
                made.op(word, start, stop)
    all_ = [Transaction(number, place, "", outcome, [made.op(word, start, stop) for word in words], start, start,
                        stop if outcome == COMMITTED else None) for number, place, outcome, words, start, stop in found]
    return History("Hand", level, locks, snapshot_isolation=snapshot_isolation, initial=made.initial, transactions=all_,
                   final=made.rows(end))


def found(level, initial, *transactions, end, **more):
    """The names of the forbidden anomalies, and of the allowed ones."""
    verdict = check(history(level, initial, *transactions, end=end, **more))
    return {anomaly.name for anomaly in verdict.forbidden}, {anomaly.name for anomaly in verdict.allowed}
