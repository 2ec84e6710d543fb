"""A run of sqlbench.sh (its output folder) as a study. A folder may hold several runs: the newest is taken."""

import json
from pathlib import Path

from installer.shell import Failed
from lab.harness import journal, provenance
from lab.parse import sysbench as parser
from lab.report.adapters import sysbench
from lab.report.study import Run, Study
from lab.sqlbench import settings as settings_of
from lab.sqlbench.units import units

_SIZES = {"after_prepare": "data after the load", "after_run": "data after the run",
          "after_run_unflushed": "of that not flushed", "after_run_log": "log after the run",
          "after_run_undo": "undo and system after the run"}
_MEMORY = {"resident_peak": "resident, peak", "group_peak": "with page cache, peak", "page_cache": "page cache at the end"}


def newest(directory):
    """The journal of the newest run. Raises Failed where there is none."""
    found = sorted(Path(directory).glob("journal_*.jsonl"))
    if not found:
        raise Failed(f"{directory}: holds no run of sqlbench.sh")
    return found[-1]


def facts_path(path):
    """Where the facts of a journal's run are."""
    return path.with_name(path.name.replace("journal_", "provenance_").replace(".jsonl", ".json"))


def _settings(plan):
    """The Settings of a plan."""
    names = settings_of.Settings.__dataclass_fields__
    return settings_of.Settings(**{name: tuple(value) if isinstance(value, list) else value
                                   for name, value in plan.items() if name in names})


def study(directory, stamp=None):
    """stamp: of the run; None: of the newest. Raises Failed."""
    path = Path(directory) / f"journal_{stamp}.jsonl" if stamp else newest(directory)
    record = journal.read(path)
    wanted = _settings(record.plan)
    raw = path.with_name(path.stem.replace("journal_", "raw_"))
    facts = json.loads(facts_path(path).read_text()) if facts_path(path).exists() else {}
    runs = []
    for unit in units(wanted):
        result = record.result(unit.name)
        if result:
            runs.append(_run(unit, result, raw, wanted))
    about = (f"{wanted.time_s} s a run after {wanted.warmup_s} s of warm-up, {wanted.iterations} iteration(s), "
             f"{wanted.tables} table(s); the engines take turns, each on a fresh server.")
    return Study("sqlbench", "sysbench: " + " and ".join(wanted.engines), about, runs,
                 facts.get("unequal", settings_of.unequal(wanted)), record.history(),
                 [(name, " ".join(map(str, value)) if isinstance(value, list) else value)
                  for name, value in record.plan.items() if name != "binaries"],
                 {name: value for name, value in facts.items() if name != "unequal"},
                 {f"{raw.name}/{name}": digest for name, digest in provenance.checksums(raw).items()})


def _run(unit, result, raw, wanted):
    path = raw / result["raw"]
    done = parser.parse(path.read_text(), path)
    return Run(unit.engine, unit.workload, unit.threads, unit.iteration, done.tps, "transactions/s",
               condition=f"{unit.table_size:,} rows" if len(wanted.table_sizes) > 1 else "", seconds=done.total_s,
               operations=done.transactions, latencies=[sysbench.latency(done)], series=sysbench.series(done),
               measures={"queries/s": done.qps}, errors=sysbench.errors(done),
               sizes={text: result["sizes"][key] for key, text in _SIZES.items() if key in result["sizes"]},
               memory={text: result["memory"][key] for key, text in _MEMORY.items()
                       if result.get("memory", {}).get(key)},
               configuration={"server options": " ".join(settings_of.server_options(wanted, unit.engine))},
               files=[f"{raw.name}/{path.name}"])
