"""The five procedures of both generators, one by one: the same calls on each one's database, and what the server did.

One session at a time and nothing beside it, so that counters are exact; new orders draw the same items (RAND() is seeded).
"""

import random
import subprocess
from statistics import median

from installer.shell import Failed, clean_environment
from lab.harness.watched import cpu_s

NAMES = ("NEWORD", "PAYMENT", "DELIVERY", "SLEV", "OSTAT")
# Of 23 transactions.
MIX = {"NEWORD": 10, "PAYMENT": 10, "DELIVERY": 1, "SLEV": 1, "OSTAT": 1}
_SYLLABLES = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")
_DATE = "'2026-11-22 12:00:00'"
_OUTPUTS = {"NEWORD": 6, "PAYMENT": 24, "OSTAT": 6, "SLEV": 1}
# What the built-in generator's procedures return besides.
_MORE = {"DELIVERY": ",@delivered"}
# A warehouse has 900 undelivered orders a district: deliveries are called a tenth as often.
_FEWER = {"DELIVERY": 10}
_FAMILIES = ("Com\\_%", "Handler\\_%")


def _last_name(draw):
    number = ((draw.randrange(256) | draw.randrange(1000)) + 123) % 1000
    return "".join(_SYLLABLES[digit] for digit in (number // 100, number // 10 % 10, number % 10))


def statements(name, draw, warehouses, builtin):
    """One call, with the SET before it. draw: a random.Random; the same one makes the same call for both."""
    w_id, d_id, c_id = draw.randint(1, warehouses), draw.randint(1, 10), draw.randint(1, 3000)
    lines, by_name, last = draw.randint(5, 15), int(draw.randint(1, 100) <= 60), _last_name(draw)
    amount, seed = draw.randint(1, 5000), draw.randrange(1 << 30)
    outputs = "".join(f",@o{number}" for number in range(_OUTPUTS.get(name, 0)))
    customer = f"SET @c={c_id},@l='{last if by_name else ''}'"
    more = _MORE.get(name, "") if builtin else ""
    return {"NEWORD": [f"SET rand_seed1={seed},rand_seed2={seed // 3}",
                       f"CALL NEWORD({w_id},{warehouses},{d_id},{c_id},{lines}{outputs},{_DATE})"],
            "PAYMENT": [customer, f"CALL PAYMENT({w_id},{d_id},{w_id},{d_id},@c,{by_name},{amount},@l{outputs},{_DATE})"],
            "DELIVERY": [f"CALL DELIVERY({w_id},{draw.randint(1, 10)},{_DATE}{more})"],
            "SLEV": [f"CALL SLEV({w_id},{d_id},{draw.randint(10, 20)}{outputs})"],
            "OSTAT": [customer, f"CALL OSTAT({w_id},{d_id},@c,{by_name},@l{outputs}{more})"]}[name]


def _script(name, count, seed, warehouses, builtin):
    draw = random.Random(f"{name} {seed}")
    lines = ["SET autocommit=0", "FLUSH STATUS"]
    for _ in range(count):
        lines += statements(name, draw, warehouses, builtin)
    lines += [f"SHOW SESSION STATUS LIKE '{family}'" for family in _FAMILIES]
    return ";\n".join(lines) + ";\n"


def count_of(name, count):
    """How often this procedure is called where others are called count times."""
    return max(1, count // _FEWER.get(name, 1))


def run(connection, database, name, count, seed, warehouses, builtin):
    """Calls a procedure count times in one session. Returns the session's counters."""
    script = _script(name, count, seed, warehouses, builtin)
    done = subprocess.run(connection.command("--database", database), input=script, capture_output=True, text=True,
                          env=clean_environment(connection.environment()), check=False)
    if done.returncode != 0:
        raise Failed(f"{database}: {done.stderr.strip()}")
    return {name: int(value) for name, value in (line.split("\t") for line in done.stdout.splitlines())}


def measure(connection, databases, warehouses, calls, rounds):
    """By procedure and database: counters and `cpu_ms` of one call. databases: the built-in generator's, HammerDB's."""
    pid = connection.pid()
    found = {}
    for name in NAMES:
        count, samples = count_of(name, calls), ([], [])
        for number in range(rounds):
            for which in (0, 1) if number % 2 else (1, 0):
                begin = cpu_s(pid) if pid else None
                counted = run(connection, databases[which], name, count, number, warehouses, which == 0)
                if pid:
                    counted["cpu_ms"] = (cpu_s(pid) - begin) * 1000
                samples[which].append({key: value / count for key, value in counted.items()})
        found[name] = [{key: median(sample[key] for sample in of) for key in of[0]} for of in samples]
    return found


def differing(found, apart=0.005):
    """(procedure, counter, the built-in generator's, HammerDB's) where they differ by more than that part."""
    for name, (own, other) in found.items():
        for key in sorted(own):
            if abs(own[key] - other[key]) > apart * max(own[key], other[key]):
                yield name, key, own[key], other[key]


def table(what, found, form):
    """found: by procedure the built-in generator's and HammerDB's; then the mix, by new order."""
    rows = dict(found)
    if len(rows) == len(NAMES):
        rows["the mix, by new order"] = [sum(found[name][which] * MIX[name] for name in NAMES) / MIX["NEWORD"]
                                         for which in (0, 1)]
    lines = [f"| {what} | tpcc | HammerDB | ratio |", "|---|---|---|---|"]
    lines += [f"| {name} | {form.format(own)} | {form.format(other)} | {own / other:.3f} |"
              for name, (own, other) in rows.items()]
    return "\n".join(lines) + "\n"


def markdown(found):
    """CPU time by procedure, and the counters that differ."""
    cpu = {name: (own["cpu_ms"], other["cpu_ms"]) for name, (own, other) in found.items() if "cpu_ms" in own}
    lines = [table("server CPU, ms a call", cpu, "{:.3f}"), "| counter, a call | | tpcc | HammerDB |", "|---|---|---|---|"]
    lines += [f"| {name} | {key} | {own:,.3f} | {other:,.3f} |" for name, key, own, other in differing(found)
              if key != "cpu_ms"]
    return "\n".join(lines) + "\n"
