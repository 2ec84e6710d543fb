"""Two builds compared by the mix: each work of each round on a fresh server and a copy of the same data, in turn.

A pair's two runs follow each other within seconds, and each round is in the reverse order of the one before: what else
the machine does hits both.
"""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from installer.shell import Failed
from lab.base import watched
from lab.record import statistics
from lab.record.turns import in_turn
from lab.runners.mix import works
from lab.server import profiles
from lab.server.build_server import BuildServer
from lab.study.progress import Step
from lab.study.sitting import once

JOURNAL, RESULT, TABLE = "mix_compare.jsonl", "gain.json", "gain.md"
KIND = "mix"
_SYNC = "NONE"  # Waiting for the disk is the same for both builds.
_WARM_UP_S = 2
_AROUND_S = 5
_LOAD_S = 20


@dataclass(frozen=True)
class Unit:
    round: int
    work: str
    label: str

    @property
    def name(self):
        return f"{self.work}, {self.label}, round {self.round}"


def units(rounds, labels):
    """All measurements in their order."""
    of_one = [(work, label) for work in works.WORKS for label in labels]
    return [Unit(number, *unit) for number in range(1, rounds + 1) for unit in in_turn(of_one, number)]


def options(engine):
    """What the server of either build is told."""
    return profiles.options(profiles.DEFAULT, engine, _SYNC)


class Comparison:
    """Owns: directory, with the loaded data and the copy that is measured."""

    def __init__(self, builds, tools, directory, sockets, rounds, seconds):
        """builds: two; what they share is a server, an engine and an allocator."""
        self.builds = {build.label: build for build in builds}
        self.tools, self.directory, self.sockets = tools, Path(directory), Path(sockets)
        self.rounds, self.seconds = rounds, seconds
        self.units = units(rounds, list(self.builds))
        self.sizes = works.Sizes()
        self._engine = builds[0].engine

    def steps(self):
        return [Step("load", _LOAD_S), *(Step(unit.name, _AROUND_S + _WARM_UP_S + works.expected_s(unit.work, self.seconds),
                                              unit.work) for unit in self.units)]

    def run(self, journal, progress):
        """Everything that is not done yet. Raises Failed where a measurement fails: there is no pair then."""
        failed = 0
        self._load(progress)
        for unit in self.units:
            failed += once(journal, progress, unit.name, lambda step, unit=unit: self._measure(unit, step)) is False
        if failed:
            raise Failed(f"{failed} measurements failed")
        self.clean_up()
        journal.end()

    def clean_up(self):
        for name in ("template", "run"):
            shutil.rmtree(self.directory / name, ignore_errors=True)

    def _server(self, build, name):
        server = BuildServer(build, self.directory / name, options(self._engine), socket=self.sockets / "mysqld.sock")
        server.stop()  # One that an interrupted sitting left.
        return server

    def _load(self, progress):
        template, loaded = self.directory / "template", self.directory / "template" / "loaded"
        if loaded.exists():
            progress.already("load")
            return
        server = self._server(next(iter(self.builds.values())), "template")
        with progress.step("load"):
            shutil.rmtree(template, ignore_errors=True)
            server.initialise()
            server.start()
            try:
                works.load(server, self.tools, self._engine, self.sizes)
            finally:
                server.stop()
            loaded.touch()

    def _measure(self, unit, step):
        """One run; what the journal keeps of it."""
        server = self._server(self.builds[unit.label], "run")
        server.remove()
        server.directory.mkdir(parents=True)
        subprocess.run(["cp", "-a", "--reflink=auto", "--sparse=auto", self.directory / "template" / "data", server.data],
                       check=True)
        raw = self.directory / f"{unit.work}-{unit.label}-{unit.round}.out"
        server.start()
        try:
            server.check_allocator()
            works.run(server, self.tools, unit.work, self.sizes, _WARM_UP_S, 1000 + unit.round, raw)
            before = watched.cpu_s(server.pid())
            figures = works.run(server, self.tools, unit.work, self.sizes, self.seconds, unit.round, raw)
            cpu_s = watched.cpu_s(server.pid()) - before
        finally:
            server.stop()
            server.remove()
        if unit.work == works.TPCC and not figures.consistent:
            raise Failed(f"TPC-C's consistency conditions do not hold; see {raw}")
        step.note(f"{figures.per_s:,.0f} per s")
        # Of TPROC-C the ramp-up is in the CPU time and not in the work: right as a ratio of two builds only.
        return {"per_s": figures.per_s, "cpu": cpu_s / (figures.per_s * self.seconds)}


def gains(results, rounds, labels):
    """What the results by a unit's name say, as gain.json keeps it; pure. Raises Failed for less than two rounds."""
    if rounds < 2:
        raise Failed("one round has no spread; two are needed at least")
    rows, pairs = [], {"per_s": {}, "cpu": {}}
    for work in works.WORKS:
        found = {label: [results[Unit(n, work, label).name] for n in range(1, rounds + 1)] for label in labels}
        for kind, by_work in pairs.items():
            by_work[work] = tuple([one[kind] for one in found[label]] for label in labels)
        rows.append({"work": work, "per_s": [geometric_mean(by) for by in pairs["per_s"][work]],
                     "gain": statistics.of_pairs(*pairs["per_s"][work]), "cpu": statistics.of_pairs(*pairs["cpu"][work])})
    verdicts = statistics.judged([row["gain"] for row in rows])
    overall = statistics.overall(pairs["per_s"])
    return {"labels": labels, "rounds": rounds,
            "works": [{**row, "gain": _plain(row["gain"], verdict), "cpu": _plain(row["cpu"])}
                      for row, verdict in zip(rows, verdicts)],
            "overall": _plain(overall, overall.verdict), "overall_cpu": _plain(statistics.overall(pairs["cpu"]))}


def _plain(gain, verdict=None):
    found = {"mean": gain.mean, "low": gain.low, "high": gain.high, "said": str(gain)}
    return found | ({"verdict": verdict} if verdict else {})


def table(found):
    """gain.json as Markdown."""
    before, after = found["labels"]
    lines = [f"| work | {before}, per s | {after}, per s | {after} / {before} (95 %) | verdict "
             "| server CPU a transaction |", "|---|---|---|---|---|---|"]
    for row in found["works"]:
        low, high = row["per_s"]
        lines.append(f"| {row['work']} | {low:,.0f} | {high:,.0f} | {row['gain']['said']} | {row['gain']['verdict']} | "
                     f"{row['cpu']['said']} |")
    whole = found["overall"]
    lines.append(f"| **all together** | | | {whole['said']} | {whole['verdict']} | {found['overall_cpu']['said']} |")
    return "\n".join(lines) + "\n"


def write(found, directory):
    """gain.md, then gain.json: who finds the latter finds both."""
    (directory / TABLE).write_text(table(found))
    new = directory / f"{RESULT}.new"
    new.write_text(json.dumps(found, indent=1) + "\n")
    new.replace(directory / RESULT)
