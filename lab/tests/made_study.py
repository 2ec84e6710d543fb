"""A study as a runner could leave it, with everything a report can show, for its tests."""

import math
import random

from lab.record.run import LATENCIES, THROUGHPUT, Check, Error, Latency, Metric, Run, Study

LABELS = ("InnoDB", "TidesDB <beta>", "RocksDB")
WORKLOADS = (("sysbench point_select", "queries/s", 30_000), ("sysbench read_write", "transactions/s", 420))
CONDITIONS = ("commits not synced", "commits synced")
SPEED = {"InnoDB": 1.0, "TidesDB <beta>": 1.25, "RocksDB": 0.8}


def run(label, workload, unit, base, threads, repetition, condition, seconds, chance):
    rate = base * SPEED[label] * threads ** 0.6 * (0.7 if condition == "commits synced" else 1) * chance.uniform(0.97, 1.03)
    mean = threads / rate * 1000
    at = range(1, seconds + 1)
    wave = [1 + 0.1 * math.sin(second / 7 + threads) + chance.uniform(-0.05, 0.05) for second in at]
    series = {THROUGHPUT: Metric(unit, [(s, rate * w) for s, w in zip(at, wave)]),
              LATENCIES[0]: Metric("ms", [(s, mean / w) for s, w in zip(at, wave)]),
              LATENCIES[2]: Metric("ms", [(s, mean * 2 / w) for s, w in zip(at, wave)]),
              "server CPU": Metric("% of a CPU", [(s, 150 * w) for s, w in zip(at, wave)]),
              "resident memory": Metric("MB", [(s, 200 + s * SPEED[label]) for s in at]),
              "written by the disk": Metric("MB/s", [(s, 5 * w) for s, w in zip(at, wave)]),
              "Handler_write": Metric("1/s", [(s, rate * w) for s, w in zip(at, wave)])}
    if label.startswith("Tides"):
        series["Tidesdb_memtable_bytes"] = Metric("", [(s, (s * 1_000_000) % 30_000_000) for s in at])
    own = {"InnoDB": "innodb_buffer_pool_size", "TidesDB <beta>": "tidesdb_block_cache_size",
           "RocksDB": "rocksdb_block_cache_size"}[label]
    return Run(label, workload, threads, repetition, rate, unit, condition, seconds, rate * seconds,
               [Latency("transaction", round(rate * seconds), mean, mean * 0.9, mean * 2, mean * 4, mean * 9, mean * 40)],
               series, {"queries/s": rate * 20},
               [Error(1213, 7 * threads, "Deadlock <found>", "NEWORD")] if label == "RocksDB" else [],
               [Check("rows in each index", "holds")], True,
               sizes={"server's directory after the run": round(3e8 / SPEED[label])},
               memory={"resident, peak": round(4e8 * SPEED[label])}, written_bytes=round(rate * seconds * 900),
               row_bytes=round(rate * seconds * 188), cpu_s=1.5 * seconds,
               status={"Handler_write": round(rate * seconds), "Questions": round(rate * seconds * 20),
                       "Com_commit": 1000 * threads, "Same_for_all": 5},
               variables={own: "268435456", "max_connections": "151", "performance_schema": "OFF",
                          "sync_binlog": "1" if condition == "commits synced" else "0"},
               configuration={"server options": f"--{own}=256M", "allocator": "glibc"},
               versions={"server": "11.8.6-MariaDB", "sysbench": "1.0.20"}, files=[f"{label}-{threads}-{repetition}.txt"])


def study(threads=(1, 4, 16), repetitions=3, seconds=40, conditions=CONDITIONS, workloads=WORKLOADS, labels=LABELS):
    chance = random.Random(7)
    runs = [run(label, workload, unit, base, count, repetition, condition, seconds, chance) for condition in conditions
            for workload, unit, base in workloads for count in threads for repetition in range(1, repetitions + 1)
            for label in labels]
    provenance = {"date": "2026-01-31 12:00:00 UTC", "commit": "0123456789ab", "distribution": "Debian GNU/Linux 12",
                  "kernel": "6.1.0", "cpu": "A CPU, 2 CPUs usable", "governor": "performance", "huge_pages": "madvise",
                  "memory_mb": 24000, "disk": {"file_system": "ext4", "model": "A disk", "options": "rw"},
                  "binaries": {"mariadbd": {"path": "/usr/sbin/mariadbd", "bytes": 1, "sha256": "ab" * 32,
                                            "version": "/usr/sbin/mariadbd  Ver 11.8.6-MariaDB"}}}
    return Study("made", "A & B side by side", "20 s a run, made up for tests.", runs,
                 ["Profile fair: nothing is unequal but <this>."],
                 ["Interrupted during: x; resumed, that step from its start."],
                 [("rows", 500_000), ("engines", "InnoDB TidesDB")], provenance,
                 {name: "cd" * 32 for run in runs for name in run.files})
