"""Results of `tidesdb bench` as runs: one for each work, engine and round. RocksDB is what TidesDB is compared with."""

from pathlib import Path

from lab.base import figures
from lab.base.errors import BadInput
from lab.record import provenance
from lab.record.run import Latency, Run, Study

KIND = "bench"
_BASE = "RocksDB"


def _run(of, versions):
    latency = Latency("operation", of["operations"], p50_ms=of["p50_us"] / 1000, p99_ms=of["p99_us"] / 1000,
                      max_ms=of["max_us"] / 1000)
    return Run(label=of["engine"], workload=of["title"], threads=of["threads"], repetition=of["round"],
               throughput=of["operations_per_s"], unit="operations/s", condition=f"values of {of['value_bytes']:,} bytes",
               seconds=of["seconds"], operations=of["operations"], latencies=[latency],
               measures={"CPU of the threads that call, µs an operation": of["foreground_cpu_us"],
                         "CPU of the whole process, µs an operation": of["process_cpu_us"]},
               sizes={"files": of["disk_bytes"]},
               memory={"resident": of["resident_bytes"], "resident, peak": of["resident_peak_bytes"]},
               written_bytes=of["written_bytes"], cpu_s=of["process_cpu_us"] * of["operations"] / 1e6,
               versions={of["engine"]: versions[of["engine"]]})


def study(paths):
    """One Study of one file. Raises BadInput."""
    path, *more = [Path(path) for path in paths]
    raw = figures.result(path, KIND, "tidesdb bench")
    if more:
        raise BadInput(more[0], "a run of `tidesdb bench` is reported alone")
    try:
        runs = [_run(of, raw["engines"]) for of in raw["runs"]]
        configuration = [*raw["conditions"].items(), *raw["machine"].items()]
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(path, f"is damaged, or not whole: {error!r}") from error
    runs.sort(key=lambda run: run.label != _BASE)
    return Study(KIND, "TidesDB and RocksDB, without a server", f"begun {raw.get('begun')}", runs,
                 configuration=configuration, files={path.name: provenance.sha256(path)})
