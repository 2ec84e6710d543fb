"""Runs a case in both engines and says where they differ."""

import collections

from test.differential import explained
from test.differential.compare import AFFECTED, GIVE_UP, MESSAGE, RULES, WARNINGS, Difference, unlike
from test.differential.session import BYTES_MAX, Lost, exchange

# Marks a difference that InnoDB shows by itself: the server is at fault. These are counted, but are not ours.
SERVER = "InnoDB too, "
_TOGETHER = 24  # Statements that are sent at once, if nothing is asked between them.
# After a difference of these kinds the data are still the same, so the case goes on.
_READS = ("select", "checksum", "check", "show-create", "handler")


class _GivenUp(Exception):
    """The rest of the case cannot be judged. The message is the reason."""


class Replay:
    """ours and theirs: Sessions. counted: statements run, with variants. passed_over: counts of what was not judged, by
    reason."""

    def __init__(self, ours, theirs, known=()):
        """known: texts. A difference whose kind has one of them is not looked at again."""
        self.ours, self.theirs, self.known, self.plant = ours, theirs, known, None
        self.counted, self.passed_over = 0, collections.Counter()

    def run(self, case, only=None, plant=None):
        """The differences of a case. only: a kind, whose first difference ends the run. plant: one of plant.FAULTS.

        First sends many statements at a time. If something differs, it runs the case again one by one, to ask InnoDB too.
        Raises Lost when the server is gone, with the statement's number in .number.
        """
        self.plant = plant
        if only is None and plant is None:
            found = self._pass(case, _TOGETHER, None)
            if all(any(text in difference.kind for text in self.known) for difference in found):
                return found
        return self._pass(case, 1, only)

    def _pass(self, case, together, only):
        found, number = [], 0
        try:
            for session in (self.ours, self.theirs):
                session.begin(case.settings)
            for batch in _batches(case.statements, together):
                number = batch[0].number
                self._run(batch)
                for one in batch:
                    for difference in self._judge(one, together > 1):
                        found.append(difference)
                        if difference.fatal or difference.kind == only:
                            return found
        except _GivenUp as why:
            self.passed_over[str(why)] += 1
        except Lost as lost:
            lost.number = number
            raise
        return found

    def _run(self, batch):
        reader = batch[0].statement.reader
        ours, theirs = (self.ours.reader, self.theirs.reader) if reader else (self.ours, self.theirs)
        texts = [text for one in batch for text in one.ours()]
        mine, others = exchange((ours, texts), (theirs, [text for one in batch for text in one.theirs()]))
        self.counted += len(texts) + len(batch)
        for one in batch:
            mine, others = one.take(mine, others)
            one.sessions = ours, theirs
        if self.plant:
            self.plant.behind(ours, batch[0].statement, batch[0].outcomes[0])

    def _judge(self, one, hasty):
        """hasty: later statements have run already, so InnoDB cannot be asked again."""
        statement, reference, theirs = one.statement, one.reference, one.sessions[1]
        for side in (*one.outcomes, reference):
            if side.error in GIVE_UP:
                raise _GivenUp(GIVE_UP[side.error])
        found = unlike(statement.kind, one.outcomes[0], reference, statement.ordered)
        if found:
            if not hasty and any(
                unlike(statement.kind, theirs.run(text), reference, statement.ordered) for text in one.texts[1:]
            ):
                yield _difference(one, one.texts[0], (SERVER + found[0], *found[1:]))
            elif not self._explained(statement, one.texts[0], one.outcomes[0], reference):
                yield _difference(one, one.texts[0], found)
            return
        for text, outcome in zip(one.texts[1:], one.outcomes[1:]):
            found = unlike(statement.kind, outcome, reference, statement.ordered)
            if found and not self._explained(statement, text, outcome, reference):
                same = not hasty and unlike(statement.kind, outcome, theirs.run(text), statement.ordered) is None
                yield _difference(one, text, ((SERVER if same else "variant, ") + found[0], *found[1:]))
                return

    def _explained(self, statement, text, outcome, reference):
        """Whether the difference is an intended one. Raises _GivenUp if the data differ from now on."""
        one = explained.find(statement, text, outcome, reference)
        if one is None:
            return False
        if one.ends:
            raise _GivenUp(one.name)
        self.passed_over[one.name] += 1
        return True


class _Asked:
    """A statement of a case, its texts, and the answers. outcomes: ours, one for each text; reference: InnoDB's."""

    def __init__(self, number, statement):
        self.number, self.statement, self.texts = number, statement, statement.texts()
        self.outcomes, self.reference, self.sessions = [], None, ()
        self._warnings = ["SHOW WARNINGS"] if WARNINGS in RULES.get(statement.kind, ()) else []

    def ours(self):
        return self.texts + self._warnings

    def theirs(self):
        # A variant may be the one that takes the reader's snapshot: of an impossible condition the server reads nothing.
        variants = self.texts[1:] if self.statement.reader else []
        return [self.statement.theirs or self.texts[0], *self._warnings, *variants]

    def bytes(self):
        return sum(len(text.encode("utf-8")) + 100 for text in self.texts)

    def take(self, mine, others):
        """Takes its outcomes from the front of both lists, and returns the rest."""
        self.outcomes, self.reference = mine[: len(self.texts)], others[0]
        if self._warnings:
            for outcome, listed in ((self.outcomes[0], mine[len(self.texts)]), (self.reference, others[1])):
                outcome.warnings = sorted(int(row[1]) for row in listed.rows or [])
        return mine[len(self.ours()) :], others[len(self.theirs()) :]


def _batches(statements, together):
    """Lists of _Asked, each for one connection and of a size that can be sent at once."""
    batch = []
    for number, statement in enumerate(statements):
        one = _Asked(number, statement)
        if batch and (
            len(batch) == together
            or batch[0].statement.reader != statement.reader
            or sum(other.bytes() for other in batch) + one.bytes() > BYTES_MAX
        ):
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch


def _difference(one, text, found):
    what, expected, came = found
    # If only a count is wrong, the data are still the same.
    fatal = not one.statement.kind.startswith(_READS) and what not in (AFFECTED, MESSAGE, WARNINGS)
    return Difference(f"{one.statement.kind}: {what}", one.number, text, expected, came, fatal)
