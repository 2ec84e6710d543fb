"""What lab.harness.sampler saw of a server, put into a report's run."""

from lab.report.study import Metric


def add(run, samples, measured=None):
    """Fills what the run's tool did not say. measured: (begin, end) in seconds, where the tool's figures are of a part."""
    for name, unit, points in samples.series():
        run.series.setdefault(name, Metric(unit, points))
    if measured:
        samples = samples.between(*measured)
    run.status = samples.counters()
    run.written_bytes, run.cpu_s = samples.written_bytes, samples.cpu_s
    if samples.peak_resident is not None:
        run.memory["resident, peak"] = samples.peak_resident
