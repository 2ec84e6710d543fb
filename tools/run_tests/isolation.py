"""The isolation checker (test/isolation): on TidesDB and InnoDB, and with faults planted that it must find."""

import re
import sys
from pathlib import Path

from installer import build_plugin
from installer.shell import TREE, run
from tools.run_tests.step import Outcome

_ENGINES = ["--engines", "TidesDB,InnoDB", "--locks", "ON,OFF"]


def histories(name, context):
    """About a minute of histories with fixed seeds, and the planted faults."""
    return _checked(name, context, [
        ["plant", "--histories", "400"],  # Each ends as soon as all names came up.
        ["run", *_ENGINES, "--histories", "3", "--disturb", "none,kill"],
        ["run", "--levels", "SER", "--mixed", "--locks", "ON,OFF", "--histories", "5"],
        ["run", *_ENGINES, "--histories", "1", "--workloads", "large", "--disturb", "none,kill"],
        ["run", "--locks", "ON,OFF", "--histories", "1", "--workloads", "mixed", "--disturb", "crash"]])


def soak(name, context):
    """Hours: 10,000 histories and more at each level, with and without KILL; and kill -9."""
    return _checked(name, context, [
        ["run", *_ENGINES, "--histories", "1300", "--disturb", "none,kill"],
        ["run", "--levels", "SER", "--mixed", *_ENGINES, "--histories", "500"],
        ["run", *_ENGINES, "--histories", "200", "--workloads", "large", "--disturb", "none,kill"],
        ["run", *_ENGINES, "--histories", "40", "--disturb", "crash"]])


def _checked(name, context, runs):
    plugin = build_plugin.prepare_and_build(name, context.log)[1]
    # Debian's python3 if present, because it has Debian's packages.
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    for command, *options in runs:
        run([python, "-m", "test.isolation", command, "--server", name, "--plugin", plugin,
             "--save", context.directory / "histories", *options], log=context.log, cwd=TREE)
    said = context.log.read_text()
    counted = re.findall(r": (\d+) histories,", said) + re.findall(r"^(\d+) of \d+ planted", said, re.M)
    return Outcome(passed=sum(map(int, counted)))
