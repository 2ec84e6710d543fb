"""A run of hammerdb_runner.sh (its hammerdb_logs_* folder) and of mariadb_engines_runner.sh (results_*) as a study."""

import re
from pathlib import Path

from installer.shell import Failed
from lab.base import figures
from lab.base.errors import BadInput
from lab.observe.sampler import Samples
from lab.record import form, provenance, turns
from lab.record.run import THROUGHPUT, Check, Error, Latency, Metric, Run, Study
from lab.runners.hammerdb import options
from lab.runners.hammerdb.options import ENGINE_NAMES
from lab.runners.hammerdb.watch import AFTERWARDS, SAMPLES, VARIABLES
from lab.server import profiles
from lab.study import journal
from lab.works import sampled, tpcc
from lab.works import hammerdb_output as text
from lab.works.tpcc_output import conditions
from lab.works.tpcc_result import load

JOURNAL = "journal.jsonl"
ENGINES_JOURNAL = "journal.txt"
FACTS = "provenance.json"
_NOT_RAW = (".png", ".pdf", ".html", ".md")
_QUERIES = 22  # Of TPROC-H.


def csv_of(logs):
    """The results beside a hammerdb_logs_* folder."""
    return logs.parent / f"hammerdb_results_{logs.name.removeprefix('hammerdb_logs_')}.csv"


def raw_files(directory):
    """By path, the SHA-256 of what is no chart or report."""
    return {name: digest for name, digest in provenance.checksums(directory).items()
            if not name.endswith(_NOT_RAW)}


def _with_csv(files, csv):
    return {f"../{csv.name}": provenance.sha256(csv), **files} if csv.exists() else files


def _facts(directory):
    return figures.of_json(figures.read(directory / FACTS), directory / FACTS)


def _options(plan):
    """What the plan asked for."""
    return options.parse([argument for argument in plan["argv"] if argument])


def runs_of(directory, repetition=1):
    """What came to its end in this folder."""
    done, told = journal.read(directory / JOURNAL).results(), _facts(directory).get("options", {})
    made = []
    for step, row in done.items():
        if step.endswith(" run"):
            folder = directory / step.removesuffix(" run").replace(" ", "_")
            run = _run(row, folder, row.get("repetition", repetition))
            if told.get(row["engine"]):
                run.configuration["server options"] = " ".join(told[row["engine"]])
            run.files = [str(path.relative_to(directory)) for path in sorted(folder.glob("*")) if path.is_file()]
            made.append(run)
    return made


def _run(row, folder, repetition):
    label = row["engine"]
    if "repetition" not in row:  # Else it is a build's own, which may be called as an engine is.
        label = ENGINE_NAMES[label]
    if row["benchmark"] == "tpch":
        run = _tpch(row, folder, label, repetition)
    elif (folder / "result.json").exists():
        run = tpcc.run_of(load(folder / "result.json"), label, repetition)
        run.cpu_s = _cpu_s(row, run.operations)
        # What no two runs have alike.
        run.configuration = {name: value for name, value in run.configuration.items()
                             if name not in ("started (UTC)", "measured, s", "seed")}
    else:
        run = _tpcc_of_hammerdb(row, folder, label, repetition)
    name, _, version = (row.get("generator") or "").partition(" ")
    run.versions |= {name: version} if version else {}
    if row.get("build_sec") is not None:
        run.measures["build, s"] = row["build_sec"]
    if row.get("client_cpu_ms_per_neword") is not None:
        run.measures["client CPU, ms a new order"] = row["client_cpu_ms_per_neword"]
    _add_variables(run, folder)
    _add_samples(run, row, folder)
    return run


def _add_variables(run, folder):
    """What the server had; paths, which are this machine's, are no settings."""
    if (folder / VARIABLES).exists():
        found = figures.of_json(figures.read(folder / VARIABLES), folder / VARIABLES)
        run.variables = {name: value for name, value in found.items() if not value.startswith("/")}
        run.configuration["server"] = f"{found.get('version', '')} {found.get('version_comment', '')}".strip()


def _add_samples(run, row, folder):
    """From the beginning of the measured time."""
    if (folder / SAMPLES).exists():
        sampled.add(run, Samples.load(folder / SAMPLES), (0, run.seconds), (row.get("rampup_min") or 0) * 60)
        run.row_bytes = tpcc.row_bytes(run.operations) if row["benchmark"] == "tpcc" else None
    if (folder / AFTERWARDS).exists():
        found = figures.of_json(figures.read(folder / AFTERWARDS), folder / AFTERWARDS)
        run.versions |= found.get("versions", {})
        sampled.add_memory(run, found.get("memory", {}))
        if found.get("directory_bytes") is not None:
            run.sizes["server's directory after the run"] = found["directory_bytes"]


