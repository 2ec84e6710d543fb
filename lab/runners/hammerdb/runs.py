"""A row of hammerdb_runner.sh's CSV and the folder of its measurement, as a Run of a report."""

import re
from pathlib import Path

from lab.base import figures
from lab.base.errors import BadInput
from lab.observe.sampler import Samples
from lab.record.run import THROUGHPUT, Check, Error, Latency, Metric, Run
from lab.runners.hammerdb.watch import AFTERWARDS, SAMPLES, VARIABLES
from lab.server import profiles
from lab.works import sampled, tpcc
from lab.works import hammerdb_output as text
from lab.works.tpcc_output import conditions
from lab.works.tpcc_result import load

_QUERIES = 22  # Of TPROC-H.


def run_of(row, folder, label, repetition, told, base):
    """told: its server's options; base: the directory that its files' names start from."""
    if row["benchmark"] == "tpch":
        run = _tpch(row, folder, label, repetition)
    elif (folder / "result.json").exists():
        run = tpcc.run_of(load(folder / "result.json"), label, repetition)
        run.cpu_s = _cpu_s(row, run.operations)
        # Values that differ in every run.
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
    if told:
        run.configuration["server options"] = " ".join(told)
    run.files = [str(path.relative_to(base)) for path in sorted(folder.glob("*")) if path.is_file()]
    return run


def plain(row):
    """A row of a CSV in the form of a generator's figures."""
    row = {name: value for name, value in row.items() if value is not None}
    return {**row, "consistent": {"yes": True, "no": False}.get(row.get("consistent"))}


def _add_variables(run, folder):
    """The server's facts; paths belong to this machine and are not settings."""
    if (folder / VARIABLES).exists():
        found = figures.of_json(figures.read(folder / VARIABLES), folder / VARIABLES)
        run.variables = {name: value for name, value in found.items() if not value.startswith("/")}
        run.configuration["server"] = f"{found.get('version', '')} {found.get('version_comment', '')}".strip()


def _add_samples(run, row, folder):
    """With seconds counted from the beginning of the measured time."""
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
    """The built-in generator's checks of HammerDB's data, or if they are gone, only whether the data is consistent."""
    said = conditions(figures.read(log)) if log.exists() else []
    made = [Check(f"{one.name}: {one.title}", one.state, one.samples) for one in said]
    agrees = made and any(check.broken for check in made) != consistent
    return made if agrees else [Check("all conditions", "holds" if consistent else "broken")]


def _with_logs(run, row, folder, readers):
    """The run with the figures of its logs; a missing figure becomes a note."""
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
    except (BadInput, OSError):  # HammerDB's database can be switched off.
        found = counted or text.profile("", report).summary  # Its error names the missing file.
    for name in sorted(found, key=lambda name: text.TRANSACTIONS.index(name) if name in text.TRANSACTIONS else 99):
        of = found[name]
        calls = counted[name].calls if name in counted else of.calls  # 5.0 doubles them in timing.json.
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
    """The server's configuration, from HammerDB."""
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


# No effect in TPROC-C.
_TPROC_H = ("scale", "tpch_vu", "tpch_threads", "querysets", "degree", "tpch_db")


def asked(args):
    """(name, value) of all options except secrets."""
    hidden = {"password", "resume", "plot_only", "output_dir", "builds", *(("engine", "engines") if args.builds else ()),
              *(() if "tpch" in args.benchmarks else _TPROC_H), *(() if args.perf else ("perf_frequency",))}
    return [(name.replace("_", " "), _said(value)) for name, value in sorted(vars(args).items())
            if value not in (None, "", [], False) and name not in hidden and not name.startswith("pg_")]


def _said(value):
    """An option's value, its paths without this machine's directories."""
    if isinstance(value, list) and value and isinstance(value[0], list):  # Of --build.
        return "; ".join(" ".join(re.sub(r"=\S*/", "=", word) for word in words) for words in value)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value.name if isinstance(value, Path) else value


def words(argv):
    """A command line, with paths as in _said()."""
    return " ".join(re.sub(r"^(\S*=)?\S*/", r"\1", word) for word in argv)


def unequal(args, generator, limit="", unseen=()):
    """Sentences. generator: its name; limit: of private servers; unseen: for one that runs already."""
    said = ["All engines were measured on one server, with its own settings."]
    if args.private_server is not None or args.builds:
        said = [f"Profile {args.profile}: {profiles.about(args.profile)}", *filter(None, [limit])]
    said += unseen
    if generator.startswith("HammerDB 6"):
        said.append("HammerDB 6 switches innodb_snapshot_isolation off in its sessions; TidesDB keeps the server's "
                    "tidesdb_snapshot_isolation, and if that is on, a write to a row that changed is an error.")
    return said
