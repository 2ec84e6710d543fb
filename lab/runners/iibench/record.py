"""A run of iibench_runner.sh (its iibench_* folder) as a study. Owns: the names of the files there."""

from pathlib import Path

from lab.base import figures
from lab.observe.sampler import Samples
from lab.record import provenance, turns
from lab.record.run import Run, Study
from lab.study import journal
from lab.works import iibench, sampled

KIND = "iibench_runner"
JOURNAL, FACTS = "journal.jsonl", "facts.json"
BULK_SAMPLES = ".bulk.samples.json"
_BULK = "iibench INSERT ... SELECT"


def asked(args):
    """(name, value) of the options that say something."""
    return [[name.replace("_", " "), " ".join(f"{key}={','.join(values)}" for key, values in value) if name == "vary" else
             value] for name, value in sorted(vars(args).items())
            if value not in (None, "", [], False) and name not in ("output_dir", "resume", "engine_names")]


def is_one(directory):
    """Whether iibench_runner.sh made this folder."""
    path = Path(directory) / JOURNAL
    return path.exists() and journal.read(path).kind == KIND


def study(directory):
    """Raises Failed."""
    directory = Path(directory)
    record = journal.read(directory / JOURNAL)
    facts = figures.of_json(figures.read(directory / FACTS), directory / FACTS)
    runs, files = [], {}
    for entry in record.results().values():
        runs += _runs(directory / "raw", entry, facts)
    if (directory / "raw").exists():
        files = {f"raw/{name}": digest for name, digest in provenance.checksums(directory / "raw").items()}
    about = (f"MariaDB {facts['version']}; each measurement on a fresh server; a step's throughput is that of its queries "
             "where it has them, else of rows."
             + turns.said(record.plan, max((run.repetition for run in runs), default=1)))
    if any("resident, before" in run.memory for run in runs):
        about += (" Before INSERT ... SELECT the server begins anew, so that its memory is the statement's and what a "
                  "start brings back; its peak is the kernel's (VmHWM). Other steps' peaks are of samples a second apart, "
                  "and what the steps before them left is in them.")
    labels = " and ".join(dict.fromkeys(run.label for run in runs))
    return Study("iibench", f"iibench: {labels}", about, runs, facts["unequal"], record.history(),
                 [tuple(pair) for pair in facts["asked"]], facts["provenance"], files)


def _runs(raw, entry, facts):
    stem = entry["stem"]
    path = raw / f"{stem}.json"
    result = iibench.load(path)
    steps = iibench.steps_of(path, result, entry["engine"])
    samples = Samples.load(raw / f"{stem}.samples.json")
    rows = (line.split("\t", 1) for line in figures.read(raw / f"{stem}.variables.tsv").splitlines())
    variables = {row[0]: row[1] for row in rows if len(row) == 2 and not row[1].startswith("/")}
    own = _bulk_samples(raw, stem)
    if entry.get("bulk"):
        steps.append((_bulk(entry, result), entry["bulk"]))
    for run, phase in steps:
        run.repetition, run.condition = entry["repetition"], entry["condition"]
        of = own if own and run.workload == _BULK else samples
        _add_samples(run, of, phase["began_unix_s"] - of.began, phase["seconds"])
        run.variables = variables
        run.versions |= entry.get("versions", {})
        run.files = [f"raw/{stem}{suffix}" for suffix in (".json", ".samples.json", ".log", ".variables.tsv")]
        # An earlier version's run has the profile's alone, without what varied.
        run.configuration["server options"] = " ".join(entry.get("options", facts["options"][entry["engine"]]))
    if not steps:  # It was ended before the first step had done anything.
        return []
    last = steps[-1][0]
    if own and last.workload == _BULK:
        last.files.append(f"raw/{stem}{BULK_SAMPLES}")
        known = {"resident, before": own.resident_first, "resident, peak": entry["bulk"]["resident_peak"]}
        last.memory |= {name: value for name, value in known.items() if value is not None}
    sampled.add_memory(last, {**entry["memory"], "resident_peak": None})  # That of the step is in its samples.
    last.sizes["server's directory after the last step"] = entry["directory_bytes"]
    return [run for run, _ in steps]


def _bulk(entry, result):
    done = entry["bulk"]
    return Run(entry["engine"], _BULK, 1, entry["repetition"], done["rows"] / done["seconds"], "rows/s",
               seconds=done["seconds"], operations=done["rows"], measures={"seconds of the step": done["seconds"]},
               row_bytes=round(done["rows"] * iibench.row_bytes(result["config"])),
               configuration=iibench.configuration(result))


def _bulk_samples(raw, stem):
    """Of INSERT ... SELECT's own server; None of an earlier version's run, which measured it on that of the steps."""
    path = raw / f"{stem}{BULK_SAMPLES}"
    return Samples.load(path) if path.exists() else None


def _add_samples(run, samples, begin_s, seconds):
    """Those of a step, on its own clock."""
    part = samples.between(begin_s, begin_s + seconds)
    # A short one may lie between two samples: then the memory is that of the ones around it.
    around = part if part.resident_most else samples.between(begin_s - 1.5, begin_s + seconds + 1.5)
    part.peak_resident = around.resident_most
    sampled.add(run, part, begin_s=-begin_s)
