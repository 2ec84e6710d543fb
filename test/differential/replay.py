"""Runs a case in both engines and says where they differ."""

from differential import explained
from differential.compare import GIVE_UP, Difference, unlike
from differential.session import Lost, both

# Behind a difference of these the data may still be the same: the case goes on.
# What differs in InnoDB alone just so: by the plan, or by the server's own habits. Counted, and no fault of ours.
SERVER = "InnoDB too, "
_READS = ("select", "checksum", "check", "show-create", "handler", "contents")


class GivenUp(Exception):
    """The case says nothing: the reason."""


class Replay:
    """sessions: ours and InnoDB's. counted: statements run, variants too."""

    def __init__(self, ours, theirs, plant=None):
        self.ours, self.theirs, self.plant, self.counted = ours, theirs, plant, 0

    def run(self, case, only=None):
        """The differences of a case. only: a kind; the first of it ends the run.

        Raises Lost when the server is gone, with the statement's number in .number; GivenUp.
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
        except Lost as lost:
            lost.number = number
            raise
        return found

    def _statement(self, number, statement):
        texts = statement.texts()
        outcome, reference = both(self.ours, self.theirs, texts[0])
        self.counted += 2
        if self.plant:
            self.plant.behind(self.ours, statement, outcome)
        for side in (outcome, reference):
            if side.error in GIVE_UP:
                raise GivenUp(GIVE_UP[side.error])
        found = unlike(statement.kind, outcome, reference, statement.ordered)
        if found:
            if statement.variants is not None and self._innodb_is_wrong(statement, texts, reference):
                yield self._difference(number, statement, texts[0], (SERVER + found[0], *found[1:]))
            elif not explained.reason(statement, texts[0], outcome, reference, found[0]):
                yield self._difference(number, statement, texts[0], found)
            return
        for text in texts[1:]:
            outcome = self.ours.run(text)
            self.counted += 1
            if outcome.error in GIVE_UP:
                raise GivenUp(GIVE_UP[outcome.error])
            found = unlike(statement.kind, outcome, reference, statement.ordered)
            if found and not explained.reason(statement, text, outcome, reference, found[0]):
                if self._same_mistake(text, statement, outcome):
                    yield self._difference(number, statement, text, (SERVER + found[0], *found[1:]))
                else:
                    yield self._difference(number, statement, text, ("variant, " + found[0], *found[1:]))
                return

    def _innodb_is_wrong(self, statement, texts, reference):
        """The last variant reads no index: where it differs from the first in InnoDB, the server or InnoDB errs."""
        return any(unlike(statement.kind, self.theirs.run(text), reference, statement.ordered) for text in texts[1:])

    def _same_mistake(self, text, statement, outcome):
        """InnoDB answers the variant as we do."""
        return unlike(statement.kind, outcome, self.theirs.run(text), statement.ordered) is None

    def _difference(self, number, statement, text, found):
        what, expected, came = found
        fatal = not statement.kind.startswith(_READS)
        return Difference(f"{statement.kind}: {what}", number, text, expected, came, fatal)