def _cpu_s(row, operations):
    each = row.get("server_cpu_ms_per_neword")
    return each * operations / 1000 if each is not None and operations else None


def _tpcc_of_hammerdb(row, folder, label, repetition):
    orders = row["nopm"] * row["duration_min"]
    consistent = row.get("consistent")
    checks = [] if consistent is None else _checks(folder / "check.log", consistent)
    run = Run(label, tpcc.workload_of(row["warehouses"]), row["virtual_users"], repetition, row["nopm"], tpcc.UNIT,
              seconds=row["duration_min"] * 60, operations=orders, measures={"TPM": row["tpm"]}, checks=checks,
              checked=consistent is not None, cpu_s=_cpu_s(row, orders), configuration={"generator": row["generator"]})
    return _with_logs(run, row, folder, (_latencies, _counter, _errors, _version))


def _checks(log, consistent):
    """What the built-in generator says of HammerDB's data, or where that is gone, whether it holds."""
    said = conditions(figures.read(log)) if log.exists() else []
    made = [Check(f"{one.name}: {one.title}", one.state, one.samples) for one in said]
    agrees = made and any(check.broken for check in made) != consistent
    return made if agrees else [Check("all conditions", "holds" if consistent else "broken")]


def _with_logs(run, row, folder, readers):
    """The run with what its logs say; what they do not is a note."""
    for read in readers:
        try:
            read(run, row, folder)
        except (BadInput, OSError) as error:
            run.notes.append(str(error).replace(str(folder.parent) + "/", ""))
    return run


def _latencies(run, row, folder):
    timing, report = folder / "timing.json", folder / "hdbxtprofile.log"
    counted = text.profile(figures.read(report), report).summary if report.exists() else {}
    try:
        found = text.latency_json(figures.read(timing), timing)
    except (BadInput, OSError):  # What it keeps in its database can be switched off.
        found = counted or text.profile("", report).summary  # Which names the file that is not there.
    for name in sorted(found, key=lambda name: text.TRANSACTIONS.index(name) if name in text.TRANSACTIONS else 99):
        of = found[name]
        calls = counted[name].calls if name in counted else of.calls  # 5.0 says twice as many in timing.json.
        run.latencies.append(Latency(name, calls, of.avg_ms, of.p50_ms, of.p95_ms, of.p99_ms, None, of.max_ms))


def _counter(run, _row, folder):
    path = folder / "hdbtcount.log"
    if path.exists():
        run.series[THROUGHPUT] = Metric("transactions a minute (TPM)", text.transaction_counts(figures.read(path), path))


def _errors(run, row, folder):
    path = folder / "run.log"
    if row.get("errors") and path.exists():
        read = text.queries if row["benchmark"] == "tpch" else text.run_log
        said = read(figures.read(path), path).errors
        run.errors = [Error(0, count, message) for message, count in said.most_common()]


def _version(run, _row, folder):
    """Of the server, as HammerDB says it."""
    path = next((folder / name for name in ("run.log", "hammerdb.log") if (folder / name).exists()), None)
    said = text.run_log(figures.read(path), path).server_version if path else ""
    if said:
        run.configuration["server"] = said


def _tpch(row, folder, label, repetition):
    run = Run(label, f"TPROC-H, scale {row['scale_factor']}", row["virtual_users"], repetition,
              3600 / row["tpch_geomean_sec"], "queries an hour (geometric mean)", seconds=row["tpch_total_sec"],
              operations=_QUERIES, measures={"geometric mean, s": row["tpch_geomean_sec"],
                                             "query set, s": row["tpch_total_sec"]})
    return _with_logs(run, row, folder, (_errors,))


# Without effect in TPROC-C.
_TPROC_H = ("scale", "tpch_vu", "tpch_threads", "querysets", "degree", "tpch_db")


def _asked(args):
    """(name, value) of all options but for secrets."""
    hidden = {"password", "resume", "plot_only", "output_dir", "builds", *(("engine", "engines") if args.builds else ()),
              *(() if "tpch" in args.benchmarks else _TPROC_H), *(() if args.perf else ("perf_frequency",))}
    return [(name.replace("_", " "), _said(value)) for name, value in sorted(vars(args).items())
            if value not in (None, "", [], False) and name not in hidden and not name.startswith("pg_")]


def _said(value):
    """An option's value, its paths without their directories: those are this machine's."""
    if isinstance(value, list) and value and isinstance(value[0], list):  # Of --build.
        return "; ".join(" ".join(re.sub(r"=\S*/", "=", word) for word in words) for words in value)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value.name if isinstance(value, Path) else value


