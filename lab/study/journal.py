"""The finished steps of a run, kept so that an interrupted run can be resumed.

    plan = {"engines": [...], "seconds": 60}     # Must be the same for figures to belong together.
    with Journal(directory / "journal.jsonl", "sqlbench", plan) as journal:
        for step in steps:
            if journal.result(step) is None:
                journal.begin(step)
                journal.finish(step, measure())  # Any JSON value except None.
        journal.end()
        report(journal.results(), journal.history())

Format: JSON lines. The first says kind and plan; then {"event": "sitting" | "begin" | "finish" | "fail" | "end"}.
A line is synced before the next step begins; an incomplete last line is dropped.
"""

import fcntl
import json
import os
import re
import time
from pathlib import Path

from installer.shell import Failed

FORMAT = 1
BINARIES = "binaries"  # A plan's key for checksums of measured programs, their options, and tools (provenance).
_BEGINNING = b'{"journal": '


def _now():
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())


def check_build(path, before, now):
    """Raises Failed naming the differences of two builds (checksums by name). path: the journal of the earlier one."""
    def said(name, of):
        return re.sub("^([0-9a-f]{12})[0-9a-f]{52}$", r"\1", of.get(name) or "not known")

    apart = [f"{name} was {said(name, before)} and is {said(name, now)}" for name in sorted({*before, *now})
             if before.get(name) != now.get(name)]
    if apart:
        raise Failed(f"{path}: was begun with another build ({'; '.join(apart)}): its figures would mix two. Resume with "
                     "that build and its version of the lab, or start over in another directory")


def can_resume(path, kind, plan):
    """Whether path is the journal of an unfinished run of this plan."""
    try:
        lines = Path(path).read_text(errors="replace").splitlines()
        head = json.loads(lines[0])
        ended = len(lines) > 1 and lines[-1].startswith('{"event": "end"')
        return not ended and (head["journal"], head["plan"]) == (kind, json.loads(json.dumps(plan)))
    except (OSError, IndexError, ValueError, KeyError, TypeError):
        return False


class Record:
    """The content of a run's journal."""

    def __init__(self, path):
        self.path, self.kind, self.plan = Path(path), None, {}
        self._results, self._sittings, self._current, self._ended = {}, [], None, False
        self._failures = []

    def _parse(self, number, line):
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise Failed(f"{self.path}:{number}: is not a line of a journal: {error}") from error
        if not isinstance(entry, dict):
            raise Failed(f"{self.path}:{number}: is not a line of a journal")
        return entry

    def _replay(self, number, entry):
        event, at = entry.get("event"), entry.get("at", "")
        if event == "sitting":
            self._sit_down(at)
        elif event == "begin":
            self._current = entry["step"]
        elif event == "finish":
            self._keep(entry["step"], entry["result"])
        elif event == "fail":
            self._failures.append((entry["step"], entry["reason"]))
            self._current = None
        elif event == "end":
            self._ended = True
        else:
            raise Failed(f"{self.path}:{number}: unknown event: {event!r}")

    def _keep(self, step, result):
        if step == self._current:  # An entry within a step does not end it.
            self._current = None
        self._results.pop(step, None)  # A repeated step moves to the end.
        self._results[step] = result

    def _sit_down(self, at):
        if self._sittings and not self._ended:
            self._sittings[-1]["interrupted"] = self._current or "between two steps"
        self._sittings.append({"at": at, "interrupted": None})
        self._current, self._ended = None, False

    def result(self, step):
        """The result given to finish(), in this sitting or an earlier one; None: not done yet."""
        return self._results.get(step)

    def results(self):
        """All results by step, in the order of their completion."""
        return dict(self._results)

    @property
    def resumed(self):
        """Whether an earlier sitting was interrupted."""
        return any(sitting["interrupted"] for sitting in self._sittings)

    def history(self):
        """Sentences for the report: where the run was interrupted, what failed. Empty: it ran in one go."""
        said = []
        for number, sitting in enumerate(self._sittings[:-1]):
            if sitting["interrupted"]:
                after = self._sittings[number + 1]["at"]
                said.append(f"Interrupted during: {sitting['interrupted']} (sitting of {sitting['at']}); "
                            f"resumed {after}, with that step from its start.")
        said += [f"Failed: {step}: {reason}" for step, reason in self._failures]
        return said


