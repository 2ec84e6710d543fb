"""Samples a server each second during work: CPU, memory, bytes written by its disk, and its status counters.

    with Sampler(pid, StatusClient(argv)) as sampler:
        run()
    sampler.samples.save(path)

It costs about a hundredth of a CPU: one SHOW GLOBAL STATUS a second on one connection.
"""

import json
import os
import re
import subprocess
import threading
import time
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from pathlib import Path

from installer.shell import Failed, clean_environment
from lab.base import figures
from lab.base.watched import cpu_s

FORMAT = 2
INTERVAL_S = 1.0
_CLIENT_PATIENCE_S = 5
# Status variables that are levels, not counts of events.
_GAUGES = re.compile(r"^(Threads_|Open_(?!.*ed)|Uptime|Max_used|.*(_pages_(data|free|dirty|misc|total)|_bytes_(data|dirty)|"
                     r"history_list_length|history_len|memtable\w*|_size|_used|_free|_current\w*|_level\w*|_pending\w*|"
                     r"_memory\w*|_age|_lsn\w*|_cached|_max|_min|_avg|_ratio|_rate|_total_bytes|_capacity|_limit|_files|"
                     r"_sstables)$)", re.I)
_WRITTEN, _RESIDENT, _CPU = "disk bytes", "resident bytes", "cpu seconds"
_GROUP, _CACHE = "group bytes", "page cache bytes"
_COUNTED = (_WRITTEN, _CPU)  # The others are levels.


@dataclass
class Samples:
    """The values of a Sampler. process and status: by name, one value per sample; None if unavailable."""
    at: list = field(default_factory=list)  # Seconds since the first.
    process: dict = field(default_factory=dict)
    status: dict = field(default_factory=dict)
    peak_resident: int | None = None
    began: float | None = None  # Unix time of the first.
    written_in_the_end: int | None = None  # The disk's counter after the last one, once the kernel has written everything.

    def add(self, at, process, status):
        for known, new in ((self.process, process), (self.status, status)):
            for name in new:
                known.setdefault(name, [None] * len(self.at))
            for name, values in known.items():
                values.append(new.get(name))
        self.at.append(at)

    def between(self, begin_s, end_s):
        """The samples of a part of the time; the peak of memory is still that of the whole.

        If the part begins or ends between two samples, counters are taken to grow evenly between them, and
        levels (memory, gauges) are unknown. Times outside of the sampling get no values.
        """
        # As samples have it; two that are nearer to each other would make rates of what is rounded.
        begin_s, end_s = round(begin_s, 3), round(end_s, 3)
        first, last = bisect_left(self.at, begin_s), bisect_right(self.at, end_s)
        inside = self.at[first:last]
        begins = [begin_s] if 0 < first < len(self.at) and self.at[first] > begin_s else []
        ends = [end_s] if 0 < last < len(self.at) and self.at[last - 1] < end_s else []

        def part(values, counted):
            def edge(moments):
                return [_evenly(self.at, values, moment) if counted else None for moment in moments]

            return [*edge(begins), *values[first:last], *edge(ends)]

        to_the_end = self.at and end_s > self.at[-1] - 2 * INTERVAL_S
        return Samples([*begins, *inside, *ends],
                       {name: part(values, name in _COUNTED) for name, values in self.process.items()},
                       {name: part(values, not is_gauge(name, _known(values))) for name, values in self.status.items()},
                       self.peak_resident, self.began, self.written_in_the_end if to_the_end else None)

    def grown(self, name):
        """The growth of a value of the process from the first sample to the last; None: unavailable."""
        values = _known(self.process.get(name, []))
        return values[-1] - values[0] if len(values) > 1 else None

    @property
    def resident_most(self):
        """The highest sample; None: unavailable."""
        return max(_known(self.process.get(_RESIDENT, [])), default=None)

    @property
    def resident_first(self):
        """The first sample; None: unavailable."""
        return next(iter(self.process.get(_RESIDENT, [])), None)

    @property
    def written_bytes(self):
        """Bytes written by the disk, including those it got before the end and wrote later; None: unavailable."""
        grown = self.grown(_WRITTEN)
        if grown is None:
            return None
        if self.written_in_the_end is not None:
            grown = self.written_in_the_end - _known(self.process[_WRITTEN])[0]
        return round(grown)

    @property
    def cpu_s(self):
        return self.grown(_CPU)

    def counters(self):
        """By name, the growth of each counter that moved."""
        grown = {}
        for name, values in self.status.items():
            known = _known(values)
            if len(known) > 1 and known[-1] != known[0] and not is_gauge(name, known):
                grown[name] = round(known[-1] - known[0], 3)
        return grown

    def series(self):
        """(name, unit, points) of everything that moved: counters as rates, levels as they are."""
        yield from _rates(self, "server CPU", "% of a CPU", _CPU, 100)
        yield from _levels(self, "resident memory", "MB", _RESIDENT, 1 / (1 << 20))
        yield from _levels(self, "memory with page cache", "MB", _GROUP, 1 / (1 << 20))
        yield from _levels(self, "page cache", "MB", _CACHE, 1 / (1 << 20))
        yield from _rates(self, "written by the disk", "MB/s", _WRITTEN, 1 / 1e6)
        for name, values in self.status.items():
            known = _known(values)
            if len(set(known)) > 1:
                gauge = is_gauge(name, known)
                points = list(zip(self.at, values)) if gauge else _differences(self.at, values)
                yield name, "" if gauge else "1/s", [point for point in points if point[1] is not None]

    def save(self, path):
        Path(path).write_text(json.dumps({"kind": "samples", "format": FORMAT, "at": self.at, "process": self.process,
                                          "status": self.status, "peak_resident": self.peak_resident,
                                          "began": self.began, "written_in_the_end": self.written_in_the_end},
                                         separators=(",", ":")) + "\n")

    @staticmethod
    def load(path):
        """Raises Failed for any other file."""
        try:
            raw = figures.of_json(figures.read(path), path)
            if raw["kind"] != "samples" or raw["format"] != FORMAT:
                raise ValueError(f"kind {raw['kind']}, format {raw['format']}")
            return Samples(raw["at"], raw["process"], raw["status"], raw["peak_resident"], raw["began"],
                           raw["written_in_the_end"])
        except (ValueError, KeyError, TypeError) as error:
            raise Failed(f"{path}: is not a file of samples, or cut off: {error!r}") from error


