"""Reads what HammerDB's command line prints and writes. Pure: text in, dataclasses out.

Known: 5.0 and 6.0 (xtprof), and the blocks of their predecessor's profiler etprof (4.x), which old logs hold.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median

from lab.base import figures
from lab.base.errors import BadInput

TRANSACTIONS = ("NEWORD", "PAYMENT", "DELIVERY", "SLEV", "OSTAT")

# What virtual users say when all is well. Anything else that one says is the message of an error.
_CHATTER = re.compile(
    r"Initializing |Ssl_cipher|DBVersion:|Beginning rampup|Rampup |Timing test period|\d+ +\.\.\.,?$|Test complete|"
    r"\d+ Active Virtual Users|TEST RESULT|Gathering timing|Calculating timings|Writing timing|Assigned |Processing \d|"
    r"RUNNING$|FINISHED (SUCCESS|FAILED)$|Operating in Replica|Starting (purge|write back)|Purge complete|"
    r"Write back complete|History list |Dirty buffer|\||\+-|Monitoring|\s*$")
_RESULT = re.compile(r"TEST RESULT : System achieved (?:(?P<nopm>\d+) NOPM from (?P<tpm>\d+) (?P<server>\S+) TPM|"
                     r"(?P<tpm2>\d+) (?P<server2>\S+) TPM at (?P<nopm2>\d+) NOPM)")
_USER_LINE = re.compile(r"Vuser (\d{1,6}):(.*)", re.ASCII)
_USER_ERROR = re.compile(r"Error in Virtual User (\d+): (.*)")


@dataclass(frozen=True)
class RunLog:
    """One timed run."""
    nopm: int
    tpm: int
    users: int
    server_version: str  # "" where it did not say.
    errors: Counter      # Messages of the virtual users, by number of times.
    failed_users: tuple  # Those that ended before the test.


def run_log(text, source):
    """What a timed run printed, or hammerdb.log. Raises BadInput unless the run came to its end."""
    if not text.strip():
        raise BadInput(source, "is empty; the run that should have written it did not begin", 1)
    if "HammerDB" not in text and "Hammerdb Log" not in text and "Vuser " not in text:
        raise BadInput(source, "is not a log of HammerDB", 1)
    result, users, version = None, 0, ""
    errors, failed = Counter(), []
    for number, line in enumerate(text.splitlines(), 1):
        dead = _USER_ERROR.match(line)
        if dead:
            errors[dead.group(2)] += 1
            continue
        said = _USER_LINE.match(line)
        if not said:
            continue
        user, words = int(said.group(1)), said.group(2)
        result = _RESULT.search(words) or result
        if found := re.match(r"(\d+) Active Virtual Users configured", words):
            users = figures.whole(found.group(1), source, number, "the number of users")
        elif words.startswith("DBVersion:"):
            version = words.partition(":")[2].strip()
        elif words == "FINISHED FAILED":
            failed.append(user)
        elif not _CHATTER.match(words):
            errors[words.strip()] += 1
    if result is None:
        why = f"; the first error: {next(iter(errors))}" if errors else ""
        raise BadInput(source, f"ends without a TEST RESULT line: the run did not end{why}", len(text.splitlines()))
    figures.refuse_cut(text, source, "HammerDB")  # Errors that come after the result would be missing.
    nopm, tpm = (figures.whole(result[name] or result[f"{name}2"], source, None, name.upper()) for name in ("nopm", "tpm"))
    return RunLog(nopm, tpm, users, version, errors, tuple(failed))


@dataclass(frozen=True)
class Latency:
    """One transaction's response times. None: the text does not say it."""
    calls: int
    avg_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    min_ms: float | None = None
    max_ms: float | None = None


def latency_json(text, source):
    """What `job ID timing` prints: by transaction, over all users. 5.0 counts calls twice there (see profile())."""
    raw = figures.of_json(text, source, "is empty: HammerDB kept no response times; was timeprofile on?")
    if not isinstance(raw, dict) or not raw:
        raise BadInput(source, "holds no response times", 1)
    latencies = {}
    for name, entry in raw.items():
        try:
            latencies[name] = Latency(figures.whole(str(entry["calls"]), source, None, f"{name}'s calls"),
                                      *(figures.number(str(entry[f"{key}_ms"]), source, None, f"{name}'s {key}_ms")
                                        for key in ("avg", "p50", "p95", "p99", "min", "max")))
        except (KeyError, TypeError) as error:
            raise BadInput(source, f"lacks a part of {name!r}, or it has the wrong form: {error!r}", 1) from error
    return latencies


