"""What ./quickstart left in its directory, as a study. Owns: the names of the files there that lab.quickstart writes."""

from pathlib import Path

from lab.base import figures
from lab.observe.sampler import Samples
from lab.record import provenance
from lab.works import sampled, tpcc

# The others are compared with the first.
_ENGINES = ("InnoDB", "TidesDB", "RocksDB")
_SIZES = {"data": "data after the run", "data_unflushed": "of that not flushed", "data_log": "log after the run"}
_UNEQUAL = (
    "One server holds all engines at once. The caches and write buffers of its my.cnf (see the configuration) are of 256 "
    "MB for each engine, and each syncs its commits; all else is as the engine has it by default.",
    "The page cache is not counted and nothing limits it: TidesDB and MyRocks read their files through it, InnoDB goes "
    "past it (O_DIRECT). On a machine with memory to spare that favours the first two.",
    "Memory, CPU time and what the disk wrote are those of the whole server: the other engines' caches and background "
    "work are in them.",
    "Each engine is measured once and shortly, after another one: what an engine puts off until later is not on its "
    "account. lab.compare repeats, in turns, with a server and a limit of memory for each engine.")


def result_name(engine):
    return f"result-{engine}.json"


def samples_name(engine):
    return f"samples-{engine}.json"


def facts_name(engine):
    return f"facts-{engine}.json"


def is_one(directory):
    """Whether ./quickstart measured in this folder."""
    return any((Path(directory) / result_name(engine)).exists() for engine in _ENGINES)


def study(directory):
    """Raises Failed."""
    directory = Path(directory)
    engines = [engine for engine in _ENGINES if (directory / result_name(engine)).exists()]
    made = tpcc.study([directory / result_name(engine) for engine in engines], "TPROC-C: ./quickstart")
    made.unequal = list(_UNEQUAL)
    found = {engine: _facts(directory, engine) for engine in engines}
    for run, engine in zip(made.runs, engines):
        _add(run, directory, engine, found[engine])
    known = [facts for facts in found.values() if facts]
    if known:
        made.provenance, made.configuration = known[-1]["provenance"], _settings(known[-1]["my.cnf"])
    made.history += _differences(found)
    made.files |= {name: provenance.sha256(directory / name) for run in made.runs for name in run.files}
    return made


def _facts(directory, engine):
    path = directory / facts_name(engine)
    return figures.of_json(figures.read(path), path) if path.exists() else None


def _add(run, directory, engine, facts):
    if not facts:
        return
    run.files.append(facts_name(engine))
    run.versions |= facts["versions"]
    run.sizes = {text: facts["sizes"][key] for key, text in _SIZES.items()}
    if not (directory / samples_name(engine)).exists():
        return
    run.files.append(samples_name(engine))
    samples = Samples.load(directory / samples_name(engine))
    begin_s = float(run.configuration["rampup s"])
    measured = samples.between(begin_s, begin_s + run.seconds)
    samples.peak_resident = None  # Since the server's start: of whoever had most.
    sampled.add(run, samples, (begin_s, begin_s + run.seconds))
    run.memory = {"resident, all engines together": measured.resident_most} if measured.resident_most else {}
    run.row_bytes = None if run.broken else tpcc.row_bytes(run.operations)


def _settings(text):
    """(name, value) of a my.cnf."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line and not line.startswith("#"))
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def _differences(found):
    """Sentences: figures that are not of one sitting."""
    missing = [engine for engine, facts in found.items() if not facts]
    said = [f"Where the figures of {' and '.join(missing)} come from was not kept: ./quickstart --measure takes them anew."
            ] if missing else []
    sums = {(facts["provenance"]["commit"], facts["my.cnf"],
             *(item["sha256"] for item in facts["provenance"]["binaries"].values())) for facts in found.values() if facts}
    if len(sums) > 1:
        said.append("The engines were not all measured with the same programs and settings; the last one's are below: "
                    "./quickstart --measure takes them anew.")
    return said
