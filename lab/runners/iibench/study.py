"""One run of iibench_runner.sh: an engine at a point is a unit, measured on a fresh server; its steps are its Runs."""

import json
import shutil
import time
from dataclasses import dataclass

from installer import host
from installer.shell import Failed
from lab.base import watched
from lab.observe.sampler import allocated_bytes
from lab.record.run import Run
from lab.record.turns import in_turn
from lab.runners.iibench import options
from lab.server import profiles
from lab.server.private_server import (PrivateServer, environment_of, memory_limit, variables_of,
                                       versions_of)
from lab.study import core, room
from lab.works import generators, iibench, sampled

BULK_SAMPLES = ".bulk.samples.json"
_BULK = "iibench INSERT ... SELECT"
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
        """The stem of its files' names."""
        return "_".join([self.engine, *(f"{name}-{value}" for name, value in self.point), str(self.repetition)])


def units(args):
    """All units: at each point the engines one after the other, repeated for each repetition."""
    of_one = [(engine, tuple(point.items())) for point in options.points(args) for engine in args.engine_names]
    return [Unit(*unit, repetition) for repetition in range(1, args.repetitions + 1)
            for unit in in_turn(of_one, repetition)]


def asked(args):
    """(name, value) of the options that are set."""
    return [[name.replace("_", " "), " ".join(f"{key}={','.join(values)}" for key, values in value) if name == "vary" else
             value] for name, value in sorted(vars(args).items())
            if value not in (None, "", [], False) and name not in ("output_dir", "resume", "engine_names")]


class Study(core.Study):
    """Owns: directory (iibench_*), with the server's directory during a unit."""

    kind, command = "iibench_runner", "iibench_runner.sh"

    def __init__(self, args, directory, plan):
        super().__init__(args, directory, plan)
        self.units, self.labels, self.configuration = units(args), list(args.engine_names), asked(args)

    def needs_bytes(self):
        return room.SERVER + options.rows_most(self.args) * room.IIBENCH_ROW

    def expected_s(self, _):
        return options.expected_s(self.args)

    def prepare(self, log):
        args, name = self.args, self.args.server or host.host_server()
        self.limit = memory_limit(args.memory_max, args.profile)
        self.told = {engine: options.server_options(args, engine, {}) for engine in args.engine_names}
        told = [option for of in self.told.values() for option in of]
        self.environment, self.plugin = environment_of(name, self.told, told, log)
        self.tool = generators.program("iibench", log)
        self.binaries = {"mariadbd": self.environment.mariadbd, "ha_tidesdb.so": self.plugin, "iibench": self.tool}
        self.unequal = [f"Profile {args.profile}: {profiles.about(args.profile)}", self.limit.said]

    def title_and_about(self):
        about = (f"MariaDB {self.environment.version}; each measurement on a fresh server; a step's throughput is that of "
                 "its queries if it has any, else that of rows.")
        if self.args.bulk:
            about += (" The server restarts before INSERT ... SELECT, so its memory is what the statement needs and what "
                      "the start restores; its peak is the kernel's (VmHWM). Other steps' peaks come from samples a second "
                      "apart, and include what earlier steps left.")
        return f"iibench: {' and '.join(self.labels)}", about

    def measure(self, unit, step):
        taken = self.take(unit, step.note)
        step.note(", ".join(f"{phase['name']} {phase['seconds']:.1f} s" for phase in taken["result"]["phases"]))
        return runs_of(unit, taken), {}

    def take(self, unit, note):
        """The measurement, in parts."""
        place, raw = self.directory / "server", self.directory / "raw"
        raw.mkdir(exist_ok=True)
        told = options.server_options(self.args, unit.engine, dict(unit.point))
        plugin = self.plugin if unit.engine == "TidesDB" else None
        server = PrivateServer(self.environment, place, self.limit, plugin=plugin, options=told,
                               socket=self.sockets / "mysqld.sock")
        server.stop()  # It may be left from an earlier sitting.
        shutil.rmtree(place, ignore_errors=True)
        try:
            server.initialise()
            server.start()
            with server.sampler() as sampler:
                result = self._steps(unit, server, raw, note)
            sampler.samples.save(raw / f"{unit.stem}.samples.json")
            found = {"path": result, "result": iibench.load(result), "samples": sampler.samples, "options": told}
            if self.args.bulk:
                found["bulk"], found["bulk_samples"] = self._bulk(unit, server, raw, note)
            (raw / f"{unit.stem}.variables.json").write_text(json.dumps(variables_of(server), indent=1) + "\n")
            return found | {"variables": variables_of(server), "versions": versions_of(server), "memory": server.memory(),
                            "directory_bytes": allocated_bytes(server.data)}
        except Failed as error:
            raise server.failed(error) from error
        finally:
            try:
                server.stop()
            finally:
                server.end()
                shutil.rmtree(place, ignore_errors=True)

    def _steps(self, unit, server, raw, note):
        args, result = self.args, raw / f"{unit.stem}.json"
        argv = [self.tool, "run", "-S", server.socket, "--db", _DATABASE, "--engine", unit.engine, "--profile",
                args.generator_profile, *options.sizes(args, dict(unit.point)), "--settle", args.settle,
                "--seed", args.seed, "--label", unit.engine, "--progress", 1, "--json", result]
        watched.run(argv, raw / f"{unit.stem}.log", lambda line, _: note(" ".join(line.split())),
                    allowed=generators.MEASURED)
        return result

    def _bulk(self, unit, server, raw, note):
        """Restarts the server first, so that memory left by earlier steps does not count as the statement's."""
        note("restarting the server")
        server.stop()
        server.start()
        note("INSERT ... SELECT")
        with server.sampler() as sampler:
            done = bulk(server)
        sampler.samples.save(raw / f"{unit.stem}{BULK_SAMPLES}")
        return done, sampler.samples