@dataclass
class Profile:
    """hdbxtprofile.log: response times by user, then over all users."""
    users: dict = field(default_factory=dict)    # By number of the virtual user, by transaction: Latency.
    summary: dict = field(default_factory=dict)  # By transaction: Latency.


_SECTION = re.compile(r">>>>> (?:VIRTUAL USER (\d+) |SUMMARY OF (\d+) ACTIVE VIRTUAL USERS )")
_PROC = re.compile(r">>>>> PROC: (\w+)")
_NUMBER = re.compile(r"(CALLS|MIN|AVG|MAX|TOTAL|P99|P95|P75|P50|P25|SD|RATIO): ?([^\s%]+?)(?:ms)?(?=[\s%]|$)")


def _latency(numbers, source, line, name):
    missing = [key for key in ("CALLS", "AVG", "P50", "P95", "P99") if key not in numbers]
    if missing:
        raise BadInput(source, f"{name} lacks {', '.join(missing)}", line)
    return Latency(figures.whole(numbers["CALLS"], source, line, f"{name}'s CALLS"),
                   *(figures.number(numbers[key], source, line, f"{name}'s {key}") if key in numbers else None
                     for key in ("AVG", "P50", "P95", "P99", "MIN", "MAX")))


def profile(text, source):
    """The report of xtprof. The summary's calls are the sum of the users': HammerDB 5.0 writes twice that."""
    if not text.strip():
        raise BadInput(source, "is empty: the run wrote no time profile", 1)
    if "Time Profile Report" not in text.splitlines()[0]:
        raise BadInput(source, "is not a time profile of HammerDB (xtprof)", 1)
    read, into, name, numbers, begin = Profile(), None, None, {}, 0
    for number, line in enumerate([*text.splitlines(), ">>>>> END"], 1):
        if not line.startswith(">>>>>"):
            numbers.update(_NUMBER.findall(line))
            continue
        if name:
            into[name] = _latency(numbers, source, begin, name)
        name, numbers, begin = None, {}, number
        if section := _SECTION.match(line):
            into = read.summary if section.group(2) else read.users.setdefault(int(section.group(1)), {})
        elif proc := _PROC.match(line):
            if into is None:
                raise BadInput(source, "names a procedure before a virtual user", number)
            name = proc.group(1)
    missing = {name for user in read.users.values() for name in user} - set(read.summary)
    if not read.summary or missing or not text.rstrip().endswith("+-+"):
        raise BadInput(source, "ends before the summary of all virtual users, or within it", len(text.splitlines()))
    for name, latency in read.summary.items():
        calls = sum(user[name].calls for user in read.users.values() if name in user)
        read.summary[name] = Latency(calls or latency.calls, latency.avg_ms, latency.p50_ms, latency.p95_ms,
                                     latency.p99_ms, latency.min_ms, latency.max_ms)
    return read


@dataclass(frozen=True)
class Window:
    """Ten seconds of etprof: medians of the users' percentiles."""
    begin: datetime
    p50_us: float
    p95_us: float
    p99_us: float


_BLOCK = re.compile(r"\|PERCENTILES (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) to ")
_ROW = re.compile(r"\|(neword|payment|delivery|slev|ostat)\|MIN-[^|]+\|P50%-([^|]+)\|P95%-([^|]+)\|P99%-([^|]+)\|MAX-")


def windows(text, source):
    """The PERCENTILES blocks of etprof: by transaction, in order of time. {}: the log has none."""
    found, begin = {}, None
    for number, line in enumerate(text.splitlines(), 1):
        if block := _BLOCK.search(line):
            begin = _time(block.group(1), "%Y-%m-%d %H:%M:%S", source, number)
        elif row := _ROW.search(line):
            if begin is None:
                raise BadInput(source, "has percentiles before a PERCENTILES line", number)
            found.setdefault((row.group(1).upper(), begin), []).append(
                [figures.number(value, source, number, "a percentile") for value in row.groups()[1:]])
    if found:
        figures.refuse_cut(text, source, "HammerDB")
    series = {}
    for (name, at), rows in sorted(found.items(), key=lambda item: item[0][1]):
        series.setdefault(name, []).append(Window(at, *(median(column) for column in zip(*rows))))
    return series


