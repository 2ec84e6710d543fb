"""What lab.observe.sampler saw of a server, put into a report's run."""

from lab.record.run import Metric


_MEMORY = {"resident_peak": "resident, peak", "limit": "limit", "group_peak": "with page cache, peak",
           "page_cache": "page cache at the end"}


def add(run, samples, measured=None, begin_s=0):
    """Fills what the run's tool did not say. measured: (begin, end) in seconds, where the tool's figures are of a part.

    begin_s: when sampling began, on the tool's clock.
    """
    for name, unit, points in samples.series():
        run.series.setdefault(name, Metric(unit, [(at + begin_s, value) for at, value in points]))
    if measured:
        samples = samples.between(*measured)
    run.status = samples.counters()
    run.written_bytes = samples.written_bytes
    run.cpu_s = run.cpu_s if samples.cpu_s is None else samples.cpu_s
    if samples.peak_resident is not None:
        run.memory["resident, peak"] = samples.peak_resident


def add_memory(run, found):
    """found: of PrivateServer.memory()."""
    run.memory |= {text: found[key] for key, text in _MEMORY.items() if found.get(key)}
    if found.get("oom_kills"):
        run.notes.append(f"the memory limit killed {found['oom_kills']} processes")
