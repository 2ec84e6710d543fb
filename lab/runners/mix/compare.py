"""Two builds compared by the mix: each work of each round on a fresh server and a copy of the same data, in turn.

A pair's two runs follow each other within seconds, and each round is in the reverse order of the one before, so other
load on the machine affects both.
"""

import json
import os
from dataclasses import dataclass
from statistics import geometric_mean

from installer import packages
from installer.shell import Failed, say
from lab.base import watched
from lab.record import statistics
from lab.record.run import Run
from lab.record.turns import in_turn
from lab.runners.mix import works
from lab.server import profiles
from lab.server import builds as builds_of
from lab.study import copies
from lab.study.progress import Step

RESULT, TABLE = "gain.json", "gain.md"
_SYNC = "NONE"  # Waiting for the disk is the same for both builds.
_WARM_UP_S = 2
_AROUND_S = 5
_LOAD_S = 20


@dataclass(frozen=True)
class Unit:
    repetition: int
    work: str
    label: str

    @property
    def name(self):
        return f"{self.work}, {self.label}, round {self.repetition}"


def units(rounds, labels):
    """All measurements in their order."""
    of_one = [(work, label) for work in works.WORKS for label in labels]
    return [Unit(number, *unit) for number in range(1, rounds + 1) for unit in in_turn(of_one, number)]


def options(engine):
    """The options of either build's server."""
    return profiles.options(profiles.DEFAULT, engine, _SYNC)


class Comparison(copies.OnCopies):
    """Owns: directory, that of -o. Both builds have the same server, engine and allocator."""

    kind = "mix"
    packages = packages.SYSBENCH
    sizes = works.Sizes()

    def __init__(self, args, tools):
        """tools: builds the load generators, given the log."""
        super().__init__(args, args.output, {"rounds": args.rounds, "seconds": args.seconds, "cores": os.cpu_count()})
        self.specs, self._tools = [builds_of.parse(words) for words in args.build], tools
        self.units = units(args.rounds, [spec.label for spec in self.specs])

    def prepare(self, log):
        super().prepare(log)
        self.tools = self._tools(log)
        self.told = {label: [*options(build.engine), build.preload] for label, build in self.builds.items()}

    def title_and_about(self):
        return f"Gain of {self.labels[1]} over {self.labels[0]}", f"The mix, {self.args.seconds} s a work."

    def steps(self):
        return [*(Step(copies.load_name(build), _LOAD_S, "load") for build in self.groups),
                *(Step(unit.name, _AROUND_S + _WARM_UP_S + works.expected_s(unit.work, self.args.seconds), unit.work)
                  for unit in self.units)]

    def load_options(self, build):
        return options(build.engine)

    def fill(self, server, build, step):
        works.load(server, self.tools, build.engine, self.sizes)

    def measure(self, unit, step):
        build, raw = self.builds[unit.label], self.directory / f"{unit.work}-{unit.label}-{unit.repetition}.out"
        with self.fresh(build, options(build.engine)) as server:
            works.run(server, self.tools, unit.work, self.sizes, _WARM_UP_S, 1000 + unit.repetition, raw)
            before = watched.cpu_s(server.pid())
            figures = works.run(server, self.tools, unit.work, self.sizes, self.args.seconds, unit.repetition, raw)
            cpu_s = watched.cpu_s(server.pid()) - before
        if unit.work == works.TPCC and not figures.consistent:
            raise Failed(f"TPC-C's consistency conditions do not hold; see {raw}")
        step.note(f"{figures.per_s:,.0f} per s")
        done = figures.per_s * self.args.seconds
        run = Run(unit.label, unit.work, self.sizes.users, unit.repetition, figures.per_s, "per s",
                  seconds=self.args.seconds, operations=done, cpu_s=cpu_s)
        # TPROC-C's CPU time includes the ramp-up and its work does not: correct only as a ratio of two builds.
        return [run], {"per_s": figures.per_s, "cpu": cpu_s / done}

    def report(self):
        """Writes gain.md and gain.json. Raises Failed if a measurement failed, because its pair is missing."""
        if self.failed:
            raise Failed(f"{self.failed} measurements failed")
        found = gains(self.journal.results(), self.args.rounds, self.labels)
        write(found, self.directory)
        say("\n" + table(found))


def gains(results, rounds, labels):
    """The content of gain.json from results by a unit's name; pure. Raises Failed for fewer than two rounds."""
    if rounds < 2:
        raise Failed("one round has no spread; at least two are needed")
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
    """Writes gain.md, then gain.json, so that gain.json means both are complete."""
    (directory / TABLE).write_text(table(found))
    new = directory / f"{RESULT}.new"
    new.write_text(json.dumps(found, indent=1) + "\n")
    new.replace(directory / RESULT)
