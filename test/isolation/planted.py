"""Faults planted in the driver, on InnoDB: each must be found under the right name."""

from test.isolation.driver import Setting
from test.isolation.history import READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE
from test.isolation.runner import Runner

# The fault, the declared level, the workload, and the names that must all be found.
PLANTED = [
    ("read committed", SERIALIZABLE, "predicates", {"G2", "phantom"}),
    ("read committed", SERIALIZABLE, "lists", {"G2-item", "lost update", "G-single"}),
    ("read committed", REPEATABLE_READ, "lists", {"lost update", "read skew of a snapshot"}),
    ("split", READ_COMMITTED, "mixed", {"G1b"}),
    ("split", SERIALIZABLE, "lists", {"half a transaction", "half a transaction seen"}),
    ("lost commit", READ_COMMITTED, "mixed", {"lost write"}),
    ("read uncommitted", READ_COMMITTED, "mixed", {"G1a", "G1b"}),
]


def missed(driver, directory, histories, seed=1):
    """Sentences about planted faults that were not found, and the number of those found."""
    sentences, found_count = [], 0
    for fault, level, workload, names in PLANTED:
        runner = Runner(driver, directory, lambda line: None)
        setting, found = Setting("InnoDB", level, workload=workload, fault=fault), set()
        for number in range(histories):
            found |= {anomaly.name for anomaly in runner.one(setting, seed + number).forbidden}
            if names <= found:
                break
        if names <= found:
            found_count += 1
        else:
            sentences.append(f"{fault}, declared as {level}, {workload}: {sorted(names - found)} not found in {histories} "
                             f"histories; found {sorted(found)}")
    return sentences, found_count


def main(driver, args):
    sentences, found = missed(driver, args.save, args.histories, args.seed)
    print("\n".join([*sentences, f"{found} of {len(PLANTED)} planted faults found and named"]))
    return 1 if sentences else 0
