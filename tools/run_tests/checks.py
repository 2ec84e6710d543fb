"""The checks that need no server and run no engine: rules of the house, layout, clang-tidy, Python."""

import hashlib
import json
import re
import shlex
import signal
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from installer import host, servers
from installer.shell import TREE, Failed, Unavailable, output, run
from tools.run_tests.engine import JOBS
from tools.run_tests.step import FULL, Outcome, of_unittest


def tidy(context):
    run([sys.executable, "tools/tidy.py"], log=context.log, cwd=TREE)
    return Outcome(passed=1)


def layout(context):
    run([sys.executable, "tools/tidy.py", "--format"], log=context.log, cwd=TREE)
    if "skipped:" in context.log.read_text():
        raise Unavailable("clang-format 14 is missing")
    return Outcome(passed=1)


def headers_alone(context):
    run([sys.executable, "tools/tidy.py", "--headers"], log=context.log, cwd=TREE)
    return Outcome(passed=1)


def python_tests(context):
    """The unit tests of installer, tools, lab, and the programs that run random work on servers."""
    outcome, handler = Outcome(), signal.getsignal(signal.SIGTERM)
    for folder in ["installer", "tools", "lab", "test/server", "test/isolation", "test/differential"]:
        if not (TREE / folder / "tests").is_dir():
            continue
        suite = unittest.TestLoader().discover(str(TREE / folder / "tests"), top_level_dir=str(TREE))
        with open(context.log, "a") as log:
            result = unittest.TextTestRunner(stream=log, verbosity=2).run(suite)
        bad = [str(test) for test, _ in result.failures + result.errors]
        if signal.getsignal(signal.SIGTERM) != handler:  # Otherwise nobody could end the following steps.
            bad.append(f"{folder}: a test left a handler of SIGTERM behind")
            signal.signal(signal.SIGTERM, handler)
        notes = [f"failed: {name}" for name in bad] + [f"skipped: {test}: {why}" for test, why in result.skipped]
        outcome.add(Outcome(result.testsRun - len(bad) - len(result.skipped), len(bad), len(result.skipped), notes))
    return outcome


def report_page(context):
    """The lab's report, used in a browser."""
    # Debian's python3 if present, because it has Debian's packages.
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    run([python, "lab/tests/report_page.py"], log=context.log, cwd=TREE)
    return of_unittest("report", context.log)


def clang_tidy(context):
    """clang-tidy over every source except tests, with clang's warnings and its thread-safety analysis as errors;
    in --full also the analyzer. A source that was clean and has not changed since, with all its includes, is not read
    again."""
    environment = servers.prepare(host.host_server(), context.log)
    build = TREE / "build" / "clang-tidy"
    # Without precompiled headers, because nothing is built here.
    run(["cmake", "--preset", "clang", "-B", build, "-DTIDESDB_BUILD_LAB=ON", "-DTIDESDB_BUILD_PLUGIN=ON",
         f"-DTIDESDB_SERVER_HEADERS={environment.headers}", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"],
        log=context.log, cwd=TREE)
    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text())
               if re.match(rf"{re.escape(str(TREE))}/(src|lab|plugin|test)/.*(?<!_test)(?<!_bench)(?<!_fuzz)\.cc$",
                           entry["file"])]
    more = ["--checks=clang-analyzer-core.*,clang-analyzer-cplusplus.*"] if context.level == FULL else []
    clean = Clean(host.cache_dir() / "clang-tidy", output(["clang-tidy", "--version"]), more)
    left = clean.left(entries)
    print(f"    {len(entries) - len(left)} of {len(entries)} sources were clean and are unchanged", flush=True)
    try:
        if left:
            run(["xargs", "-a", _list(context, [entry["file"] for entry in left]), "-n", "2", "-P", JOBS,
                 "clang-tidy", "--quiet", "-p", build, *more], log=context.log, cwd=TREE)
    except Failed as error:
        found = set(re.findall(r"^(\S+:\d+:\d+: (?:error|warning): .*)$", context.log.read_text(), re.M))
        if not found:
            raise
        return Outcome(failed=len(found), notes=[f"clang-tidy: {line}" for line in sorted(found)])
    clean.note(left)
    return Outcome(passed=len(entries))


class Clean:
    """The clean sources, by the checksum of clang-tidy's input: the preprocessed text with its comments, the
    flags, the rules, the program. Owns: a directory of files with such names."""

    def __init__(self, directory, program, options):
        self.directory = directory
        self.rules = repr((program, options, (TREE / ".clang-tidy").read_text()))

    def left(self, entries):
        """The entries of compile_commands.json that were not clean in their current state."""
        with ThreadPoolExecutor(int(JOBS)) as pool:
            keys = pool.map(self.key, entries)
        return [entry for entry, key in zip(entries, keys) if not (self.directory / key).exists()]

    def note(self, entries):
        """They are clean."""
        self.directory.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            (self.directory / self.key(entry)).touch()

    def key(self, entry):
        """The name of its file. A source that cannot be preprocessed gets a unique name."""
        words = shlex.split(entry["command"])
        begin = words.index("-o")
        flags = words[:begin] + words[begin + 2:]
        flags[flags.index("-c"):] = ["-E", "-C", "-P", entry["file"]]
        done = subprocess.run(flags, cwd=entry["directory"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        said = repr(flags).replace(str(TREE), "") + self.rules
        if done.returncode != 0:
            said += repr(time.time_ns())
        return hashlib.sha256(said.encode() + done.stdout).hexdigest()


def _list(context, sources):
    path = context.directory / "sources.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(sources) + "\n")
    return path