def is_gauge(name, values):
    """Whether a status variable is a level: by its name, or because it fell."""
    return bool(_GAUGES.match(name)) or any(after < before for before, after in zip(values, values[1:]))


def _known(values):
    return [value for value in values if value is not None]


def _evenly(at, values, moment):
    """What values were at a moment, on the line from the last that is known before it to the first after it."""
    after = bisect_left(at, moment)
    earlier = next((number for number in reversed(range(after)) if values[number] is not None), None)
    later = next((number for number in range(after, len(at)) if values[number] is not None), None)
    if earlier is None or later is None:
        return None
    share = (moment - at[earlier]) / (at[later] - at[earlier])
    return values[earlier] + share * (values[later] - values[earlier])


def _differences(at, values):
    return [(at[i], (values[i] - values[i - 1]) / (at[i] - at[i - 1])) for i in range(1, len(values))
            if values[i] is not None and values[i - 1] is not None and at[i] > at[i - 1]]


def _rates(samples, name, unit, key, factor):
    points = _differences(samples.at, samples.process.get(key, []))
    if points:
        yield name, unit, [(at, value * factor) for at, value in points]


def _levels(samples, name, unit, key, factor):
    points = [(at, value * factor) for at, value in zip(samples.at, samples.process.get(key, [])) if value is not None]
    if points:
        yield name, unit, points


class StatusClient:
    """The server's status by one permanent connection.

    Owns: the client's process, from open() to close().
    """

    _END = "end-of-status"

    def __init__(self, argv, environment=None, also=""):
        """argv: the command-line client, in batch mode, reading statements; environment: its extra variables.

        also: another statement to read, with rows of a name and a number.
        """
        self._argv, self._environment = [str(a) for a in argv], environment
        self._ask = "; ".join(filter(None, ["SHOW GLOBAL STATUS", also, f"SELECT '{self._END}'"])) + ";\n"
        self._process = None

    def open(self):
        self._process = subprocess.Popen(self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, text=True, errors="replace", bufsize=1,
                                         env=clean_environment(self._environment))

    def read(self):
        """By name, all numeric status variables. {} if the server is gone."""
        try:
            self._process.stdin.write(self._ask)
            self._process.stdin.flush()
        except (OSError, ValueError):
            return {}
        found = {}
        for line in self._process.stdout:
            name, _, value = line.rstrip("\n").partition("\t")
            if name == self._END:
                return found
            number = _number(value)
            if number is not None:
                found[name] = number
        return {}

    def close(self):
        if self._process is None:
            return
        try:
            self._process.stdin.close()
            self._process.wait(_CLIENT_PATIENCE_S)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def _number(text):
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None


