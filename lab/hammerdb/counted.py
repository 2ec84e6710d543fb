"""What the server did for each new order of a generator, and two generators side by side by it."""

from statistics import median

from installer.shell import Failed

# Status variables of the server, and what they say.
COUNTERS = {"Questions": "statements sent (round trips)", "Com_call_procedure": "CALL", "Com_set_option": "SET",
            "Com_select": "SELECT, in procedures too", "Com_insert": "INSERT", "Com_update": "UPDATE",
            "Com_delete": "DELETE",
            "Com_commit": "COMMIT", "Com_rollback": "ROLLBACK", "Handler_read_key": "reads by key",
            "Handler_read_next": "reads of the next key", "Handler_write": "rows written", "Handler_update": "rows updated",
            "Bytes_received": "bytes received", "Bytes_sent": "bytes sent"}
CPU = {"server_cpu_ms_per_neword": "server CPU, ms", "client_cpu_ms_per_neword": "client CPU, ms"}
CPU_APART_MAX = 0.05


def status(connection, database):
    """All counters, and how many new orders there have been in all."""
    names = ", ".join(f"'{name}'" for name in COUNTERS)
    counted = {name: int(value) for name, value in
               connection.sql(f"SHOW GLOBAL STATUS WHERE Variable_name IN ({names})")}
    return counted, int(connection.value(f"SELECT SUM(d_next_o_id) FROM `{database}`.district"))


def by_new_order(before, after):
    """What was counted between two samples, for each new order between them."""
    orders = after[1] - before[1]
    if orders <= 0:
        raise Failed("no new order was made")
    return {name: (after[0][name] - before[0][name]) / orders for name in COUNTERS}


def markdown(runs):
    """runs: (generator, figures), the built-in generator's and HammerDB's."""
    names = list(dict.fromkeys(name for name, _ in runs))
    lines = ["| for each new order, median (least–most) | " + " | ".join(names) + " | ratio |",
             "|---" * (2 + len(names)) + "|"]
    for key, label in {**CPU, **COUNTERS, "nopm": "NOPM"}.items():
        of = [sorted(figures[key] for name, figures in runs if name == wanted and key in figures) for wanted in names]
        if not all(of):
            continue
        cells = [f"{median(values):,.4g} ({values[0]:,.4g}–{values[-1]:,.4g})" for values in of]
        base = median(of[-1])
        lines.append(f"| {label} | {' | '.join(cells)} | " + (f"{median(of[0]) / base:.3f} |" if base else "– |"))
    return "\n".join(lines) + "\n"


def cpu_apart(runs):
    """How far the medians of the server's CPU time are apart: 0.05 is 5 %. None where it was not to be seen."""
    key, of = "server_cpu_ms_per_neword", {}
    for name, figures in runs:
        if key in figures:
            of.setdefault(name, []).append(figures[key])
    if len(of) != 2:
        return None
    first, second = (median(values) for values in of.values())
    return abs(first / second - 1)
