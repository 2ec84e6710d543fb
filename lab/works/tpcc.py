"""Results of `tpcc run --json` (lab.works.tpcc_result) as runs."""

from lab.record import form, provenance
from lab.record.run import LATENCIES, THROUGHPUT, Check, Error, Latency, Metric, Run, Study, numbered
from lab.works.tpcc_result import TRANSACTIONS, load

UNIT = "new orders a minute (NOPM)"
# Of the rows that a transaction writes, changes or deletes: TPC-C's row sizes (clause 4.2.2.2), ten lines an order.
_NEW_ORDER_BYTES, _PAYMENT_BYTES = 95 + 24 + 8 + 10 * (54 + 306), 89 + 95 + 655 + 46
_DELIVERY_BYTES = 10 * (8 + 24 + 10 * 54 + 655)


def workload_of(warehouses):
    return f"TPROC-C, {form.plural(warehouses, 'warehouse')}"


def run_of(result, label=None, repetition=1, condition=""):
    """One Result."""
    raw = result.raw
    notes = [text for key, text in (("interrupted", "interrupted"), ("server_lost", "connection lost")) if raw[key]]
    checks = raw["consistency"]["checks"] if raw["consistency"] else []
    orders = result.transaction("NEWORD")
    return Run(
        label=label or result.label, workload=workload_of(result.config["warehouses"]),
        threads=result.config["virtual_users"], repetition=repetition, condition=condition, throughput=result.nopm,
        unit=UNIT, seconds=raw["measured_s"], operations=orders["count"],
        latencies=[_latency(result, name) for name in TRANSACTIONS], series=_series(result), measures={"TPM": result.tpm},
        errors=[Error(entry["code"], entry["count"], entry["first_message"], entry.get("first_where", ""))
                for entry in raw["errors"]],
        checks=[Check(f"{check['name']}: {check['title']}", check["state"], tuple(check["samples"])) for check in checks],
        checked=raw["consistency"] is not None, complete=result.nopm is not None, notes=notes,
        variables=result.server["variables"],
        configuration={"started (UTC)": raw["started"], "measured, s": f"{raw['measured_s']:.1f}",
                       "server": f"{result.server['version']} {result.server.get('comment', '')}".strip(),
                       "engine": result.server["engine"],
                       **{key.replace("_", " "): str(value) for key, value in result.config.items()}},
        versions={"server": result.server["version"]}, files=[result.path.name])


def row_bytes(new_orders):
    """Of the rows that the mix wrote with so many new orders: as many payments, and a tenth of deliveries."""
    return round(new_orders * (_NEW_ORDER_BYTES + _PAYMENT_BYTES + _DELIVERY_BYTES / 10)) if new_orders else None


def _latency(result, name):
    entry = result.transaction(name)
    if not entry["count"]:
        return Latency(name, 0)
    return Latency(name, entry["count"], *(entry[f"{key}_us"] / 1000 if f"{key}_us" in entry else None
                                           for key in ("mean", "p50", "p95", "p99", "p999", "max")))


def _series(result):
    seconds = [(at, count * 60) for at, count in result.series("NEWORD")]
    ended = dict(result.transactions_per_second())
    made = {THROUGHPUT: Metric(UNIT, seconds), "transactions": Metric("transactions/s", result.transactions_per_second()),
            "errors": Metric("errors/s", result.series("errors"))}
    for name, column in ((LATENCIES[0], "mean_us"), (LATENCIES[-1], "max_us")):
        made[name] = Metric("ms", [(at, us / 1000) for at, us in result.series(column) if ended[at]])
    return made if seconds else {}


def study(paths, title="TPROC-C"):
    """Result files, compared with the first. Raises BadInput."""
    results = [load(path) for path in paths]
    runs = [run_of(result, label) for result, label in zip(results, numbered([result.label for result in results]))]
    first = results[0].config
    about = (f"{workload_of(first['warehouses'])}, {form.plural(first['virtual_users'], 'virtual user')}, "
             f"{first['isolation']}, {first['rampup_s']} s of ramp-up, {first['duration_s']} s measured, one run each.")
    return Study("tproc-c", title, about, runs, files={result.path.name: provenance.sha256(result.path)
                                                       for result in results})
