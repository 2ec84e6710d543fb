"""Counts the instructions of the engine's short paths (test/counts): python3 -m tools.counts [--append WHY].

Counts are not times: load on the machine does not change them. Other influences are excluded:
- only the thread that runs the paths is counted, and all its data is in memory;
- glibc uses the same copy and compare functions on every processor (GLIBC_TUNABLES; else counts differ by up to 3 %);
- the database is in a new directory with a name of fixed length, and the environment has only the variables set here;
- a count holds for one compiler, glibc and valgrind: each line of the file names its own, and others are not compared.
"""

import argparse
import json
import re
import sys
import tempfile
from datetime import date
from pathlib import Path

from installer import build_plugin, host, servers
from installer.shell import TREE, Failed, Unavailable, output, run

FILE = TREE / "test" / "counts" / "counts.jsonl"
RISE_MAX_PERCENT = 3
_REPEATS = 1000  # kRepeats of counted_paths.cc.
# Fixes glibc's choices by processor: as on one with only SSE2, and with thresholds independent of its caches.
_FEATURES = ["AVX", "AVX2", "AVX512F", "AVX512VL", "AVX512BW", "BMI1", "BMI2", "LZCNT", "MOVBE", "ERMS", "FSRM", "RTM",
             "SSE4_1", "SSE4_2", "SSSE3", "AVX_Fast_Unaligned_Load", "Prefer_No_VZEROUPPER", "Fast_Unaligned_Copy"]
_TUNABLES = ":".join(["glibc.cpu.hwcaps=" + ",".join(f"-{feature}" for feature in _FEATURES),
                      "glibc.cpu.x86_non_temporal_threshold=0xc0000", "glibc.cpu.x86_rep_movsb_threshold=0x800",
                      "glibc.cpu.x86_rep_stosb_threshold=0x800", "glibc.malloc.tcache_count=7"])


def tools():
    """The tools on which a count depends, besides the source."""
    return {"gcc": output(["g++", "-dumpfullversion"]).strip(),
            "glibc": re.search(r"([\d.]+)\s*$", output(["ldd", "--version"]).splitlines()[0]).group(1),
            "valgrind": re.search(r"[\d.]+", output(["valgrind", "--version"])).group()}


def build(log):
    """The program, built from the shipped code beside the plugin of this machine's server."""
    environment = servers.prepare(host.host_server(), log)
    build_plugin.build(environment, log)
    directory = build_plugin.build_dir(environment)
    run(["cmake", "--build", directory, "--target", "counted_paths"], log=log, cwd=TREE)
    return directory / "test" / "counts" / "counted_paths"


def count(program, log):
    """By path, the instructions of one run."""
    with tempfile.TemporaryDirectory(prefix="counts-") as name:
        folder = Path(name)
        run(["env", "-i", f"GLIBC_TUNABLES={_TUNABLES}", "PATH=/usr/bin:/bin", "valgrind", "--tool=callgrind", "-q",
             "--collect-atstart=no", f"--callgrind-out-file={folder}/out", program, "db"], log=log, cwd=folder)
        counts = {}
        for path in folder.glob("out.*"):
            text = path.read_text(errors="replace")
            found = re.search(r"^desc: Trigger: Client Request: (\w+)$", text, re.M)
            if found:
                total = int(re.search(r"^(?:totals|summary): (\d+)", text, re.M).group(1))
                counts[found.group(1)] = round(total / _REPEATS)
    if not counts:
        raise Failed(f"{program.name} counted nothing; see {log}")
    return counts


def newest(used):
    """The counts to compare with: those in the file's last line for these tools."""
    lines = [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []
    return next((line["counts"] for line in reversed(lines) if line["tools"] == used), None)


def compare(before, now):
    """Lines for people: (counts that rose too far or are missing, other changed counts)."""
    bad = [f"{path}: is no longer counted" for path in before if path not in now]
    moved = []
    for path, instructions in now.items():
        if path not in before:
            bad.append(f"{path}: {instructions}, and has no count in the file")
            continue
        change = instructions / before[path] - 1
        line = f"{path}: {before[path]} -> {instructions} instructions, {change:+.1%}"
        if instructions * 100 > before[path] * (100 + RISE_MAX_PERCENT):
            bad.append(line)
        elif change * 100 < -RISE_MAX_PERCENT:
            moved.append(f"{line}: a new line in {FILE.name} would keep it")
    return bad, moved


def check(log):
    """(number of paths, findings, notes). Raises Unavailable if the file has no counts for this machine's tools."""
    used = tools()
    before = newest(used)
    if before is None:
        raise Unavailable(f"{FILE.name} has no counts of {used}")
    now = count(build(log), log)
    return len(now), *compare(before, now)


def main():
    parser = argparse.ArgumentParser(prog="python3 -m tools.counts", description=__doc__.splitlines()[0])
    parser.add_argument("--append", metavar="WHY", help="add a line to the file, with the reason for the new counts")
    args = parser.parse_args()
    log = TREE / "var" / "counts.log"
    log.parent.mkdir(exist_ok=True)
    used = tools()
    now = count(build(log), log)
    for path, instructions in now.items():
        print(f"{instructions:>8}  {path}")
    bad, moved = compare(newest(used) or {}, now)
    print("\n".join(["", *bad, *moved]))
    if args.append:
        line = {"date": date.today().isoformat(), "why": args.append, "tools": used, "counts": now}
        with open(FILE, "a") as file:
            file.write(json.dumps(line) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
