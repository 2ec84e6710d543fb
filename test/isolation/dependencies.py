"""The edges between a history's transactions, and reads of single statements that no version order explains."""

from itertools import pairwise

from test.isolation.graph import RT, RW, WR, WW, Edge
from test.isolation.history import COMMITTED, PLAIN, REPEATABLE_READ, Op
from test.isolation.levels import locks_ranges
from test.isolation.rows import INITIAL, shown

_UNBORN = -1


class Dependencies:
    """Owns: edges. Adds to rows.anomalies."""

    def __init__(self, rows):
        self.rows, self.history, self.edges = rows, rows.history, []
        self._writes()
        for transaction in self.history.transactions:
            if transaction.outcome == COMMITTED:
                self._reads(transaction)

    def _add(self, source, target, kind, **more):
        if source == target or INITIAL in (source, target):
            return
        # With mixed levels, only SERIALIZABLE promises that the rows read do not change (Adya's mixed graph).
        if kind == RW and self.rows.by_number[source].level not in ("", self.history.level):
            return
        self.edges.append(Edge(source, target, kind, **more))

    def _writes(self):
        for row in self.rows.rows.values():
            for first, second in pairwise(row.versions):
                self._add(first.transaction, second.transaction, WW, row=row.name,
                          detail=f"wrote {second.token} after {first.token}")
            if row.dead:
                self._add(row.versions[-1].transaction, row.dead[0], WW, row=row.name,
                          detail=f"deleted it after {row.versions[-1].token}")

    def real_time(self):
        """Edges T1 to T2 if T1 was acknowledged before T2 began, without those that other edges imply."""
        done = [t for t in self.history.transactions if t.outcome == COMMITTED]
        for second in done:
            before = [t for t in done if t.commit_end is not None and t.commit_end < second.start]
            latest_start = max((t.start for t in before), default=0)
            for first in before:
                if first.commit_end >= latest_start:
                    self._add(first.number, second.number, RT, detail="ended before the other began")

    def _reads(self, transaction):
        snapshot = transaction.snapshot
        for place, op in enumerate(transaction.ops):
            since = op.start
            if op.mode == PLAIN and (transaction.level or self.history.level) == REPEATABLE_READ:
                snapshot = since = op.start if snapshot is None else snapshot
            if op.kind in ("insert", "set_id", "set_k"):
                self._unique(transaction, place, op)
                if op.kind == "insert":
                    continue
            reader = _Reader(self, transaction, place, op, since)
            reader.all_rows()

    def _unique(self, transaction, place, op):
        """The check that a new id, or a new k if unique, was free counts as a separate read of the newest state."""
        if not op.affected:
            return
        new = [("id", op.value)] if op.kind == "set_id" else [("k", op.value)] if op.kind == "set_k" else []
        new += [pair for id_, k, _ in op.inserted for pair in (("id", id_), ("k", k))]
        own = {token for _, _, token in op.inserted}
        own |= {row.name for row in self.rows.rows.values() if op.token and op.token in row.place}
        for by, value in new:
            if by == "id" or self.history.table == "unique":
                probe = Op("read", op.mode, by, value, value, start=op.start, end=op.end, sql=op.sql)
                _Reader(self, transaction, place, probe, op.start, unique=True, leave_out=own).all_rows()

    def end_of(self, number):
        transaction = self.rows.by_number.get(number)
        return 0.0 if number == INITIAL else transaction.commit_end

    def begin_of(self, number):
        return 0.0 if number == INITIAL else self.rows.by_number[number].commit_start


