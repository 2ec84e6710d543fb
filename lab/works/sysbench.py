"""What a finished sysbench run (lab.works.sysbench_output) says, as a run of a report."""

from lab.record.run import LATENCIES, THROUGHPUT, Error, Latency, Metric, Run

# A row of oltp_common.lua's tables: id, k, and the characters of c and pad.
ROW_BYTES = 4 + 4 + 120 + 60


def latency(done):
    """Of whole transactions; by the histogram where there is one."""
    def at(percent):
        known = done.latency.percentile_ms if done.latency.percent == percent else None
        return known if known is not None else done.percentile(percent)

    return Latency("transaction", done.transactions, done.latency.avg_ms, at(50), at(95), at(99), at(99.9),
                   done.latency.max_ms)


def series(done, queries=False):
    """By name, from the intervals. queries: they are what throughput counts, not transactions."""
    if not done.intervals:
        return {}
    made = {THROUGHPUT: Metric("queries/s" if queries else "transactions/s",
                               [(one.second, one.qps if queries else one.tps) for one in done.intervals]),
            "queries": Metric("queries/s", [(one.second, one.qps) for one in done.intervals]),
            "reads": Metric("queries/s", [(one.second, one.reads) for one in done.intervals]),
            "writes": Metric("queries/s", [(one.second, one.writes) for one in done.intervals]),
            "errors": Metric("errors/s", [(one.second, one.errors) for one in done.intervals])}
    means = [(one.second, one.latency_avg_ms) for one in done.intervals if one.latency_avg_ms is not None]
    made[LATENCIES[0]] = Metric("ms", means)
    percents = {one.percent for one in done.intervals}
    name = f"p{percents.pop()} latency" if len(percents) == 1 else ""
    if name in LATENCIES:
        made[name] = Metric("ms", [(one.second, one.latency_ms) for one in done.intervals])
    return made


def errors(done):
    """Sysbench counts them and names none."""
    return [Error(0, done.errors, "ignored by sysbench, and tried again")] if done.errors else []


def row_bytes(status):
    """Of the rows that a run wrote, changed and deleted, by the server's own counters."""
    rows = sum(status.get(name, 0) for name in ("Handler_write", "Handler_update", "Handler_delete"))
    return round(rows * ROW_BYTES)


def run_of(done, label, workload, threads, repetition, condition="", queries=False, **more):
    """What a finished output says, as a Run; queries: they are its throughput, not transactions."""
    rate, unit, count = ((done.qps, "queries/s", done.queries) if queries else
                         (done.tps, "transactions/s", done.transactions))
    return Run(label, workload, threads, repetition, rate, unit, condition, done.total_s, count, [latency(done)],
               series(done, queries), errors=errors(done), versions={"sysbench": done.version}, **more)