def _words(argv):
    """A command line, its paths as _said() has them."""
    return " ".join(re.sub(r"^(\S*=)?\S*/", r"\1", word) for word in argv)


def _unequal(args, facts):
    said = ["All engines were measured on one server, with the settings that it had."]
    if getattr(args, "private_server", None) is not None or getattr(args, "builds", None):
        said = [f"Profile {args.profile}: {profiles.about(args.profile)}", *filter(None, [facts.get("limit")])]
    said += facts.get("unseen", [])
    if facts["generator"].startswith("HammerDB 6"):
        said.append("HammerDB 6 switches innodb_snapshot_isolation off in its sessions; TidesDB keeps what the server has "
                    "(tidesdb_snapshot_isolation), and where that is on, a write to a row that changed is an error.")
    return said


def study(directory):
    """Of a hammerdb_logs_* folder. Raises Failed."""
    directory = Path(directory)
    facts, record = _facts(directory), journal.read(directory / JOURNAL)
    args = _options(record.plan)
    about = (f"By {facts['generator']}: {form.plural(args.warehouses, 'warehouse')}, "
             f"{form.plural(args.tpcc_vu, 'virtual user')}, {args.rampup} min of ramp-up, {args.duration} min measured; "
             + ("the builds take turns, each on a fresh copy of what one of its engine loaded." if args.builds else
                "each engine is built, measured and dropped in turn.")
             + turns.said(args.repetitions))
    labels = [spec.label for spec in args.builds] or [ENGINE_NAMES[engine] for engine in args.engines]
    # Whichever ran first: the others are compared with the first one asked for.
    runs = sorted(runs_of(directory), key=lambda run: labels.index(run.label))
    return Study("hammerdb", "TPROC-C: " + " and ".join(labels), about, runs, _unequal(args, facts), record.history(),
                 _asked(args), facts, _with_csv(raw_files(directory), csv_of(directory)))


# What an iteration was told, and the whole run was not.
_OF_ONE = ("engine", "engines", "scale down")


def _engines_of(argv):
    """In the order in which they were asked for: the others are compared with the first."""
    for at, word in enumerate(argv):
        if word.startswith("--engines"):
            return (word.partition("=")[2] or "".join(argv[at + 1:at + 2])).lower().split(",")
    return []


def _facts_of_all(folders):
    """Of the first iteration, with the time of all and all their programs: an engine's plugin is in its own alone."""
    each = [_facts(folder) for folder in folders]
    dates = sorted(facts["date"] for facts in each)
    binaries = {name: known for facts in reversed(each) for name, known in facts.get("binaries", {}).items()}
    return {**each[0], "date": " to ".join(dict.fromkeys((dates[0], dates[-1]))), "binaries": binaries}


def _builds_apart(folders):
    """Sentences: what was not the same build in all iterations. It may change while a long run goes on."""
    found = {}
    for folder in folders:
        for name, known in journal.read(folder / JOURNAL).plan.get(journal.BINARIES, {}).items():
            found.setdefault(name, {}).setdefault(known, folder.parent.parent.name + "/" + folder.parent.name)
    return [f"Not of one build: {name} was another one from {' and '.join(list(of.values())[1:])} on."
            for name, of in found.items() if len(of) > 1]


def study_of_iterations(directory):
    """Of a results_* folder: the iterations are the repetitions. Raises Failed."""
    directory = Path(directory)
    record = journal.read(directory / ENGINES_JOURNAL)
    asked = _engines_of(record.plan.get("argv", []))

    def turn(path):
        engine = path.parents[1].name
        return int(path.parent.name[len("iter"):]), asked.index(engine) if engine in asked else len(asked), str(path)

    folders = sorted(directory.glob("*/iter*/hammerdb_logs_*"), key=turn)
    runs = []
    for folder in folders:
        if (folder / JOURNAL).exists():
            runs += runs_of(folder, int(folder.parent.name[len("iter"):]))
    if not runs:
        raise Failed(f"{directory}: no iteration in it came to its end")
    args, facts = _options(journal.read(folders[0] / JOURNAL).plan), _facts_of_all(folders)
    about = (f"{form.plural(max(run.repetition for run in runs), 'iteration')} of {tpcc.workload_of(args.warehouses)}, "
             f"{form.plural(args.tpcc_vu, 'virtual user')}, {args.rampup} min of ramp-up, {args.duration} min measured.")
    return Study("engines", "TPROC-C: " + " and ".join(dict.fromkeys(run.label for run in runs)), about, runs,
                 [*_unequal(args, facts), *_builds_apart(folders)], record.history(),
                 [*(pair for pair in _asked(args) if pair[0] not in _OF_ONE),
                  ("command line", _words(record.plan.get("argv", [])))], facts, raw_files(directory))
