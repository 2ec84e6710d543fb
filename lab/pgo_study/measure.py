"""Data loaded once, and one measurement after another on copies of it.

Builds that can read each other's files share the data that one of them loaded. Were each to load its own, a difference
in how the load came to lie on disk would be in every repetition, and look like one of the builds.
"""

import json
import shutil
import subprocess
import time
from pathlib import Path

from installer.shell import Failed
from lab.harness import provenance
from lab.harness.observers import Observers
from lab.harness.cgroup import forget_files
from lab.harness.private_server import Limit, in_bytes
from lab.harness.sampler import allocated_bytes
from lab.pgo_study import settings
from lab.pgo_study.server import StudyServer
from lab.sqlbench.settings import IGNORED_ERRORS
from lab.sqlbench.units import call, recorded

DATABASE = "sbtest"
LOADED = "loaded.json"  # In a template: it is whole, and by whom it was made.
_PERCENT = 95
_LOADERS_MAX = 8
_FORCED_SHUTDOWN_S = 120


class Place:
    """Owns: directory, with a template for each group of builds and the copy that is measured; and a socket's directory."""

    def __init__(self, directory, sockets):
        self.directory, self.socket = Path(directory), Path(sockets) / "mysqld.sock"

    def template(self, build):
        return self.directory / "templates" / build.data

    @property
    def copy(self):
        return self.directory / "run"

    def is_loaded(self, build):
        return (self.template(build) / LOADED).exists()

    def stop_left_over(self, builds):
        """Servers of a sitting that was killed."""
        for build in builds:
            for directory in (self.template(build), self.copy):
                StudyServer(build, directory, socket=self.socket).kill()
        shutil.rmtree(self.copy, ignore_errors=True)


def _sysbench(server, wanted, workload, command, threads, *more):
    return ["sysbench", workload, "--db-driver=mysql", f"--mysql-socket={server.socket}", "--mysql-user=root",
            f"--mysql-db={DATABASE}", f"--tables={wanted.tables}", f"--table-size={wanted.rows}", f"--threads={threads}",
            f"--mysql-ignore-errors={IGNORED_ERRORS}", *more, command]


def load(build, place, wanted, step):
    """Makes the template that this build's group is measured with. What the journal keeps."""
    directory = place.template(build)
    shutil.rmtree(directory, ignore_errors=True)
    tier = max(wanted.tiers, key=lambda one: in_bytes(one.cache))
    server = StudyServer(build, directory, settings.server_options(wanted, build, tier), socket=place.socket)
    begin = time.monotonic()
    server.initialise()
    try:
        server.start()
        server.sql(f"CREATE DATABASE {DATABASE}")
        step.note("loading")
        call(_sysbench(server, wanted, wanted.workload, "prepare", min(wanted.tables, _LOADERS_MAX),
                       f"--mysql-storage-engine={build.engine}"))
    except Failed as error:
        raise Failed(f"{error}\nThe server's log ends with:\n{server.log_tail()}") from error
    finally:
        server.stop()
    size = allocated_bytes(server.data)
    made = {"by": build.label, "seconds": round(time.monotonic() - begin, 1), "bytes": size}
    (directory / LOADED).write_text(json.dumps(made) + "\n")
    step.note(f"{size / (1 << 20):,.0f} MB")
    return made


def table_of(server, kind):
    """SHOW GLOBAL VARIABLES or STATUS by name; the study's own paths are left out."""
    rows = (line.split("\t", 1) for line in server.sql(f"SHOW GLOBAL {kind}").splitlines() if "\t" in line)
    hidden = [(str(server.directory), "..."), (str(server.socket.parent), "..."),
              (str(server.environment.basedir).rstrip("/"), "(basedir)")]
    found = {}
    for name, value in rows:
        for path, text in hidden:
            value = value.replace(path, text) if path else value
        found[name] = value
    return found


class _Kept:
    """The files of one measurement. Owns: those whose names begin with its stem."""

    def __init__(self, output, unit):
        self.output, self.stem = output, output / unit.stem
        self.stem.parent.mkdir(parents=True, exist_ok=True)
        self.names = []

    def path(self, kind):
        path = self.stem.with_name(f"{self.stem.name}.{kind}")
        self.names.append(str(path.relative_to(self.output)))
        return path

    def put(self, kind, table):
        self.path(kind).write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def measure(unit, build, place, wanted, step, output):
    """One measurement on a fresh copy of the data. What the journal keeps."""
    shutil.rmtree(place.copy, ignore_errors=True)
    place.copy.mkdir(parents=True)
    # Bytes alike for every build: also an interrupted or failed run leaves the next one what this one had.
    subprocess.run(["cp", "-a", "--reflink=auto", "--sparse=auto", place.template(build) / "data", place.copy / "data"],
                   check=True)
    forget_files(place.copy)
    limit = Limit(in_bytes(unit.tier.limit)) if unit.tier.limit else Limit()
    server = StudyServer(build, place.copy, settings.server_options(wanted, build, unit.tier), limit, place.socket)
    try:
        server.start()
        server.check_allocator()
        return _on(server, unit, build, wanted, step, _Kept(output, unit))
    except Failed as error:
        raise Failed(f"{error}\nThe server's log ends with:\n{server.log_tail()}") from error
    finally:
        server.stop()
        shutil.rmtree(place.copy, ignore_errors=True)


def _warm_up(server, unit, wanted, step):
    for workload, seconds in (("oltp_read_only", wanted.warmup_read), (wanted.workload, wanted.warmup_write)):
        if seconds:
            step.note(f"warming up, {workload}")
            call(_sysbench(server, wanted, workload, "run", unit.threads, f"--time={seconds}",
                           f"--rand-seed={1000 + unit.repetition}"))
    time.sleep(wanted.pause)


def _on(server, unit, build, wanted, step, kept):
    _warm_up(server, unit, wanted, step)
    variables = table_of(server, "VARIABLES")
    settings.check_cache(build, unit.tier, variables)
    kept.put("variables-before.json", variables)
    kept.put("status-before.json", table_of(server, "STATUS"))
    command = _sysbench(server, wanted, wanted.workload, "run", unit.threads, f"--time={wanted.seconds}",
                        "--report-interval=1", f"--percentile={_PERCENT}", "--histogram=on",
                        f"--rand-seed={unit.repetition}", f"--forced-shutdown={_FORCED_SHUTDOWN_S}")
    raw = kept.path("sysbench.txt")
    with Observers(kept.stem, server.pid()) as observers, server.sampler() as sampler:
        begin = time.time()
        recorded(command, raw, step)
    sampler.samples.save(kept.path("samples.json"))
    kept.put("variables-after.json", table_of(server, "VARIABLES"))
    kept.put("status-after.json", table_of(server, "STATUS"))
    tools = {tool: str(path.relative_to(kept.output)) for tool, path in observers.files.items()}
    used, memory = server.memory(), {}
    if unit.tier.limit:
        memory = {"with page cache, peak": used["group_peak"], "page cache at the end": used["page_cache"]}
        observers.notes += [f"{used['oom_kills']} processes killed for memory"] if used["oom_kills"] else []
    return {"begin": begin, "files": [*kept.names, *tools.values()], "tools": tools, "notes": observers.notes,
            "memory": memory, "allocator": provenance.allocator(server.pid()), "bytes": allocated_bytes(server.data)}