def read(path):
    """The Record of a journal, without changing it: a run may be writing it. Raises Failed for any other file."""
    record = Record(path)
    try:
        raw = record.path.read_text(errors="replace")
    except OSError as error:
        raise Failed(f"{path}: cannot be read: {error}") from error
    lines = raw[:raw.rfind("\n") + 1].splitlines()
    head = record._parse(1, lines[0]) if lines else {}
    if "journal" not in head or head.get("format") != FORMAT:
        raise Failed(f"{path}: is not a journal of a run, or has another format than {FORMAT}")
    record.kind, record.plan = head["journal"], head.get("plan", {})
    for number, line in enumerate(lines[1:], 2):
        record._replay(number, record._parse(number, line))
    return record


class Journal(Record):
    """Owns: the file at path, locked against another run until close()."""

    def __init__(self, path, kind, plan, now=_now):
        """Continues the journal at path, or begins one.

        Raises Failed if it belongs to another kind of run or to another plan, or is in use.
        """
        super().__init__(path)
        self._now = now
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self.path, "a+b")  # Not truncated: it may hold hours of measurements.
        try:
            self._lock()
            plan = json.loads(json.dumps(plan))
            self._read(kind, plan)
        except BaseException:
            self._file.close()
            raise
        self._sit_down(self._now())
        self._append({"event": "sitting", "at": self._sittings[-1]["at"]})

    def _lock(self):
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Failed(f"{self.path} is in use: another run works in this directory") from error

    def _read(self, kind, plan):
        self._file.seek(0)
        raw = self._file.read()
        kept = raw[:raw.rfind(b"\n") + 1]
        lines = kept.decode(errors="replace").splitlines()
        if not lines:
            if raw and not raw.startswith(_BEGINNING) and not _BEGINNING.startswith(raw):
                raise Failed(f"{self.path}: is not a journal of a run")
            self._file.truncate(0)
            self._append({"journal": kind, "format": FORMAT, "plan": plan})
            return
        self._check_head(self._parse(1, lines[0]), kind, plan)
        if kept != raw:
            self._file.truncate(len(kept))
        for number, line in enumerate(lines[1:], 2):
            self._replay(number, self._parse(number, line))

    def _check_head(self, head, kind, plan):
        if "journal" not in head:
            raise Failed(f"{self.path}: is not a journal of a run")
        if head["journal"] != kind or head.get("format") != FORMAT:
            raise Failed(f"{self.path}: is the journal of {head['journal']}, format {head.get('format')}; "
                         f"this is {kind}, format {FORMAT}")
        before = head.get("plan", {})
        other = [name for name in sorted({*before, *plan}) if before.get(name) != plan.get(name)]
        if other == [BINARIES]:
            check_build(self.path, before.get(BINARIES, {}), plan.get(BINARIES, {}))
        if other:
            said = "; ".join(f"{name} was {before.get(name)!r} and is {plan.get(name)!r}" for name in other)
            raise Failed(f"{self.path}: belongs to a run with other settings ({said}); use another directory")

    def _append(self, entry):
        self._file.seek(0, os.SEEK_END)
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def begin(self, step):
        self._current = step
        self._append({"event": "begin", "step": step, "at": self._now()})

    def finish(self, step, result):
        self._append({"event": "finish", "step": step, "at": self._now(), "result": result})
        self._keep(step, json.loads(json.dumps(result)))

    def fail(self, step, reason):
        """The step was tried; a later sitting tries it again."""
        self._append({"event": "fail", "step": step, "at": self._now(), "reason": str(reason)})
        self._failures.append((step, str(reason)))
        self._current = None

    def end(self):
        """All steps are done."""
        self._append({"event": "end", "at": self._now()})
        self._ended = True

    def close(self):
        self._file.close()  # Frees the lock.

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
