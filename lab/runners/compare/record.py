"""A study of lab.compare (its directory) for the report. Owns: the names of the files there."""

from pathlib import Path

from lab.base import figures
from lab.observe.sampler import Samples
from lab.record import form, provenance, turns
from lab.record.run import Run, Study
from lab.study import journal
from lab.works import sampled, sysbench, tpcc
from lab.works import sysbench_output as parser
from lab.works import sysbench_run as work_of
from lab.works.tpcc_result import load

KIND = "compare"
FACTS, JOURNAL = "facts.json", "journal.jsonl"
TPCC = "tpcc"  # A kind of work beside sysbench's.
_CONDITIONS = {"NONE": "commits not synced", "FULL": "commits synced"}


def is_one(directory):
    """Whether lab.compare made this folder."""
    path = Path(directory) / JOURNAL
    return path.exists() and journal.read(path).kind == KIND


def variables_name(engine, sync):
    return f"variables-{engine}-{sync}.json"


def _read(path):
    return figures.of_json(figures.read(path), path)


def study(directory):
    """Raises Failed."""
    directory = Path(directory)
    facts, record = _read(directory / FACTS), journal.read(directory / JOURNAL)
    entries = [entry for entry in record.results().values() if "raw" in entry]
    runs = [_run(directory, entry, facts) for entry in entries]
    asked = facts["asked"]
    about = (f"MariaDB {facts['version']}; {asked['rows']:,} rows, {asked['threads']} threads and {asked['seconds']} s a "
             f"sysbench run; TPROC-C with {form.plural(asked['warehouses'], 'warehouse')}, {asked['users']} users, "
             f"{asked['tpcc_seconds']} s; {asked['rounds']} rounds, the engines in turn, one server at a time."
             + turns.said(record.plan, asked["rounds"]))
    wanted = len(asked["engines"]) * len(asked["sync"]) * asked["rounds"] * len(asked["work"])
    short = [f"The study was not run to its end: {len(entries)} measurements."] if len(entries) < wanted else []
    raw = [FACTS, JOURNAL, *[path.name for path in sorted(directory.glob("variables-*.json"))],
           *[entry[key] for entry in entries for key in ("raw", "samples")]]
    configuration = [(name, " ".join(map(str, value)) if isinstance(value, list) else value)
                     for name, value in asked.items() if name != "directory"]
    return Study("compare", " and ".join(asked["engines"]) + " side by side", about, runs,
                 [facts["profile"], facts["limit"]], [*record.history(), *short],
                 configuration, facts["provenance"], {name: provenance.sha256(directory / name) for name in raw})


def _run(directory, entry, facts):
    path, condition = directory / entry["raw"], _CONDITIONS[entry["sync"]]
    samples = Samples.load(directory / entry["samples"])
    if entry["work"] == TPCC:
        result = load(path)
        run = tpcc.run_of(result, entry["engine"], entry["round"], condition)
        run.configuration = {}  # The study's own says it.
        ramp_up_s = result.config["rampup_s"]
        sampled.add(run, samples, (ramp_up_s, ramp_up_s + run.seconds))
        run.row_bytes = tpcc.row_bytes(run.operations)
    else:
        run = _sysbench(path, entry, condition, facts)
        sampled.add(run, samples)
        run.row_bytes = sysbench.row_bytes(run.status) or None
    run.versions |= entry.get("versions", {})
    variables = directory / variables_name(entry["engine"], entry["sync"])
    run.variables = _read(variables)
    sampled.add_memory(run, entry["memory"])
    run.sizes["server's directory after the run"] = entry["directory_bytes"]
    run.files = [entry["raw"], entry["samples"], variables.name]
    options = facts["options"][entry["engine"]][entry["sync"]]
    run.configuration |= {"server options": " ".join(options)}
    return run


def _sysbench(path, entry, condition, facts):
    done = parser.parse(figures.read(path), path)
    queries = work_of.WORK[entry["work"]].per == "queries"
    return Run(entry["engine"], f"sysbench {entry['work']}", facts["asked"]["threads"], entry["round"],
               done.qps if queries else done.tps, "queries/s" if queries else "transactions/s", condition, done.total_s,
               done.queries if queries else done.transactions, [sysbench.latency(done)], sysbench.series(done, queries),
               errors=sysbench.errors(done), versions={"sysbench": done.version})