class _Process:
    """A process by the part of /proc that everybody may read; {} if it is gone."""

    _PAGE = os.sysconf("SC_PAGE_SIZE")

    def __init__(self, pid):
        self._pid = pid

    def read(self):
        cpu = cpu_s(self._pid)
        found = {} if cpu is None else {_CPU: cpu}
        try:
            found[_RESIDENT] = int(Path(f"/proc/{self._pid}/statm").read_text().split()[1]) * self._PAGE
        except (OSError, IndexError):
            pass
        return found

    def peak_resident(self):
        """Since its start, in bytes; None if unavailable."""
        try:
            found = re.search(r"^VmHWM:\s+(\d+) kB", Path(f"/proc/{self._pid}/status").read_text(), re.M)
        except OSError:
            return None
        return int(found.group(1)) << 10 if found else None


class Disk:
    """The block device of a server's data, by its own counter, which includes the writes of all its users.

    write_bytes of /proc/PID/io would not do: for each small synced append it counts the whole folio of the page cache, up
    to a megabyte on ext4 with kernels from 6.16 on.
    """

    _SECTOR = 512  # In this file, for any device (Documentation/block/stat.rst).

    def __init__(self, data):
        """data: the server's data directory."""
        try:
            number = os.stat(data).st_dev
        except OSError:
            number = 0
        self._stat = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat")

    def written(self):
        """Bytes since the machine's start; None without a block device (tmpfs, an overlay)."""
        try:
            return int(self._stat.read_text().split()[6]) * self._SECTOR
        except (OSError, IndexError, ValueError):
            return None


class Sampler:
    """A context. Threads: it takes samples in its own thread; read samples only after the context has ended."""

    def __init__(self, pid, status=None, interval_s=INTERVAL_S, group=None, data=None, whole_life=True):
        """pid: of the server; None if it is elsewhere. status: a StatusClient, or None. group: its MemoryGroup.

        data: its data directory; default: its working directory, if visible. whole_life: measure its peak of memory since
        its start; else the highest sample.
        """
        self.samples = Samples()
        self._process = _Process(pid) if pid else None
        self._disk = Disk(data or f"/proc/{pid}/cwd") if pid else None
        self._status, self._interval_s, self._group, self._whole_life = status, interval_s, group, whole_life
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._go, name="sampler", daemon=True)
        self._begin = 0.0

    def __enter__(self):
        if self._disk:
            os.sync()  # So that earlier writes are not counted.
        if self._status:
            self._status.open()
        self._begin, self.samples.began = time.monotonic(), time.time()
        self._take()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        if self._thread.ident:  # Otherwise it was interrupted before its start.
            self._thread.join()
        self._take()
        if self._process:
            self.samples.peak_resident = (self._process.peak_resident() if self._whole_life else
                                          self.samples.resident_most)
            os.sync()
            self.samples.written_in_the_end = self._disk.written()
        if self._status:
            self._status.close()

    def _go(self):
        due = self._begin + self._interval_s
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            self._take()
            due = max(due + self._interval_s, time.monotonic())  # A late sample is not repeated.

    def _take(self):
        status = self._status.read() if self._status else {}
        process = self._process.read() if self._process else {}
        written = self._disk.written() if process else None
        process |= {} if written is None else {_WRITTEN: written}
        if self._group:
            used = self._group.usage()
            process |= {_GROUP: used.current, _CACHE: used.page_cache}
        self.samples.add(round(time.monotonic() - self._begin, 3), process, status)


def allocated_bytes(directory):
    """The blocks of the files below a directory, without holes."""
    total = 0
    for place, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
            except FileNotFoundError:  # A running server deletes files.
                pass
    return total
