"""Runs a case in both engines and says where they differ."""

import collections

from test.differential import explained
from test.differential.compare import AFFECTED, GIVE_UP, MESSAGE, RULES, WARNINGS, Difference, unlike
from test.differential.session import BYTES_MAX, Lost, exchange

# What InnoDB alone does just so: by the plan, or by a habit of the server's. Counted, and no fault of ours.
SERVER = "InnoDB too, "
_TOGETHER = 24  # Statements that are sent at once, where nothing is asked between them.
# Behind a difference of these the data may still be the same: the case goes on.
_READS = ("select", "checksum", "check", "show-create", "handler")


class _GivenUp(Exception):
    """The rest of the case says nothing: the reason."""


class Replay:
    """ours and theirs: Sessions. counted: statements run, variants too. passed_over: what was no fault, by reason."""

    def __init__(self, ours, theirs, known=()):
        """known: differences with this text in their kind are worth no second look."""
        self.ours, self.theirs, self.known, self.plant = ours, theirs, known, None
        self.counted, self.passed_over = 0, collections.Counter()

    def run(self, case, only=None, plant=None):
        """The differences of a case. only: a kind; the first of it ends the run. plant: one of plant.FAULTS.

        Many statements at a time first. Where something differs, the case is run again one by one: InnoDB is asked then.
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
        """hasty: other statements have run since, so that InnoDB cannot be asked any more."""
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
        """Whether the difference is a known one that is meant. Raises _GivenUp where the data differ from then on."""
        one = explained.find(statement, text, outcome, reference)
        if one is None:
            return False
        if one.ends:
            raise _GivenUp(one.name)
        self.passed_over[one.name] += 1
        return True


class _Asked:
    """A statement of a case, what is sent for it, and what came: outcomes of ours for each text, reference of InnoDB's."""

    def __init__(self, number, statement):
        self.number, self.statement, self.texts = number, statement, statement.texts()
        self.outcomes, self.reference, self.sessions = [], None, ()
        self._warnings = ["SHOW WARNINGS"] if WARNINGS in RULES.get(statement.kind, ()) else []

    def ours(self):
        return self.texts + self._warnings

    def theirs(self):
        return [self.statement.theirs or self.texts[0], *self._warnings]

    def bytes(self):
        return sum(len(text.encode("utf-8")) + 100 for text in self.texts)

    def take(self, mine, others):
        """Takes its outcomes off the lists, and returns the rest of them."""
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
    # A wrong count alone leaves the data alike.
    fatal = not one.statement.kind.startswith(_READS) and what not in (AFFECTED, MESSAGE, WARNINGS)
    return Difference(f"{one.statement.kind}: {what}", one.number, text, expected, came, fatal)
