"""The report of a run in Markdown: figures side by side, what is unequal, where they come from."""

from statistics import median

from lab.harness import provenance

_MB = 1 << 20


def _figure(value):
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _spread(values):
    """The median, and with several values the lowest and highest."""
    values = sorted(values)
    text = _figure(median(values))
    return text if len(values) == 1 else f"{text} ({_figure(values[0])}–{_figure(values[-1])})"


def _ratio(values, base):
    of = median(base) if base else 0
    return f"**{median(values) / of:.2f}**" if values and of else "–"


def _groups(figures):
    """The measurements of one workload, rows and threads, in their order; by engine in each."""
    groups = {}
    for one in figures:
        unit = one.unit
        key = (unit.table_size, unit.workload, unit.threads)
        groups.setdefault(key, {}).setdefault(unit.engine, []).append(one)
    return groups


def _table(figures, engines, title, value, ratio=False):
    """A row for each group; value: of one measurement, or None for what was not measured."""
    head = [title, "rows", "threads", *engines]
    if ratio:
        head += [f"{engine} / {engines[0]}" for engine in engines[1:]]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for (rows, workload, threads), of in _groups(figures).items():
        values = {engine: [v for v in map(value, of.get(engine, [])) if v is not None] for engine in engines}
        cells = [_spread(values[engine]) if values[engine] else "–" for engine in engines]
        if ratio:
            cells += [_ratio(values[engine], values[engines[0]]) for engine in engines[1:]]
        lines.append(f"| {workload} | {rows:,} | {threads} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def threads(count):
    return f"{count} thread{'s' if count > 1 else ''}"


def top(figures, count=3):
    """Lines: for each workload the measurements with the most transactions a second, best first."""
    lines = []
    for workload in dict.fromkeys(one.unit.workload for one in figures):
        of = sorted((one for one in figures if one.unit.workload == workload), key=lambda one: -one.run.tps)
        lines += [f"{workload}:"] + [f"  {one.run.tps:12,.1f} transactions/s  {one.unit.engine}, "
                                     f"{threads(one.unit.threads)}, {one.unit.table_size} rows, iteration "
                                     f"{one.unit.iteration}" for one in of[:count]]
    return lines


def _sizes(phase):
    return lambda one: one.sizes[phase] / _MB if phase in one.sizes else None


def _bullets(sentences):
    return "".join(f"- {sentence}\n" for sentence in sentences)


def markdown(figures, settings, sentences, history, facts, files, at_rest):
    """sentences: what is unequal. history: interruptions. files: by name, the SHA-256."""
    engines = list(settings.engines)
    wanted = settings.time_s
    parts = [
        "# sqlbench: " + " and ".join(engines), "",
        f"{wanted} s a run after {settings.warmup_s} s of warm-up, {settings.iterations} iteration(s), {settings.tables} "
        "table(s); the engines take turns, each on a fresh server. With several iterations: median (lowest–highest).\n",
        "## Transactions per second\n", _table(figures, engines, "workload", lambda one: one.run.tps, ratio=True),
        "## Queries per second\n", _table(figures, engines, "workload", lambda one: one.run.qps, ratio=True),
        "## Latency in ms\n",
        _table(figures, engines, "average", lambda one: one.run.latency.avg_ms),
        _table(figures, engines, "95th percentile", lambda one: one.run.latency.percentile_ms),
        _table(figures, engines, "99th percentile", lambda one: one.run.percentile(99)),
        _table(figures, engines, "maximum", lambda one: one.run.latency.max_ms),
        "## Errors that were ignored and tried again, in all\n",
        _table(figures, engines, "errors", lambda one: one.run.errors)]
    if any(one.sizes for one in figures):
        when = "the server stopped" if at_rest else "as the server ran, without what was there before"
        parts += [
            f"## Disk in MB\n\nAllocated blocks, {when}. Data is what rows take: table files, and what only the log holds "
            "as yet, by the size of its write buffer. Logs (redo, WAL) are apart, with what of them is laid out and not "
            "used, and so are InnoDB's undo and system tablespaces.\n",
            _table(figures, engines, "data after load", _sizes("after_prepare")),
            _table(figures, engines, "data after run", _sizes("after_run")),
            _table(figures, engines, "of that not flushed", _sizes("after_run_unflushed")),
            _table(figures, engines, "log after run", _sizes("after_run_log")),
            _table(figures, engines, "undo and system after run", _sizes("after_run_undo"))]
    if sentences:
        parts += ["## What is not equal\n", _bullets(sentences)]
    if history:
        parts += ["## Interruptions and failures\n", _bullets(history)]
    asked = [f"{name}: {' '.join(map(str, value)) if isinstance(value, (list, tuple)) else value}"
             for name, value in settings.plan().items()]
    parts += ["## Settings\n", _bullets(asked), "## Where this comes from\n", provenance.markdown(facts),
              "## Files\n", "| file | SHA-256 |\n|---|---|\n"
              + "".join(f"| {name} | {digest} |\n" for name, digest in files.items())]
    return "\n".join(parts)
