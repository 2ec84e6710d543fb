"""Shows how far a run is and how long it will take: live on a terminal, else in plain lines.

    steps = [Step("load InnoDB", 60, "load"), Step("InnoDB 4 threads", 120, "run"), ...]
    with Progress("sqlbench", steps) as progress:
        progress.already("load InnoDB")                   # An earlier sitting did it.
        with progress.step("InnoDB 4 threads") as step:
            step.note("1,234 transactions a second")      # Any number of times, from any thread.
        progress.say("a line that stays")
"""

import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass

from installer.shell import Failed
from lab.base import debian

NOTE_EVERY_S = 30  # For plain lines, so that a log stays readable.


@dataclass(frozen=True)
class Step:
    """A part of a run. Steps of one kind are early or late together."""
    name: str
    expected_s: float
    kind: str = ""


def duration(seconds):
    """In words: 45 s, 12 min, 3 h 05 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d} min"


class Estimate:
    """The remaining time: each step's expected time, corrected by the time its kind took so far."""

    def __init__(self, steps, clock=time.monotonic):
        self._left = {step.name: step for step in steps}
        if len(self._left) != len(steps):
            raise ValueError("two steps have one name")
        self._clock = clock
        self._took = {}  # By kind: seconds taken, seconds expected.
        self._current = None

    def begin(self, name):
        self._current = (self._left[name], self._clock())

    def end(self, name, counts=True):
        """counts: False for a failed or skipped step, which says nothing about others."""
        step = self._left.pop(name)
        if self._current and self._current[0] is step:
            if counts:
                taken, expected = self._took.get(step.kind, (0.0, 0.0))
                self._took[step.kind] = (taken + self._clock() - self._current[1], expected + step.expected_s)
            self._current = None

    def _expected_s(self, step):
        taken, expected = self._took.get(step.kind, (0.0, 0.0))
        return step.expected_s * taken / expected if expected > 0 else step.expected_s

    def left_s(self):
        total = sum(self._expected_s(step) for step in self._left.values())
        if self._current:
            step, begin = self._current
            total -= min(self._clock() - begin, self._expected_s(step))
        return total


class _Plain:
    """One line per event."""

    def __init__(self, out, clock):
        self._out, self._clock = out, clock
        self._last_note = None

    def start(self):
        pass

    def stop(self):
        pass

    def line(self, text):
        print(text, file=self._out, flush=True)

    def begin(self, text, left):
        self._last_note = self._clock()
        self.line(f"{text} ... (about {left} left)")

    def end(self):
        pass

    def note(self, text):
        if self._clock() - self._last_note >= NOTE_EVERY_S:
            self._last_note = self._clock()
            self.line(f"    {text}")


class _Live:
    """The last lines of a terminal, redrawn four times a second."""

    def __init__(self, out, status):
        console = debian.load("rich.console", "python3-rich").Console(file=out)
        live = debian.load("rich.live", "python3-rich").Live
        self._text = debian.load("rich.text", "python3-rich").Text
        self._status = status
        self._step = self._note = ""
        self._live = live(console=console, get_renderable=self._draw, refresh_per_second=4, transient=True)

    def _draw(self):
        bar, left = self._status()
        width = 30
        full = round(width * bar)
        return self._text.assemble(("━" * full, "green"), ("━" * (width - full), "dim"), f" {bar:4.0%}, {left}\n",
                                   (self._step, "bold"), f" {self._note}")

    def start(self):
        self._live.start()

    def stop(self):
        self._live.stop()

    def line(self, text):
        self._live.console.print(self._text(text))

    def begin(self, text, _):
        self._step, self._note = text, ""  # The line above shows the remaining time.

    def end(self):
        self._step = self._note = ""

    def note(self, text):
        self._note = text


class Running:
    """A running step, from `with progress.step(...)`."""

    def __init__(self, progress):
        self._progress = progress
        self.last_note = ""

    def note(self, text):
        self.last_note = text
        self._progress.show_note(text)

    def rest(self, seconds):
        """Waits, and shows the remaining time."""
        for left in range(int(seconds), 0, -1):
            self._progress.show_note(f"{left} s of rest")
            time.sleep(1)
        time.sleep(seconds % 1)


class Progress:
    """Threads: note() and say() from any; the rest from one."""

    def __init__(self, title, steps, out=None, clock=time.monotonic, live=None):
        """live: None: depends on out; True or False to force it."""
        self._out = out or sys.stdout
        self._title, self._count, self._done, self._clock = title, len(steps), 0, clock
        self._estimate = Estimate(steps, clock)
        self._lock = threading.RLock()
        self._begun = clock()
        live = self._out.isatty() if live is None else live  # The live view asks for the status at once.
        try:
            self._view = _Live(self._out, self._status) if live else _Plain(self._out, clock)
        except Failed:  # No python3-rich: use plain lines.
            self._view = _Plain(self._out, clock)

    def __enter__(self):
        self._view.start()
        self.say(f"{self._title}: {self._count} steps, about {duration(self.left_s())}")
        return self

    def __exit__(self, kind, *_):
        self._view.stop()
        if kind is None:
            self.say(f"{self._title}: done in {duration(self._clock() - self._begun)}")

    def left_s(self):
        with self._lock:
            return self._estimate.left_s()

    def _status(self):
        left, past = self.left_s(), self._clock() - self._begun
        share = past / (past + left) if past + left > 0 else 1.0
        return share, f"{self._done} of {self._count} steps, about {duration(left)} left"

    def say(self, text):
        with self._lock:
            self._view.line(text)

    def show_note(self, text):
        with self._lock:
            self._view.note(text)

    def already(self, name):
        """An earlier sitting did this step."""
        with self._lock:
            self._estimate.end(name, counts=False)
            self._done += 1
            self.say(f"[{self._done}/{self._count}] {name}: done in an earlier sitting")

    @contextmanager
    def step(self, name):
        with self._lock:
            self._estimate.begin(name)
            self._view.begin(f"[{self._done + 1}/{self._count}] {name}", duration(self.left_s()))
        running, begin, how = Running(self), self._clock(), "FAILED after "
        try:
            yield running
            how = ""
        except KeyboardInterrupt:
            how = "interrupted after "
            raise
        finally:
            with self._lock:
                self._estimate.end(name, counts=not how)
                self._view.end()
                self._done += 1
                note = f"; {running.last_note}" if running.last_note and not how else ""
                self.say(f"[{self._done}/{self._count}] {name}: {how}{self._clock() - begin:.1f} s{note}")