class _Reader:
    """One statement as a read. since: it must see everything acknowledged before that time."""

    def __init__(self, dependencies, transaction, place, op, since, unique=False, leave_out=()):
        self.of, self.transaction, self.place, self.op = dependencies, transaction, place, op
        self.since, self.unique, self.leave_out = since, unique, leave_out
        self.report = dependencies.rows.report

    def _edge(self, source, target, kind, row, detail, predicate=False):
        self.of._add(source, target, kind, row=row, op=self.place, mode=self.op.mode, predicate=predicate,
                     unique=self.unique, detail=detail)

    def all_rows(self):
        present = self._present()
        if present is None:
            return
        for row in self.of.rows.rows.values():
            if row.name in present:
                self._saw(row, *present[row.name])
            elif row.name not in self.leave_out and self.op.by != "either":
                self._did_not_see(row)

    def _present(self):
        """By row: the place of the version that was seen, and the row as it was read. None if unknown."""
        present, number = {}, self.transaction.number
        if self.op.token:  # An UPDATE saw the version before its own.
            return {row.name: (row.place[self.op.token] - 1, None) for row in self.of.rows.rows.values()
                    if self.op.token in row.place}
        for read in self.op.rows:
            found = [(row, place) for row, place in self.of.rows.by_last.get(read.tokens[-1], ())
                     if (row.versions[place].id == read.id if self.op.covered else row.name == read.tokens[0])]
            if len(found) != 1:
                self._unknown_version(read)
                return None
            row, place = found[0]
            where = f"T{number} `{self.op.sql}` read {shown(read)}"
            if row.name in present:
                self.report("row seen twice", f"{where}: row {row.name} is in the answer twice", number, mode=self.op.mode,
                            upward=self._upward(row))
            version = row.versions[place]
            if (version.id, version.k) != (read.id, read.k) or not self.op.matches(version):
                self.report("torn row", f"{where}: as of {version.token} it was id {version.id}, k {version.k}", number,
                            mode=self.op.mode)
            present[row.name] = (place, read)
        return present

    def _unknown_version(self, read):
        """Reports a covered read, which has only one token and an id. Rows checks the whole lists of other reads."""
        if self.op.covered:
            writer = self.of.rows.writer.get(read.tokens[-1], (None,))[0]
            name = "G1a" if writer is not None and not self.of.rows.committed(writer) else "torn row"
            self.report(name, f"T{self.transaction.number} `{self.op.sql}` read {shown(read)}, which no committed "
                              "transaction wrote", self.transaction.number, mode=self.op.mode)

    def _own_place(self, row, before):
        """The transaction's own last version before this statement, or its first one after it. None: there is none."""
        own = [place for place, version in enumerate(row.versions) if version.transaction == self.transaction.number
               and (version.op < self.place) == before]
        return (own[-1] if before else own[0]) if own else None

    def _saw(self, row, place, read):
        number, versions = self.transaction.number, row.versions
        version, own = versions[place], self._own_place(row, before=True)
        where = f"T{number} `{self.op.sql}` saw version {version.token} of row {row.name}"
        if own is not None and place < own:
            self.report("own write not seen", f"{where}, and had written {versions[own].token} before", number,
                        mode=self.op.mode)
            return
        after = versions[place + 1] if place + 1 < len(versions) else None
        if version.transaction != number:
            if after and after.transaction == version.transaction or row.dead and not after and \
                    row.dead[0] == version.transaction:
                self.report("G1b", f"{where}, which T{version.transaction} changed again before it committed", number,
                            version.transaction, mode=self.op.mode)
            self._edge(version.transaction, number, WR, row.name, f"`{self.op.sql}` saw {version.token}")
        next_writer, what = None, ""
        if after or row.dead:
            next_writer, what = (after.transaction, after.token) if after else (row.dead[0], "its DELETE")
        if next_writer is None or next_writer == number:
            return
        if version.transaction == number and version.op > self.place:
            self.report("garbage", f"{where}, which it wrote later", number)
        self._edge(number, next_writer, RW, row.name, f"`{self.op.sql}` saw {version.token}, and not {what}")
        self._fresh(row, next_writer, where, what)

    def _fresh(self, row, next_writer, where, what):
        end = self.of.end_of(next_writer)
        if end is not None and end < self.since:
            self.report("stale read", f"{where}; T{next_writer} had committed {what} before that statement's snapshot",
                        self.transaction.number, next_writer, mode=self.op.mode)

    def _did_not_see(self, row):
        number, versions = self.transaction.number, row.versions
        dead = len(versions)
        own = self._own_place(row, before=True)
        if row.dead and row.dead[0] == number and row.dead[1] <= self.place:
            return
        if own is not None:
            if self.op.matches(versions[own]):
                self.report("own write not seen", f"T{number} `{self.op.sql}` did not see row {row.name}, of which it had "
                            f"written {versions[own].token}", number, mode=self.op.mode)
            return
        later = self._own_place(row, before=False)
        if later is None and row.dead and row.dead[0] == number:
            later = dead
        last = dead if row.dead else dead - 1
        if later is not None:
            last = min(last, later - 1)
        places = [place for place in range(_UNBORN, last + 1) if self._possible(row, place)]
        where = f"T{number} `{self.op.sql}` did not see row {row.name}"
        if not places:
            seen = [(version.token, f"id {version.id}, k {version.k}") for version in versions]
            seen += [f"deleted by T{row.dead[0]}"] if row.dead else []
            self.report("missed row", f"{where}, which was there and matched in every version that it could see: "
                        f"{seen}", number, mode=self.op.mode, upward=self._upward(row))
            return
        if not self._may_have_passed(row):
            self._left_out(row, places[0], places[-1])

    def _left_out(self, row, low, high):
        """Edges for a row missed in one of its versions low..high, to the changes that made it start or stop matching."""
        number, dead = self.transaction.number, len(row.versions)
        for place in range(low, _UNBORN, -1):
            if self._matched(row, place - 1):
                writer, what = self._at(row, place)
                self._edge(writer, number, WR, row.name, f"`{self.op.sql}` did not see it, so it was {what} or later",
                           predicate=True)
                break
        for place in range(high + 1, dead):
            if self._matched(row, place):
                writer, what = self._at(row, place)
                if writer != number:
                    self._edge(number, writer, RW, row.name, f"`{self.op.sql}` did not see it, so it was before {what}",
                               predicate=True)
                break

    def _matched(self, row, place):
        """Whether that version matches and was the last one of its transaction."""
        if not 0 <= place < len(row.versions):
            return False
        version = row.versions[place]
        return self.op.matches(version) and self._next_writer(row, place) != version.transaction

    @staticmethod
    def _next_writer(row, place):
        if place + 1 < len(row.versions):
            return row.versions[place + 1].transaction
        return row.dead[0] if row.dead and place < len(row.versions) else None

    def _at(self, row, place):
        if place == len(row.versions):
            return row.dead[0], "its DELETE"
        return row.versions[place].transaction, f"version {row.versions[place].token}"

    def _possible(self, row, place):
        """Whether the statement may have missed the row because it saw that version."""
        versions, dead = row.versions, len(row.versions)
        if 0 <= place < dead:
            version = versions[place]
            if self.op.matches(version):
                return False
            writer, after = version.transaction, self._next_writer(row, place)
            if after == writer:
                return False  # Its transaction wrote a later version.
        elif place == dead:
            writer, after = row.dead[0], None
        else:
            writer, after = None, versions[0].transaction
        if writer is not None and (begin := self.of.begin_of(writer)) is not None and begin > self.op.end:
            return False
        if after is not None and after == INITIAL:
            return False
        end = self.of.end_of(after) if after is not None else None
        return end is None or end >= self.since or after == self.transaction.number

    def _may_have_passed(self, row):
        """Whether a locking scan that blocks nothing may have missed the row because it moved behind the scan. Then nothing
        tells which version it missed."""
        history = self.of.history
        return (self.op.mode != PLAIN and not locks_ranges(history, history.level_of(self.transaction.number)) and
                not self._only_ahead(row))

    def _only_ahead(self, row):
        """Whether the row moved only ahead of the scan, in the index that was scanned."""
        if self.of.history.table == "partitioned" and len({version.id for version in row.versions}) > 1:
            return False  # Partitions are scanned one after the other.
        index = self.op.index or "PRIMARY"
        keys = [{"PRIMARY": version.id, "k": (version.k, version.id), "kt": (version.k, version.token)}[index]
                for version in row.versions]
        keys = keys[::-1] if self.op.descending else keys
        return keys == sorted(keys)

    def _upward(self, row):
        """Whether the scan must have met the row, because it only moved ahead."""
        return row.dead is None and self._only_ahead(row)


def describe(edge):
    """An edge in words."""
    mark = "*" if edge.predicate else ""
    who = edge.source if edge.kind == RW else edge.target
    row = f", row {edge.row}: T{who}" if edge.row else ":"
    return f"T{edge.source} -{edge.kind}{mark}-> T{edge.target}{row} {edge.detail}"
