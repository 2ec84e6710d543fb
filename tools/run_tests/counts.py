"""The step that counts instructions: no short path of the engine takes over 3 % more than in the file."""

from tools import counts
from tools.run_tests.step import Outcome


def paths(context):
    count, bad, moved = counts.check(context.log)
    return Outcome(count - len(bad), len(bad), 0, [*(f"failed: {line}" for line in bad), *moved])
