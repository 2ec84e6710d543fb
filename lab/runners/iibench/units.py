"""One measurement of iibench_runner.sh: an engine at a point, on a fresh server."""

import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from installer.shell import Failed
from lab.base import watched
from lab.observe.sampler import allocated_bytes
from lab.record.turns import in_turn
from lab.runners.iibench import options
from lab.runners.iibench import record as adapter
from lab.server.private_server import PrivateServer, versions_of
from lab.study.scratch import Scratch
from lab.works import generators

_DATABASE = "iibench"


@dataclass(frozen=True)
class Unit:
    engine: str
    point: tuple  # Of (name, value).
    repetition: int

    @property
    def condition(self):
        return ", ".join(f"{name} {value}" for name, value in self.point)

    @property
    def name(self):
        return ", ".join(filter(None, [self.engine, self.condition, f"repetition {self.repetition}"]))

    @property
    def stem(self):
        """Of the names of its files."""
        return "_".join([self.engine, *(f"{name}-{value}" for name, value in self.point), str(self.repetition)])


def units(args):
    """All of them: at each point the engines one after the other, for each repetition again."""
    of_one = [(engine, tuple(point.items())) for point in options.points(args) for engine in args.engine_names]
    return [Unit(*unit, repetition) for repetition in range(1, args.repetitions + 1)
            for unit in in_turn(of_one, repetition)]


class Measurer:
    """Owns: directory/server, and while it is used as a context a folder for its socket."""

    def __init__(self, args, directory, environment, plugin, tool, limit):
        self._args, self._directory, self._environment = args, Path(directory), environment
        self._plugin, self._tool, self._limit = plugin, tool, limit
        self._sockets = None

    def __enter__(self):
        self._sockets = Scratch()
        return self

    def __exit__(self, *_):
        self._sockets.close()

    def measure(self, unit, note):
        """Returns what the journal keeps: the names of its files, and what the server took."""
        place = self._directory / "server"
        args, raw = self._args, self._directory / "raw"
        raw.mkdir(exist_ok=True)
        told = options.server_options(args, unit.engine, dict(unit.point))
        server = PrivateServer(self._environment, place, self._limit,
                               plugin=self._plugin if unit.engine == "TidesDB" else None, options=told,
                               socket=self._sockets.path / "mysqld.sock")
        server.stop()  # One that an earlier sitting could not stop.
        shutil.rmtree(place, ignore_errors=True)
        try:
            server.initialise()
            server.start()
            with server.sampler() as sampler:
                found = self._steps(unit, server, raw, note)
            sampler.samples.save(raw / f"{unit.stem}.samples.json")
            if args.bulk:
                found["bulk"] = self._bulk(unit, server, raw, note)
            (raw / f"{unit.stem}.variables.tsv").write_text(server.sql("SHOW GLOBAL VARIABLES"), encoding="utf-8")
            found |= {"options": told, "versions": versions_of(server), "memory": server.memory(),
                      "directory_bytes": allocated_bytes(server.data)}
        except Failed as error:
            raise server.failed(error) from error
        finally:
            try:
                server.stop()
            finally:
                server.end()
                shutil.rmtree(place, ignore_errors=True)
        return found

    def _steps(self, unit, server, raw, note):
        args, result = self._args, raw / f"{unit.stem}.json"
        argv = [self._tool, "run", "-S", server.socket, "--db", _DATABASE, "--engine", unit.engine, "--profile",
                args.generator_profile, *options.sizes(args, dict(unit.point)), "--settle", args.settle,
                "--seed", args.seed, "--label", unit.engine, "--progress", 1, "--json", result]
        code = watched.run(argv, raw / f"{unit.stem}.log", lambda line, _: note(" ".join(line.split())),
                           allowed=generators.MEASURED)
        return {"stem": unit.stem, "exit_code": code}

    def _bulk(self, unit, server, raw, note):
        """On the server begun anew: what the steps before left in its memory would be counted as the statement's."""
        note("the server begins anew")
        server.stop()
        server.start()
        note("INSERT ... SELECT")
        with server.sampler() as sampler:
            done = bulk(server)
        sampler.samples.save(raw / f"{unit.stem}{adapter.BULK_SAMPLES}")
        return done


def bulk(server):
    """Every row of the first table into a copy with its indexes, as one statement. Rows, seconds, when it began, and the
    most memory that the server had since its start."""
    server.sql(f"CREATE TABLE {_DATABASE}.copy LIKE {_DATABASE}.pi1")
    began, begin = time.time(), time.monotonic()
    server.sql(f"INSERT INTO {_DATABASE}.copy SELECT * FROM {_DATABASE}.pi1")
    seconds, memory = time.monotonic() - begin, server.memory()
    rows, of = (int(count) for count in server.sql(
        f"SELECT (SELECT COUNT(*) FROM {_DATABASE}.copy), (SELECT COUNT(*) FROM {_DATABASE}.pi1)").split())
    if rows != of:
        raise Failed(f"INSERT ... SELECT: {rows} of {of} rows are in the copy")
    return {"rows": rows, "seconds": seconds, "began_unix_s": began, "resident_peak": memory.get("resident_peak")}


def phases_of(path):
    """In a line what came of it, for the terminal."""
    raw = json.loads(Path(path).read_text())
    return ", ".join(f"{phase['name']} {phase['seconds']:.1f} s" for phase in raw["phases"])
