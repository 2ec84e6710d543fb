"""One measurement of a study of builds: sysbench on a copy of the loaded data, and what is seen meanwhile."""

import json
import time

from installer.shell import Failed
from lab.observe import innodb_metrics
from lab.observe.observers import Observers
from lab.observe.sampler import allocated_bytes
from lab.record import provenance
from lab.runners.pgo import settings
from lab.server.private_server import Limit, in_bytes, versions_of
from lab.works.sysbench_run import DATABASE, call, command, measuring, recorded

_LOADERS_MAX = 8


def _sysbench(server, wanted, workload, action, threads, *more):
    return command(server.socket, workload, action, threads, wanted.rows, *more, tables=wanted.tables)


def load(build, place, wanted, step):
    """Makes the template that this build's group is measured with. What the journal keeps."""
    tier = max(wanted.tiers, key=lambda one: in_bytes(one.cache))
    begin = time.monotonic()
    server = place.loader(build, settings.server_options(wanted, build, tier))
    try:
        server.start()
        server.sql(f"CREATE DATABASE {DATABASE}")
        step.note("loading")
        call(_sysbench(server, wanted, wanted.workload, "prepare", min(wanted.tables, _LOADERS_MAX),
                       f"--mysql-storage-engine={build.engine}"))
    except Failed as error:
        raise server.failed(error) from error
    finally:
        server.stop()
    made = place.loaded(build, server, time.monotonic() - begin)
    step.note(f"{made['bytes'] / (1 << 20):,.0f} MB")
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


def measure(unit, builds, place, wanted, step, output):
    """One measurement on a fresh copy of the data. builds: all of them, by label. What the journal keeps."""
    build = builds[unit.label]
    limit = Limit(in_bytes(unit.tier.limit)) if unit.tier.limit else Limit()
    server = place.fresh(build, settings.server_options(wanted, build, unit.tier), limit)
    try:
        server.start()
        server.check_allocator()
        return _on(server, unit, builds, wanted, step, _Kept(output, unit))
    except Failed as error:
        raise server.failed(error) from error
    finally:
        server.stop()
        place.forget()


def _warm_up(server, unit, wanted, step):
    for workload, seconds in (("oltp_read_only", wanted.warmup_read), (wanted.workload, wanted.warmup_write)):
        if seconds:
            step.note(f"warming up, {workload}")
            call(_sysbench(server, wanted, workload, "run", unit.threads, f"--time={seconds}",
                           f"--rand-seed={1000 + unit.repetition}"))
    time.sleep(wanted.pause)


def also_sampled(server, builds):
    """What a server is asked each second besides its status: of every build, or one would pay for what another does not."""
    return innodb_metrics.statement(server) if any(build.engine == "InnoDB" for build in builds.values()) else ""


def _on(server, unit, builds, wanted, step, kept):
    _warm_up(server, unit, wanted, step)
    build = builds[unit.label]
    variables = table_of(server, "VARIABLES")
    settings.check_cache(build, unit.tier, variables)
    kept.put("variables-before.json", variables)
    kept.put("status-before.json", table_of(server, "STATUS"))
    argv = _sysbench(server, wanted, wanted.workload, "run", unit.threads, *measuring(wanted.seconds, 1, unit.repetition))
    raw, also = kept.path("sysbench.txt"), also_sampled(server, builds)
    with Observers(kept.stem, server.pid()) as observers, server.sampler(also) as sampler:
        begin = time.time()
        recorded(argv, raw, step)
    sampler.samples.save(kept.path("samples.json"))
    kept.put("variables-after.json", table_of(server, "VARIABLES"))
    kept.put("status-after.json", table_of(server, "STATUS"))
    tools = {tool: str(path.relative_to(kept.output)) for tool, path in observers.files.items()}
    used, memory = server.memory(), {}
    if unit.tier.limit:
        memory = {"with page cache, peak": used["group_peak"], "page cache at the end": used["page_cache"]}
        observers.notes += [f"{used['oom_kills']} processes killed for memory"] if used["oom_kills"] else []
    return {"begin": begin, "files": [*kept.names, *tools.values()], "tools": tools, "notes": observers.notes,
            "memory": memory, "versions": versions_of(server), "allocator": provenance.allocator(server.pid()),
            "bytes": allocated_bytes(server.data)}
