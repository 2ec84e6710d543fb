"""Results of `iibench run --json` as runs: one for each step."""

from pathlib import Path

from lab.base import figures
from lab.base.errors import BadInput
from lab.record import provenance
from lab.record.run import LATENCIES, THROUGHPUT, Check, Error, Latency, Metric, Run, Study, numbered

_SECONDS = ["second", "operation", "count", "rows", "errors", "p50_us", "p99_us", "p999_us", "max_us"]
_QUERIES = "query"


def load(path):
    """The parsed file. Raises BadInput for any other."""
    raw = figures.result(path, "iibench", "iibench run --json")
    if not isinstance(raw.get("label"), str):
        raise BadInput(path, f"lacks its label: {raw.get('label')!r}")
    return raw


def _latency(name, entry):
    return Latency(name, entry["count"],
                   *(entry[f"{key}_us"] / 1000 for key in ("mean", "p50", "p95", "p99", "p999", "max")))


def _done(entry, main):
    """What throughput counts of a step's main operation."""
    return entry["rows"] if _unit(main) == "rows/s" else entry["count"]


def _main_operation(phase):
    """What a step is about: queries where it has them, else what it did most of."""
    operations = phase["operations"]
    queries = [name for name in operations if _QUERIES in name]
    return queries[0] if queries else max(operations, key=lambda name: operations[name]["rows"], default=None)


def _series(phase, main):
    timeline = phase["timeline"]
    if timeline["columns"] != _SECONDS:
        raise ValueError(f"timeline columns {timeline['columns']}")
    made = {}
    # The second that the step ended within is none: what it holds is no rate.
    whole = [row for row in timeline["rows"] if row[0] <= phase["seconds"]]
    for second, operation, count, rows, errors, *latencies in whole:
        def put(name, unit, value):
            made.setdefault(name, Metric(unit, [])).points.append((second, value))

        put(f"{operation} rows", "rows/s", rows)
        put(f"{operation} operations", "operations/s", count)
        put(f"{operation} errors", "errors/s", errors)
        if operation == main:
            put(THROUGHPUT, _unit(main), rows if _unit(main) == "rows/s" else count)
        if count:
            for name, value in zip((LATENCIES[1], LATENCIES[3], LATENCIES[4], LATENCIES[5]), latencies):
                put(f"{operation} {name}", "ms", value / 1000)
                if operation == main:
                    put(name, "ms", value / 1000)
    return made


def _unit(main):
    return "queries/s" if _QUERIES in (main or "") else "rows/s"


def row_bytes(config):
    """Of a row of the table: its seven columns."""
    return 8 + 5 + 4 * 4 + (config["data_min"] + config["data_max"]) / 2


def configuration(raw):
    """What a run was asked for, all its steps alike."""
    return {"server": raw["server"]["version"], "engine": raw["server"]["engine"],
            **{key.replace("_", " "): str(value) for key, value in raw["config"].items()}}


def _run(raw, phase, label, path, last):
    main, config = _main_operation(phase), raw["config"]
    entry = phase["operations"].get(main, {"count": 0, "rows": 0})
    done = _done(entry, main)
    seconds = phase["seconds"]
    notes = [f"{phase['wrong_answers']} wrong answers, first {phase['first_wrong']}"] if phase["wrong_answers"] else []
    notes += ["connection lost"] if raw["server_lost"] and last else []
    measures = {"inserted rows/s": phase["inserted_per_s"], "seconds of the step": seconds}
    if phase["target"]:
        target = phase["target"]
        measures |= {"target rows/s": target["rows_per_s"], "reached rows/s": target["reached_rows_per_s"],
                     "batches late": target["batches_late"], "batches due": target["batches_due"],
                     "seconds that missed the target": target["missed_seconds"],
                     "behind at most, ms": target["behind_max_us"] / 1000}
    tables = (raw["rows_check"] or {"tables": []})["tables"]
    faults = [f"{table['table']}: {fault}" for table in tables for fault in table["faults"]]
    checks = tables if last else []
    return Run(
        label=label, workload=f"iibench {phase['name']}", threads=config["clients"], repetition=1, unit=_unit(main),
        throughput=done / seconds if seconds and phase["complete"] else None, seconds=seconds, operations=done,
        latencies=[_latency(name, phase["operations"][name]) for name in
                   sorted(phase["operations"], key=lambda name: name != main)],
        row_bytes=round((phase["inserted"] + phase["deleted"]) * row_bytes(config)) or None,
        series=_series(phase, main), measures=measures, complete=phase["complete"], notes=notes,
        # Counted over all steps: told once, with the last.
        errors=[Error(e["code"], e["count"], e["first_message"], e["first_where"]) for e in raw["errors"]] if last else [],
        checks=[Check(f"rows of {table['table']} in each index", "broken" if table["faults"] else "holds",
                      tuple(table["faults"])) for table in checks],
        checked=bool(checks), wrong=faults[0] if faults else notes[0] if phase["wrong_answers"] else "",
        variables=raw["server"]["variables"],
        configuration=configuration(raw), versions={"server": raw["server"]["version"]}, files=[path.name])


def steps_of(path, raw, label):
    """(run, step) of each step of a loaded file. Raises BadInput."""
    try:
        steps = [phase for phase in raw["phases"] if phase["operations"]]
        return [(_run(raw, phase, label, path, phase is steps[-1]), phase) for phase in steps]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BadInput(path, f"lacks a part, or it has the wrong form: {error!r}") from error


def step(path, label):
    """(run, step) of a file that has one step. Raises BadInput."""
    found = steps_of(path, load(path), label)
    if len(found) != 1:
        raise BadInput(path, f"has {len(found)} steps; one is wanted")
    return found[0]


def study(paths, title="iibench"):
    """Result files, compared with the first. Raises BadInput."""
    paths = [Path(path) for path in paths]
    loaded = [load(path) for path in paths]
    runs = []
    for path, raw, label in zip(paths, loaded, numbered([raw["label"] for raw in loaded])):
        of = [run for run, _ in steps_of(path, raw, label)]
        for run in of:
            run.configuration["started (UTC)"] = raw.get("started", "")
        runs += of
    first = loaded[0]["config"]
    about = (f"iibench: {first['clients']} clients, profile {first['profile']}; each step's throughput is that of its "
             "queries where it has them, else of rows.")
    return Study("iibench", title, about, runs, files={path.name: provenance.sha256(path) for path in paths})
