"""The SQL fuzzer (test/differential): cases without a difference, and planted faults that it must find."""

import re
import sys
from pathlib import Path

from installer import build_plugin
from installer.shell import TREE, Failed, run
from tools.run_tests.step import Outcome

_SEED = 20261126
# The planted faults, and the number of statements that must suffice to show each.
_PLANTED = {"lost-row": 4, "uncommitted": 5, "other-collation": 5}


def bounded(name, context):
    """Some cases without a difference; each planted fault is found and shrunk to a few statements. Keys of all types."""
    outcome = _without_difference(name, context, ["--cases", "120"])
    said = _run(name, context, [], ends_with=0, module="test.differential.key_types")
    outcome.passed += int(re.search(r"^(\d+) types", said, re.M).group(1))
    for fault, statements_max in _PLANTED.items():
        folder = context.directory / fault
        said = _run(name, context, ["--plant", fault, "--seed", str(_SEED), "--cases", "40", "--jobs", "1", "--until-found",
                                    "--shrink-seconds", "300", "--findings", folder], ends_with=1)
        sizes = [int(count) for count in re.findall(r": (\d+) statements after", said)]
        if not sizes or min(sizes) > statements_max:
            raise Failed(f"the planted fault {fault} was not found, or not shrunk to {statements_max} statements: {sizes}")
        outcome.passed += 1
    return outcome


def soak(name, context):
    """Three hours."""
    return _without_difference(name, context, ["--seconds", "10800"])


def _without_difference(name, context, options):
    said = _run(name, context, ["--seed", str(_SEED), "--findings", context.directory / "found", *options], ends_with=0)
    return Outcome(passed=int(re.search(r": (\d+) cases from seed", said).group(1)))


def _run(name, context, options, ends_with, module="test.differential"):
    """Runs the fuzzer and returns its output. Raises Failed unless it ends with that code: 1 for a difference."""
    plugin = build_plugin.prepare_and_build(name, context.log)[1]
    # Debian's python3 if present, because it has Debian's packages.
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    command = [python, "-m", module, "--server", name, "--plugin", plugin, *options]
    begun = context.log.stat().st_size if context.log.exists() else 0
    run(["sh", "-c", f'"$@"; [ $? = {ends_with} ]', "sh", *command], log=context.log, cwd=TREE)
    with open(context.log, errors="replace") as log:
        log.seek(begun)
        return log.read()