def bulk(server):
    """Copies every row of the first table into a table with its indexes, in one statement. Returns rows, seconds, its start
    time, and the server's peak of memory since its start."""
    server.sql(f"CREATE TABLE {_DATABASE}.copy LIKE {_DATABASE}.pi1")
    began, begin = time.time(), time.monotonic()
    server.sql(f"INSERT INTO {_DATABASE}.copy SELECT * FROM {_DATABASE}.pi1")
    seconds, memory = time.monotonic() - begin, server.memory()
    rows, of = (int(count) for count in server.sql(
        f"SELECT (SELECT COUNT(*) FROM {_DATABASE}.copy), (SELECT COUNT(*) FROM {_DATABASE}.pi1)").split())
    if rows != of:
        raise Failed(f"INSERT ... SELECT: {rows} of {of} rows are in the copy")
    return {"rows": rows, "seconds": seconds, "began_unix_s": began, "resident_peak": memory.get("resident_peak")}


def runs_of(unit, taken):
    """The Runs of a unit: one per step, and one for INSERT ... SELECT. None if it ended before the first step."""
    steps = [(run, phase, taken["samples"]) for run, phase in iibench.steps_of(taken["path"], taken["result"], unit.engine)]
    if taken.get("bulk"):
        steps.append((_run_of_bulk(unit, taken), taken["bulk"], taken["bulk_samples"]))
    for run, phase, samples in steps:
        run.repetition, run.condition = unit.repetition, unit.condition
        _add_samples(run, samples, phase["began_unix_s"] - samples.began, phase["seconds"])
        run.variables = {name: value for name, value in taken["variables"].items() if not value.startswith("/")}
        run.versions |= taken["versions"]
        run.files = [f"raw/{unit.stem}{suffix}" for suffix in (".json", ".samples.json", ".log", ".variables.json")]
        run.configuration["server options"] = " ".join(taken["options"])
    if not steps:
        return []
    last = steps[-1][0]
    if last.workload == _BULK:
        last.files.append(f"raw/{unit.stem}{BULK_SAMPLES}")
        known = {"resident, before": taken["bulk_samples"].resident_first, "resident, peak": taken["bulk"]["resident_peak"]}
        last.memory |= {name: value for name, value in known.items() if value is not None}
    sampled.add_memory(last, {**taken["memory"], "resident_peak": None})  # The step's own peak is in its samples.
    last.sizes["server's directory after the last step"] = taken["directory_bytes"]
    return [run for run, *_ in steps]


def _run_of_bulk(unit, taken):
    done, config = taken["bulk"], taken["result"]["config"]
    return Run(unit.engine, _BULK, 1, unit.repetition, done["rows"] / done["seconds"], "rows/s",
               seconds=done["seconds"], operations=done["rows"], measures={"seconds of the step": done["seconds"]},
               row_bytes=round(done["rows"] * iibench.row_bytes(config)),
               configuration=iibench.configuration(taken["result"]))


def _add_samples(run, samples, begin_s, seconds):
    """The samples of a step, on its own clock."""
    part = samples.between(begin_s, begin_s + seconds)
    # A short step may lie between two samples: then it gets the memory of the samples around it.
    around = part if part.resident_most else samples.between(begin_s - 1.5, begin_s + seconds + 1.5)
    part.peak_resident = around.resident_most
    sampled.add(run, part, begin_s=-begin_s)
