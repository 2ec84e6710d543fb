"""A run of sqlbench.sh (its result_*.json) as a study. A folder may hold several runs: the newest is taken."""

from pathlib import Path

from lab.base import figures
from lab.base.errors import BadInput
from lab.observe.sampler import Samples
from lab.record import turns
from lab.record.run import Run, Study
from lab.runners.sqlbench.settings import ENGINES
from lab.runners.sqlbench.units import SAMPLES, VARIABLES
from lab.works import sampled, sysbench
from lab.works import sysbench_output as parser

FORMAT = 1
_SIZES = {"after_prepare": "data after the load", "after_run": "data after the run",
          "after_run_unflushed": "of that not flushed", "after_run_log": "log after the run",
          "after_run_undo": "undo and system after the run"}


def result_name(stamp):
    return f"result_{stamp}.json"


def newest(directory):
    """The result of the newest run; None where there is none."""
    return max(Path(directory).glob(result_name("*")), default=None)


def study_of(path):
    """Of a result_*.json; what sysbench printed is read from the folder beside it. Raises BadInput."""
    path = Path(path)
    whole = figures.of_json(figures.read(path), path)
    if not isinstance(whole, dict) or (whole.get("kind"), whole.get("format")) != ("sqlbench", FORMAT):
        raise BadInput(path, f"is no result of sqlbench.sh in format {FORMAT}")
    try:
        return _study(whole, path.with_name(path.stem.replace("result_", "raw_")))
    except (KeyError, TypeError) as error:
        raise BadInput(path, f"lacks a part, or it has the wrong form: {error!r}") from error


def _study(whole, raw):
    wanted = whole["settings"]
    about = (f"{wanted['time_s']} s a run after {wanted['warmup_s']} s of warm-up, {wanted['iterations']} iteration(s), "
             f"{wanted['tables']} table(s); the engines take turns, each on a fresh server."
             + turns.said(whole, wanted["iterations"]))
    runs = [_run(one, raw, whole) for one in whole["measurements"]]
    return Study("sqlbench", "sysbench: " + " and ".join(wanted["engines"]), about, runs, whole["unequal"],
                 whole["history"], _asked(wanted, whole.get("running")), whole["provenance"], whole["files"])


def _asked(wanted, running):
    """(name, value) of the variables that say something of this run; the servers' options are with the runs.

    With a profile, or of a server that ran already (running), the engines' variables are not what the servers have.
    """
    of_engines = tuple(f"{engine.lower()}_" for engine in ENGINES)
    used = tuple(f"{engine.lower()}_" for engine in wanted["engines"] if not wanted["profile"] and not running)
    return [(name, " ".join(map(str, value)) if isinstance(value, list) else value) for name, value in wanted.items()
            if value != "" and (name.startswith(used) or not name.startswith(of_engines))]


def _run(one, raw, whole):
    path = raw / one["raw"]
    done = parser.parse(figures.read(path), path)
    several = len(whole["settings"]["table_sizes"]) > 1
    run = Run(one["engine"], one["workload"], one["threads"], one["iteration"], done.tps, "transactions/s",
              condition=f"{one['table_size']:,} rows" if several else "", seconds=done.total_s,
              operations=done.transactions, latencies=[sysbench.latency(done)], series=sysbench.series(done),
              measures={"queries/s": done.qps}, errors=sysbench.errors(done),
              sizes={text: one["sizes"][key] for key, text in _SIZES.items() if key in one["sizes"]},
              configuration={"server options": " ".join(whole["options"][one["engine"]])},
              versions={"sysbench": done.version, **one.get("versions", {})}, files=[f"{raw.name}/{path.name}"])
    samples, variables = path.with_suffix(SAMPLES), path.with_suffix(VARIABLES)
    if samples.exists():
        sampled.add(run, Samples.load(samples))
        run.row_bytes = sysbench.row_bytes(run.status) or None
        run.files.append(f"{raw.name}/{samples.name}")
    if variables.exists():
        rows = (line.split("\t", 1) for line in figures.read(variables).splitlines() if "\t" in line)
        run.variables = dict(rows)
    sampled.add_memory(run, one["memory"])
    return run


def study(directory):
    """Of a folder that holds one. Raises BadInput."""
    return study_of(newest(directory))
