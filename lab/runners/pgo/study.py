"""A study of builds: builds × memory tiers × threads × repetitions of sysbench. A unit is one measurement."""

import json
import shutil
import time

from installer import packages
from lab.base import figures
from lab.observe import innodb_metrics, metrics
from lab.observe.observers import Observers
from lab.observe.sampler import allocated_bytes
from lab.record import form, provenance
from lab.record.run import Metric, is_state
from lab.runners.pgo import settings
from lab.server.private_server import Limit, in_bytes, versions_of
from lab.study import copies
from lab.study.progress import Step
from lab.works import sampled, sysbench
from lab.works import sysbench_output as parser
from lab.works.sysbench_run import DATABASE, call, command, measuring, recorded

_ROWS_PER_S = 40_000
_AROUND_S = 8  # A server's start and stop.
_LOADERS_MAX = 8


class Study(copies.OnCopies):
    """Owns: directory (pgo_study_*)."""

    kind, command = "pgo_study", "pgo_study.sh"
    packages = packages.SYSBENCH + packages.OBSERVE + packages.LAB_PYTHON
    paired = True
    smaller = "use --scale to make it smaller, or -o to put it elsewhere"

    def __init__(self, args, directory, plan):
        super().__init__(args, directory, plan)
        self.wanted, self.specs = args.wanted, args.specs
        self.units = settings.units(self.wanted, [spec.label for spec in self.specs])

    def needs_bytes(self):
        return settings.disk_wanted_bytes(self.wanted, len(self.groups))

    def prepare(self, log):
        super().prepare(log)
        # The allocator is not our program, but it must be the same too.
        self.told = {f"{label} ({tier.condition})": [*self._options(build, tier), build.preload]
                     for label, build in self.builds.items() for tier in self.wanted.tiers}
        self.binaries["sysbench"] = shutil.which("sysbench")
        self.unequal = settings.unequal(self.wanted, self.builds, self.groups)
        self.configuration = [(name, _text(value)) for name, value in self.wanted.plan().items()]
        self.configuration += [(f"build {label}", _said(build)) for label, build in self.builds.items()]

    def title_and_about(self):
        wanted, (first, *others) = self.wanted, self.labels
        return f"Gain of {' and '.join(others)} over {first}", (
            f"sysbench {wanted.workload} on {form.plural(wanted.tables, 'table')} of {wanted.rows:,} rows; "
            f"{form.plural(wanted.repetitions, 'repetition')} of {wanted.seconds} s, each after {wanted.warmup_read} s of "
            f"reading and {wanted.warmup_write} s of the workload, on a fresh server and a copy of the loaded data. At "
            "each point the builds follow each other.")

    def _options(self, build, tier):
        return settings.server_options(self.wanted, build, tier)

    def steps(self):
        wanted = self.wanted
        each_s = (_AROUND_S + wanted.warmup_read + wanted.warmup_write + wanted.pause + wanted.seconds
                  + settings.disk_wanted_bytes(wanted, 0) / 400e6)
        return [*(Step(copies.load_name(build), 15 + wanted.rows * wanted.tables / _ROWS_PER_S, "load")
                  for build in self.groups), *(Step(unit.name, each_s, "run") for unit in self.units)]

    def _sysbench(self, server, workload, action, threads, *more):
        return command(server.socket, workload, action, threads, self.wanted.rows, *more, tables=self.wanted.tables)

    def load_options(self, build):
        return self._options(build, max(self.wanted.tiers, key=lambda one: in_bytes(one.cache)))

    def fill(self, server, build, step):
        server.sql(f"CREATE DATABASE {DATABASE}")
        step.note("loading")
        call(self._sysbench(server, self.wanted.workload, "prepare", min(self.wanted.tables, _LOADERS_MAX),
                            f"--mysql-storage-engine={build.engine}"))

    def measure(self, unit, step):
        build = self.builds[unit.label]
        limit = Limit(in_bytes(unit.tier.limit)) if unit.tier.limit else Limit()
        with self.fresh(build, self._options(build, unit.tier), limit) as server:
            self._warm_up(server, unit, step)
            return [self._measured(server, unit, step)], {}

    def _warm_up(self, server, unit, step):
        wanted = self.wanted
        for workload, seconds in (("oltp_read_only", wanted.warmup_read), (wanted.workload, wanted.warmup_write)):
            if seconds:
                step.note(f"warming up, {workload}")
                call(self._sysbench(server, workload, "run", unit.threads, f"--time={seconds}",
                                    f"--rand-seed={1000 + unit.repetition}"))
        time.sleep(wanted.pause)

    def _measured(self, server, unit, step):
        stem = self.directory / unit.stem
        stem.parent.mkdir(parents=True, exist_ok=True)
        build, files = self.builds[unit.label], []

        def beside(kind):
            path = stem.with_name(f"{stem.name}.{kind}")
            files.append(str(path.relative_to(self.directory)))
            return path

        def keep(kind, moment):
            table = table_of(server, kind.upper())
            beside(f"{kind}-{moment}.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
            return table

        before = keep("variables", "before")
        settings.check_cache(build, unit.tier, before)
        keep("status", "before")
        raw, also = beside("sysbench.txt"), also_sampled(server, self.builds)
        with Observers(stem, server.pid()) as observers, server.sampler(also) as sampler:
            began = time.time()
            recorded(self._sysbench(server, self.wanted.workload, "run", unit.threads,
                                    *measuring(self.wanted.seconds, 1, unit.repetition)), raw, step)
        sampler.samples.save(beside("samples.json"))
        after = keep("variables", "after")
        keep("status", "after")
        files += [str(path.relative_to(self.directory)) for path in observers.files.values()]
        run = self.run_of(unit, raw, sampler.samples, (before, after), observers, began)
        run.versions |= versions_of(server)
        run.sizes["server's directory after the run"] = allocated_bytes(server.data)
        run.configuration["allocator"] = provenance.allocator(server.pid())
        if unit.tier.limit:  # Without a limit, its group has more than the server.
            sampled.add_memory(run, {**server.memory(), "resident_peak": None, "limit": None})
        run.files = files
        return run

    def run_of(self, unit, raw, samples, variables, observers, began):
        """The Run from the raw output, the samples and the tools. variables: before and after."""
        done, (before, after) = parser.parse(figures.read(raw), raw), variables
        run = sysbench.run_of(done, unit.label, self.wanted.workload, unit.threads, unit.repetition, unit.tier.condition,
                              measures={"queries/s": done.qps}, variables=before, configuration={
                                  "server options": " ".join(self._options(self.builds[unit.label], unit.tier))})
        sampled.add(run, samples)
        run.row_bytes = sysbench.row_bytes(run.status) or None
        seen, notes = metrics.seen(observers.files, began, run.seconds,
                                   lambda path: str(path.relative_to(self.directory)))
        run.series |= {name: Metric(unit, points) for name, (unit, points) in seen.items()}
        changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name) and not is_state(name))
        run.notes = [*observers.notes, *notes, *([f"changed while it ran: {', '.join(changed)}"] if changed else [])]
        return run

    def finished(self):
        if not self.args.keep_data:
            super().finished()


def table_of(server, kind):
    """SHOW GLOBAL VARIABLES or STATUS by name, without the study's own paths."""
    rows = (line.split("\t", 1) for line in server.sql(f"SHOW GLOBAL {kind}").splitlines() if "\t" in line)
    hidden = [(str(server.directory), "..."), (str(server.socket.parent), "..."),
              (str(server.environment.basedir).rstrip("/"), "(basedir)")]
    found = {}
    for name, value in rows:
        for path, text in hidden:
            value = value.replace(path, text) if path else value
        found[name] = value
    return found


def also_sampled(server, builds):
    """Queries each second besides the status: the same for every build, so that all pay the same price."""
    return innodb_metrics.statement(server) if any(build.engine == "InnoDB" for build in builds.values()) else ""


def _text(value):
    if isinstance(value, (list, tuple)):
        return " ".join(map(_text, value))
    return settings.Tier(**value).condition if isinstance(value, dict) else str(value)


def _said(build):
    said = {"engine": build.engine, "server": f"{build.flavour} {build.version}", "options": " ".join(build.options),
            "allocator": build.preload.rsplit("/", 1)[-1], "data": build.data}
    return ", ".join(f"{key} {value}" for key, value in said.items() if value)
