"""Builds the engine in a preset and runs its tests through ctest."""

import json
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

from installer.shell import TREE, Failed, run
from tools.run_tests.step import Outcome

JOBS = str(os.cpu_count() or 2)
TEST_SECONDS_MAX = "900"
PLANTED_BUG = "manifest_any_level"


def _configure_and_build(preset, log, targets=()):
    run(["cmake", "--preset", preset, "-DTIDESDB_PCH=ON"], log=log, cwd=TREE)
    only = ["--target", *targets] if targets else []
    run(["cmake", "--build", TREE / "build" / preset, "-j", JOBS, *only], log=log, cwd=TREE)


def build(preset, context):
    """Compiling is the test: warnings are errors."""
    _configure_and_build(preset, context.log)
    return Outcome(passed=1)


def ctest(preset, context, label="", environment=None):
    """Every test with that label, counted one by one by its GoogleTest name."""
    _configure_and_build(preset, context.log)
    details = context.directory / "gtest"
    details.mkdir(parents=True, exist_ok=True)
    junit = context.directory / "ctest.xml"
    argv = ["ctest", "--test-dir", TREE / "build" / preset, "-j", JOBS, "--output-on-failure",
            "--no-tests=error", "--timeout", TEST_SECONDS_MAX, "--output-junit", junit]
    if label:
        argv += ["-L", label]
    problem = None
    try:
        run(argv, log=context.log, cwd=TREE, env={"GTEST_OUTPUT": f"json:{details}/", **(environment or {})})
    except Failed as error:
        problem = error
    if not junit.exists():
        raise problem or Failed(f"ctest wrote no results; see {context.log}")
    return _count(preset, junit, details)


def _count(preset, junit, details):
    outcome = Outcome()
    failed_programs = set()
    for path in sorted(details.glob("*.json")):
        for suite in json.loads(path.read_text())["testsuites"]:
            for test in suite["testsuite"]:
                name = f"{preset}: {suite['name']}.{test['name']}"
                if test.get("failures"):
                    outcome.failed += 1
                    outcome.notes.append(f"failed: {name}")
                    failed_programs.add(path.stem.split("_test")[0])
                elif test.get("result") == "SKIPPED":
                    outcome.skipped += 1
                    outcome.notes.append(f"skipped: {name}")
                elif test.get("status") == "RUN":
                    outcome.passed += 1
    # A program that crashed, hung or was stopped by a sanitizer left no count of its own.
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        name = case.get("name")
        if case.get("status") == "fail" and name.split("_test")[0] not in failed_programs:
            outcome.failed += 1
            outcome.notes.append(f"failed: {preset}: the program {name}")
        elif case.get("status") == "run" and not list(details.glob(f"{name}*.json")):
            outcome.passed += 1
    return outcome


def fuzz(seconds, context):
    """Runs each fuzz target for that time from its corpus. Then the planted bug must be found, since otherwise finding
    nothing proves nothing."""
    targets = {path.stem: path for folder in ("src", "plugin") for path in sorted((TREE / folder).rglob("*_fuzz.cc"))}
    _configure_and_build("fuzz", context.log, list(targets))
    programs = {name: TREE / "build" / "fuzz" / source.parent.relative_to(TREE) / name for name, source in targets.items()}
    outcome = Outcome()
    with ThreadPoolExecutor(int(JOBS)) as pool:  # Each uses one processor.
        planted = pool.submit(_fuzz_one, programs["manifest_fuzz"], seconds, context, PLANTED_BUG)
        runs = {name: pool.submit(_fuzz_one, program, seconds, context) for name, program in programs.items()}
        for name, one in runs.items():
            if one.exception() is None:
                outcome.passed += 1
                continue
            outcome.failed += 1
            outcome.notes.append(f"failed: {name}: the input is in {context.directory / name}; see {context.log}")
        if isinstance(planted.exception(), Failed):
            outcome.passed += 1
        else:
            outcome.failed += 1
            outcome.notes.append(f"failed: the planted bug {PLANTED_BUG} was not found in {seconds} s: "
                                 f"{planted.exception()}")
    return outcome


def _fuzz_one(program, seconds, context, planted=""):
    found = context.directory / (planted or program.name)
    (found / "inputs").mkdir(parents=True, exist_ok=True)
    run([program, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-verbosity=0", "-seed=1",
         f"-artifact_prefix={found}/", found / "inputs", TREE / "test" / "fuzz" / "corpus" / program.name],
        log=context.log, cwd=TREE, env={"TIDESDB_FUZZ_PLANTED": planted} if planted else {})


def stress(seconds, context):
    """Real threads under the thread sanitizer, for longer than the test of the same name."""
    _configure_and_build("tsan", context.log, ["stress_db"])
    run([TREE / "build" / "tsan" / "test" / "stress" / "stress_db", "--seconds", seconds, "--rounds", 10],
        log=context.log, cwd=TREE)
    return Outcome(passed=1)


def simulation(seeds, context):
    """Lives of the database under power cuts and errors, one per seed. The program itself requires that all its
    goals were reached, and prints how often; its last lines are in the log."""
    _configure_and_build("sim", context.log, ["sim_db"])
    program = TREE / "build" / "sim" / "test" / "sim" / "sim_db"
    with open(context.log, "a") as log:
        # A failing run gives its reason on either stream.
        process = subprocess.Popen([program, "--seeds", f"1:{seeds}", "--jobs", JOBS], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace")
        kept = []
        for line in process.stdout:
            log.write(line)
            kept = [*kept[-100:], line.strip()]
            if re.match(r"\.\.\. \d*[05]00 of", line):
                print(f"  {line.strip()}", flush=True)
        if process.wait() != 0:
            raise Failed(f"{program.name} ended with {process.returncode}; see {context.log}\n"
                         + "\n".join(kept[-15:]))
    for line in kept:
        if re.match(r"\d+ (?!at )", line):
            print(f"    {line}", flush=True)
    return Outcome(passed=seeds)
