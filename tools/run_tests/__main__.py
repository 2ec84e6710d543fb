"""./run-tests: runs the table of steps and sums up.

Logs are in var/run-tests/, one per step. With CI=true a skipped step counts as failed.
"""

import argparse
import os
import shutil
import sys
import time
import traceback

from installer import apt
from installer.shell import TREE, Failed, Unavailable
from tools.run_tests import lanes
from tools.run_tests.deadline import Deadline
from tools.run_tests.step import DEFAULT, FULL, QUICK, Context, Outcome
from tools.run_tests.table import STEPS

NOTES_SHOWN_MAX = 50


def _run(step, context, strict):
    """Never raises: any error becomes the step's outcome."""
    try:
        with Deadline(step.minutes, context.log):
            apt.install(list(step.packages), context.log)
            outcome = step.run(context)
        if outcome == Outcome():
            raise Failed(f"no test was run or counted; see {context.log}")
        return outcome
    except Unavailable as reason:
        if strict:
            return Outcome(failed=1, notes=[f"failed: {step.name} was skipped, which CI does not "
                                            f"allow: {reason}"])
        return Outcome(skipped=1, notes=[f"skipped: {step.name}: {reason}"])
    except Failed as error:
        return Outcome(failed=1, notes=[f"failed: {step.name}: {error}"])
    except Exception:  # A bug in a step fails that step, but does not end the run.
        return Outcome(failed=1, notes=[f"failed: {step.name}: {traceback.format_exc()}"])


def _install_before(batch, log):
    """Installs all packages of parallel steps at once, so that these do not compete for apt."""
    try:
        apt.install(sorted({name for step in batch for name in step.packages}), log)
    except Failed:
        pass  # Each step that lacks one reports it.


def _arguments():
    parser = argparse.ArgumentParser(prog="run-tests", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", dest="level", action="store_const", const=QUICK, default=DEFAULT,
                        help="the inner loop: minutes")
    parser.add_argument("--full", dest="level", action="store_const", const=FULL,
                        help="the whole matrix and the long soaks: hours")
    parser.add_argument("--only", action="append", metavar="STEP", help="this step; repeat for more")
    parser.add_argument("--list", action="store_true", help="list the steps and end")
    return parser.parse_args()


def main():
    args = _arguments()
    if args.only:
        unknown = set(args.only) - {step.name for step in STEPS}
        if unknown:
            sys.exit(f"no such step: {', '.join(sorted(unknown))}; --list names them")
        steps = [step for step in STEPS if step.name in args.only]
    else:
        steps = [step for step in STEPS if step.level <= args.level]
    if args.list:
        print("\n".join(f"{step.name:20} {['--quick', '', '--full'][step.level]}".rstrip() for step in STEPS))
        return 0

    strict = os.environ.get("CI") == "true"
    logs = TREE / "var" / "run-tests"
    logs.mkdir(parents=True, exist_ok=True)
    total = Outcome()
    begin = time.monotonic()

    def one(step):
        """Runs a step; returns its outcome and its seconds."""
        directory = logs / step.name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        step_begin = time.monotonic()
        return _run(step, Context(args.level, directory / "log", directory), strict), time.monotonic() - step_begin

    def tell(outcome, seconds):
        print(f"  {outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped, {seconds:.0f} s", flush=True)
        total.add(outcome)

    number = 0
    for batch in lanes.batches(steps):
        if len({step.lane for step in batch}) == 1:
            for step in batch:
                number += 1
                print(f"[{number}/{len(steps)}] {step.name}", flush=True)
                tell(*one(step))
            continue
        print(f"In parallel: {', '.join(step.name for step in batch)}", flush=True)
        _install_before(batch, logs / "packages.log")
        for step, result, said in lanes.run(batch, one, logs):
            number += 1
            print(f"[{number}/{len(steps)}] {step.name}\n{said}", end="", flush=True)
            tell(*result)

    print(f"\nAll in {(time.monotonic() - begin) / 60:.1f} minutes; logs in {logs.relative_to(TREE)}/")
    left_out = [step.name for step in STEPS if step.level > args.level]
    if left_out and not args.only:
        print(f"Not part of this run (see --full): {', '.join(left_out)}")
    for note in total.notes[:NOTES_SHOWN_MAX]:
        print(note)
    if len(total.notes) > NOTES_SHOWN_MAX:
        print(f"... and {len(total.notes) - NOTES_SHOWN_MAX} more")
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
