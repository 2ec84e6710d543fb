"""Whose the database on a running server is: an iteration's of this run, or nobody's of it. The former alone is dropped."""

from installer.shell import Failed
from lab.runners.hammerdb.study import JOURNAL as HARNESS_JOURNAL
from lab.study import journal as journals

NAME = "tpcc"  # The harness's own default.
_STEP = "database"  # In this run's journal: whose harness was last begun, and whose the database was then.
_NOBODY = {"begun": None, "before": None}


def folder_of(directory, iteration):
    engine, number = iteration
    return directory / engine / f"iter{number}"


def harness_journals(folder):
    """Those of an iteration's folder."""
    return sorted(folder.glob(f"hammerdb_logs_*/{HARNESS_JOURNAL}"))


class Database:
    """An iteration is (engine, number). What it did with the database stands in the journal of its harness."""

    def __init__(self, directory, journal):
        self._directory, self._journal = directory, journal

    def _done(self, iteration, step):
        """What the iteration's harness says of its step; None: it was not done."""
        for path in harness_journals(folder_of(self._directory, iteration)):
            try:
                return journals.read(path).result(f"{iteration[0]} tpcc {step}")
            except Failed:  # It was killed before it had written a line.
                pass
        return None

    def holder(self):
        """The iteration that made the database that is there; None: it is not this run's."""
        said = self._journal.result(_STEP) or _NOBODY
        before, begun = (said[name] and tuple(said[name]) for name in ("before", "begun"))
        if begun is None or not self._done(begun, "database"):
            return before
        return None if (self._done(begun, "end") or {}).get("dropped") else begun

    def serves(self, iteration):
        """Whether an iteration's harness can be resumed: its tables are still there, or it needs them no more."""
        return self.holder() == iteration or self._done(iteration, "end") is not None

    def begin(self, iteration):
        """Its harness is about to begin or to be resumed. REQUIRES: what it left is gone unless it can be resumed."""
        self._journal.finish(_STEP, {"before": self.holder(), "begun": iteration})

    def drop(self, connection):
        """REQUIRES: there is a holder()."""
        connection.sql(f"DROP DATABASE IF EXISTS {NAME}")
        self._journal.finish(_STEP, _NOBODY)
