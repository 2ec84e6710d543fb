"""What a run that can be resumed shares with its later sittings: steps done once, and its plan, without passwords."""

import json
import signal

from installer.shell import Failed

_SECRET = "--pass"


def once(journal, progress, name, work):
    """Does a step unless an earlier sitting did. work(step): of the progress's step, what the journal keeps of it.

    True: done now; None: before. False: it failed, which is said and written down, so that others can go on.
    """
    if journal.result(name):
        progress.already(name)
        return None
    journal.begin(name)
    try:
        with progress.step(name) as step:
            found = work(step)
    except Failed as error:
        journal.fail(name, str(error))
        progress.say(f"    {error}")
        return False
    journal.finish(name, found)
    return True


def without_secrets(argv):
    """The command line as it is written down."""
    kept, skip = [], False
    for argument in argv:
        if not skip and argument != _SECRET and not argument.startswith(f"{_SECRET}="):
            kept.append(argument)
        skip = argument == _SECRET and not skip
    return kept


def plan_of(journal):
    """The plan of an interrupted run. Raises Failed."""
    try:
        with open(journal) as file:
            return json.loads(file.readline())["plan"]
    except (OSError, ValueError, KeyError) as error:
        raise Failed(f"--resume {journal.parent}: holds no journal of an interrupted run ({error!r})") from error


def _interrupted(_number, _frame):
    raise KeyboardInterrupt


def interrupt_on_term():
    """SIGTERM does what Ctrl-C does: what was started is ended."""
    signal.signal(signal.SIGTERM, _interrupted)
