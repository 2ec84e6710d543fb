"""Files on disk: the reader written from docs/format, and databases of older builds."""

import re
import sys
from pathlib import Path

from installer import build_plugin
from installer.shell import TREE, run
from tools.run_tests.step import Outcome, of_unittest


def reader(name, context):
    """The reader's own tests. Then it reads files of a real server, and that server opens the fixtures."""
    plugin = build_plugin.prepare_and_build(name, context.log)[1]
    # Debian's python3 if present, because it has Debian's packages.
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    tests = ["-m", "unittest", "discover", "-t", ".", "-s", "test/format_reader/tests", "-v"]
    run([python, *tests], log=context.log, cwd=TREE)
    outcome = of_unittest(name, context.log)
    run([python, "-m", "test.format_reader", "live", "--server", name, "--plugin", plugin, "--log", context.log],
        log=context.log, cwd=TREE)
    compared = re.findall(r"^(server-v\d+: \d+ rows are|after \w+: \d+ rows of)", context.log.read_text(), re.M)
    outcome.passed += len(compared)
    return outcome


def tprocc(name, context):
    """The reader on the files of a TPROC-C database whose server was killed: each row is SELECT's."""
    plugin = build_plugin.prepare_and_build(name, context.log)[1]
    # Debian's python3 if present, because it has Debian's packages.
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    run([python, "-m", "test.format_reader", "tprocc", "--server", name, "--plugin", plugin, "--tpcc",
         build_plugin.tpcc(context.log), "--log", context.log], log=context.log, cwd=TREE)
    compared = re.search(r"^after TPROC-C: \d+ rows of (\d+) tables", context.log.read_text(), re.M)
    return Outcome(passed=int(compared.group(1)))
