"""A transaction's cost for several builds by callgrind: instructions, misses of simulated caches and branches.

Shows where a build's gain comes from, on a machine without hardware counters.
One connection, its data in memory, commits not synced: without any waiting or locks.
"""

import json
from pathlib import Path

from installer import apt, packages
from lab.observe import callgrind
from lab.server import profiles
from lab.server.build_server import BuildServer
from lab.study.progress import Step
from lab.works import sysbench_run as sysbench

RESULT, TABLE = "counts.json", "counts.md"
# By work, the number of counted transactions: some seconds each under callgrind.
TRANSACTIONS = {"point_select": 2_000, "read_write": 100, "write_only": 200, "insert": 1_000}
# By row of the table, the callgrind events to sum up.
EVENTS = {"instructions": ("Ir",), "missed by the first-level instruction cache": ("I1mr",),
          "missed by the first-level data cache": ("D1mr", "D1mw"),
          "missed by the last-level cache": ("ILmr", "DLmr", "DLmw"),
          "conditional branches": ("Bc",), "mispredicted branches": ("Bcm", "Bim")}
_ROWS = 20_000
_SYNC = "NONE"
_START_S, _LOAD_S, _WORK_S = 60, 10, 40


def of_a_transaction(more, fewer, number):
    """By name in EVENTS. more, fewer: totals of runs that differ by number transactions; both include connecting."""
    return {name: sum(more[event] - fewer[event] for event in events) / number for name, events in EVENTS.items()}


class Count:
    """Owns: directory, with the servers."""

    def __init__(self, builds, directory, sockets, works):
        self.builds, self.directory, self.sockets, self.works = builds, Path(directory), Path(sockets), works

    def steps(self):
        return [Step(f"{build.label}: {step}", seconds, step) for build in self.builds
                for step, seconds in (("load", _LOAD_S), ("start under callgrind", _START_S),
                                      *((work, _WORK_S) for work in self.works))]

    def run(self, progress, log):
        """By work and label, of_a_transaction()."""
        found = {work: {} for work in self.works}
        for build in self.builds:
            root = build.environment.root
            apt.install(packages.CALLGRIND, log, root.command if root else None)
            for work, counted in self._of(build, progress):
                found[work][build.label] = counted
        return found

    def _server(self, build, under=()):
        options = [*profiles.options(profiles.DEFAULT, build.engine, _SYNC), *callgrind.SERVER_OPTIONS]
        return BuildServer(build, self.directory / "run", options, socket=self.sockets / "mysqld.sock", under=under)

    def _of(self, build, progress):
        server = self._server(build)
        server.remove()
        with progress.step(f"{build.label}: load"):
            server.initialise()
            server.start()
            try:
                sysbench.prepare(server, build.engine, _ROWS)
            finally:
                server.stop()
        counter = callgrind.Callgrind(self.sockets, server.inside, simulate=True)
        server = self._server(build, counter.command())
        try:
            with progress.step(f"{build.label}: start under callgrind"):
                server.start(callgrind.START_S)
                counter.pid = server.pid()
            for work in self.works:
                with progress.step(f"{build.label}: {work}") as step:
                    yield work, self._counted(server, counter, work, step)
        finally:
            server.stop(callgrind.START_S)
            server.remove()
            for path in self.sockets.glob("out*"):
                path.unlink()

    @staticmethod
    def _counted(server, counter, work, step):
        number = TRANSACTIONS[work]

        def totals(transactions, seed):
            return counter.count(lambda: sysbench.transactions(server, work, _ROWS, transactions, seed))

        sysbench.transactions(server, work, _ROWS, number, seed=3)  # Brings the data into memory.
        fewer = totals(1, seed=2)
        found = of_a_transaction(totals(number + 1, seed=1), fewer, number)
        step.note(f"{found['instructions']:,.0f} instructions a transaction")
        return found


def table(found):
    """The result of Count.run() as Markdown; changes are relative to the first build."""
    first, *others = next(iter(found.values()))
    head = ["work", "of a transaction", first, *(cell for label in others for cell in (label, f"{label} / {first}"))]
    lines = [_line(head), "|---" * len(head) + "|"]
    for work, by_label in found.items():
        for name in EVENTS:
            base = by_label[first][name]
            cells = [work, name, f"{base:,.0f}"]
            for label in others:
                value = by_label[label][name]
                cells += [f"{value:,.0f}", f"{100 * (value / base - 1):+.1f} %" if base else "–"]
            lines.append(_line(cells))
    return "\n".join(lines) + "\n"


def _line(cells):
    return f"| {' | '.join(cells)} |"


def write(found, directory, facts):
    """facts: of provenance.collect()."""
    (directory / RESULT).write_text(json.dumps({"of a transaction": found, "provenance": facts}, indent=1) + "\n")
    (directory / TABLE).write_text(table(found))
