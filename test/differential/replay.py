"""Runs a case in both engines and says where they differ."""

import collections

from differential import explained
from differential.compare import AFFECTED, GIVE_UP, MESSAGE, WARNINGS, Difference, unlike
from differential.session import Lost, both

# Behind a difference of these the data may still be the same: the case goes on.
# What differs in InnoDB alone just so: by the plan, or by the server's own habits. Counted, and no fault of ours.
SERVER = "InnoDB too, "
_READS = ("select", "checksum", "check", "show-create", "handler")


class _GivenUp(Exception):
    """The rest of the case says nothing: the reason."""


class Replay:
    """ours and theirs: Sessions. counted: statements run, variants too. passed_over: what was no fault, by reason."""

    def __init__(self, ours, theirs, plant=None):
        self.ours, self.theirs, self.plant = ours, theirs, plant
        self.counted, self.passed_over = 0, collections.Counter()

    def run(self, case, only=None):
        """The differences of a case. only: a kind; the first of it ends the run.

        Raises Lost when the server is gone, with the statement's number in .number.
        """
        found = []
        number = 0
        if self.plant:
            self.plant.reset()
        try:
            for session in (self.ours, self.theirs):
                session.begin(case.settings)
            for number, statement in enumerate(case.statements):
                for difference in self._statement(number, statement):
                    found.append(difference)
                    if difference.fatal or difference.kind == only:
                        return found
        except _GivenUp as why:
            self.passed_over[str(why)] += 1
        except Lost as lost:
            lost.number = number
            raise
        return found

    def _statement(self, number, statement):
        texts = statement.texts()
        mine, others = (self.ours.reader, self.theirs.reader) if statement.reader else (self.ours, self.theirs)
        outcome, reference = both(mine, others, texts[0])
        self.counted += 2
        if self.plant:
            self.plant.behind(self.ours, statement, outcome)
        _give_up_by(outcome)
        _give_up_by(reference)
        found = unlike(statement.kind, outcome, reference, statement.ordered)
        if found:
            if statement.variants is not None and self._innodb_is_wrong(others, statement, texts, reference):
                yield self._difference(number, statement, texts[0], (SERVER + found[0], *found[1:]))
            elif not self._explained(statement, texts[0], outcome, reference):
                yield self._difference(number, statement, texts[0], found)
            return
        for text in texts[1:]:
            outcome = mine.run(text)
            self.counted += 1
            _give_up_by(outcome)
            found = unlike(statement.kind, outcome, reference, statement.ordered)
            if found and not self._explained(statement, text, outcome, reference):
                if self._same_mistake(others, text, statement, outcome):
                    yield self._difference(number, statement, text, (SERVER + found[0], *found[1:]))
                else:
                    yield self._difference(number, statement, text, ("variant, " + found[0], *found[1:]))
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

    def _innodb_is_wrong(self, others, statement, texts, reference):
        """The last variant reads no index: where it differs from the first in InnoDB, the server or InnoDB errs."""
        return any(unlike(statement.kind, others.run(text), reference, statement.ordered) for text in texts[1:])

    def _same_mistake(self, others, text, statement, outcome):
        """InnoDB answers the variant as we do."""
        return unlike(statement.kind, outcome, others.run(text), statement.ordered) is None

    def _difference(self, number, statement, text, found):
        what, expected, came = found
        # A wrong count alone leaves the data alike.
        fatal = not statement.kind.startswith(_READS) and what not in (AFFECTED, MESSAGE, WARNINGS)
        return Difference(f"{statement.kind}: {what}", number, text, expected, came, fatal)


def _give_up_by(outcome):
    if outcome.error in GIVE_UP:
        raise _GivenUp(GIVE_UP[outcome.error])