_COUNT = re.compile(r"(\d+) (\S+) (tpm|qph)(?: @ (.+))?$")


def transaction_counts(text, source, interval_s=10):
    """hdbtcount.log: (seconds since the counter began, transactions a minute), without the first reading, a zero.

    interval_s: the counter's refresh rate, for a log without times.
    """
    lines = text.splitlines()
    if not lines:
        raise BadInput(source, "is empty: the transaction counter did not begin", 1)
    if not lines[0].startswith("Hammerdb Transaction Counter Log"):
        raise BadInput(source, "is not a log of HammerDB's transaction counter", 1)
    counts = []
    for number, line in enumerate(lines[1:], 2):
        if line.startswith(("+-", "Hammerdb Transaction Counter Log")) or not line.strip():
            continue
        found = _COUNT.match(line)
        if not found:
            raise BadInput(source, f"{line[:60]!r} is not a reading of the counter", number)
        counts.append((_at(found.group(4), source, number), figures.whole(found.group(1), source, number)))
    figures.refuse_cut(text, source, "HammerDB")
    if not counts:
        raise BadInput(source, "holds no reading of the counter: it was ended before its first", len(lines))
    begin = counts[0][0]
    times = [at for at, _ in counts if at]
    if times != sorted(times):
        raise BadInput(source, "is damaged: its times go back", len(lines))
    return [((at - begin).total_seconds() if at and begin else index * interval_s, count)
            for index, (at, count) in enumerate(counts) if index]


def _at(text, source, line):
    """"Sun Nov 22 12:44:02 UTC 2026"; None where the log has no times."""
    if text is None:
        return None
    return _time(re.sub(r" \S+ (?=\d{4}$)", " ", text), "%a %b %d %H:%M:%S %Y", source, line)


def _time(text, form, source, line):
    try:
        return datetime.strptime(text.encode("ascii", "replace").decode(), form)
    except ValueError as error:
        raise BadInput(source, f"{text!r} is not a time: {error}", line) from error


@dataclass(frozen=True)
class Queries:
    """One query set of TPROC-H."""
    seconds: dict  # By number of the query.
    total_s: float
    errors: Counter  # Messages of the server, by number of times. A query that failed "completed" all the same.

    @property
    def geomean_s(self):
        """A query of less than a millisecond counts as one, so that the mean is not zero."""
        product = 1.0
        for taken in self.seconds.values():
            product *= max(taken, 0.001) ** (1 / len(self.seconds))
        return product


_QUERY_ERROR = re.compile(r"(?:Vuser|Error in Virtual User) \d+: ?(.*/db server: .*)")


def queries(text, source):
    """What a TPROC-H run printed: the medians of several users or sets. Raises BadInput when a query is missing."""
    taken, users = {}, set()
    for user, number, seconds in re.findall(r"Vuser (\d+):query (\d{1,3}) completed in (\S+) seconds", text, re.ASCII):
        taken.setdefault(int(number), []).append(figures.number(seconds, source, None, f"the time of query {number}"))
        users.add(user)
    lines = len(text.splitlines())
    if not taken:
        raise BadInput(source, "holds no query that completed", max(lines, 1))
    errors = Counter(line.group(1) for line in map(_QUERY_ERROR.match, text.splitlines()) if line)
    missing = [str(number) for number in range(1, 23) if number not in taken]
    if missing:
        why = f"; the first error: {next(iter(errors))}" if errors else ""
        raise BadInput(source, f"ends without the queries {', '.join(missing)}{why}", lines)
    complete = re.findall(r"Vuser (\d+):Completed \d+ query set\(s\) in (\S+) seconds", text, re.ASCII)
    if cut := sorted(users - {user for user, _ in complete}, key=int):
        raise BadInput(source, f"ends before the query set of Vuser {', '.join(cut)} was complete", lines)
    figures.refuse_cut(text, source, "HammerDB")
    totals = [figures.number(seconds, source, None, "the time of a query set") for _, seconds in complete]
    return Queries({number: median(values) for number, values in sorted(taken.items())}, median(totals),
                   errors)
