"""Drives the built-in generator, lab/tpcc."""

import os
import re
import signal

from installer.shell import Failed
from lab.base import watched
from lab.record import provenance
from lab.runners.hammerdb.cpu import CpuMeter
from lab.runners.hammerdb.options import ENGINE_NAMES, partitions
from lab.works import generators
from lab.works import tpcc_output as tpcc_text
from lab.works import tpcc_result as results

_LOAD_S = 4    # A warehouse on one loader, before one has been seen.
_CHECK_S = 1   # A warehouse.
_ISOLATION = {"READ-COMMITTED": "rc", "REPEATABLE-READ": "rr"}
_ERRORS = re.compile(r"\berrors [1-9]")
_PROGRESS = re.compile(r"\s*(ramp-up|measure)\s+(\d+) s\s+(.*)")


def check_consistency(tool, connection, database, log):
    """The conditions on a database, whatever filled it: True or False by name."""
    code = watched.run([tool, "check", *connection.tpcc(), "--db", database], log, env=connection.environment(),
                       allowed=(0, 2))
    return code == 0


class Builtin:
    """TPROC-C by lab/tpcc."""

    name = "tpcc"

    def __init__(self, args, log):
        self.args = args
        self.tool = generators.program("tpcc", log)
        self.binaries = {"tpcc": self.tool}

    def identity(self):
        """What must be the same when a run is resumed."""
        return provenance.sums(self.binaries)

    def expected_s(self, step, _benchmark):
        args = self.args
        return {"build": _LOAD_S * args.warehouses / min(args.tpcc_build_vu, os.cpu_count() or 1),
                "run": (args.rampup + args.duration) * 60 + (0 if args.no_check else _CHECK_S * args.warehouses)}[step]

    def _call(self, connection, command, *options):
        return [self.tool, command, *connection.tpcc(), "--db", self.args.tpcc_db, *options]

    def build(self, connection, engine, _benchmark, directory, note):
        args = self.args
        argv = self._call(connection, "build", "-w", args.warehouses, "--build-vu", args.tpcc_build_vu,
                          "--engine", ENGINE_NAMES[engine], "--no-analyze")
        if partitions(args, engine):
            argv += ["--partitions", partitions(args, engine)]
        watched.run(argv, directory / "build.log", lambda line, _: note(line.strip()), connection.environment())

    def run(self, connection, engine, _benchmark, directory, note, on_measure):
        """Calls on_measure() when the measured time begins. Returns the row's figures."""
        args = self.args
        isolation = connection.value("SELECT @@tx_isolation")
        if isolation not in _ISOLATION:
            raise Failed(f"the server's isolation is {isolation}; TPROC-C runs at {' or '.join(_ISOLATION)}")
        result, timeline = directory / "result.json", directory / "timeline.csv"
        argv = self._call(connection, "run", "--vu", args.tpcc_vu, "--rampup", round(args.rampup * 60),
                          "--duration", round(args.duration * 60), "--all-warehouses", "--isolation", _ISOLATION[isolation],
                          "--snapshot-isolation", args.snapshot_isolation, "--progress", 1, "--json", result,
                          "--timeline", timeline, "--label", engine, *(["--no-check"] if args.no_check else []))
        meter = CpuMeter(connection.pid())

        def on_line(line, pid):
            found = _PROGRESS.match(line)
            note(" ".join(line.split()))
            if found and found.group(1) == "measure":
                if meter.first is None:
                    on_measure()
                meter.sample(int(found.group(2)), pid)
            if args.debug_run and _ERRORS.search(line):
                os.kill(pid, signal.SIGTERM)  # Its result names the error.

        watched.run(argv, directory / "run.log", on_line, connection.environment(), allowed=generators.MEASURED)
        return self._figures(results.load(result), tpcc_text.timeline(timeline.read_text(), timeline), meter)

    def _figures(self, result, seconds, meter):
        errors = result.errors()
        if self.args.debug_run and errors:
            raise Failed(f"--debug-run: the first error ended the run: {result.raw['errors'][0]['first_message']}")
        if result.nopm is None:
            raise Failed(f"{result.path}: the run ended before its time")
        row = {"nopm": round(result.nopm), "tpm": round(result.tpm), "errors": errors, "generator": "tpcc",
               "consistent": {"holds": True, "BROKEN": False}.get(result.consistency())}
        for column, name in (("neword", "NEWORD"), ("payment", "PAYMENT"), ("delivery", "DELIVERY")):
            row[f"{column}_avg_ms"] = result.transaction(name)["mean_us"] / 1000
            row[f"{column}_p95_ms"] = result.transaction(name)["p95_us"] / 1000
        if meter.first:
            new_orders = sum(s.count for s in seconds
                             if s.transaction == "NEWORD" and meter.first[0] < s.second <= meter.last[0])
            row.update(meter.row(new_orders))
        return row

    def drop(self, connection, _benchmark, directory):
        watched.run(self._call(connection, "drop"), directory / "drop.log", env=connection.environment())
