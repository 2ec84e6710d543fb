"""For runs that can be resumed: steps that run once over all sittings, and the plan, without passwords."""

import json
import os
import signal
from pathlib import Path

from installer.shell import Failed

_SECRET = "--pass"
# The beginning of an interrupted run's last message.
ENDED = "\ninterrupted; all its programs have ended. "


def once(journal, progress, name, work, anew=False):
    """Does a step unless an earlier sitting did. work(step): takes the progress's step, returns the journal's entry.
    anew: even if an earlier sitting did.

    True: done now; None: before. False: it failed; this is printed and recorded, and others can go on.
    """
    if journal.result(name) and not anew:
        progress.already(name)
        return None
    journal.begin(name)
    try:
        with progress.step(name) as step:
            found = work(step)
    except Failed as error:
        journal.fail(name, str(error).partition("\n")[0])
        progress.say(f"    {error}")
        return False
    journal.finish(name, found)
    return True


def without_secrets(argv):
    """The command line as it is recorded."""
    kept, skip = [], False
    for argument in argv:
        if not skip and argument != _SECRET and not argument.startswith(f"{_SECRET}="):
            kept.append(argument)
        skip = argument == _SECRET and not skip
    return kept


def refuse_options(argv, also=()):
    """Raises Failed naming an option beside --resume. also: the allowed ones."""
    said = [word.partition("=")[0] for word in argv if word.startswith("-")]
    others = [option for option in said if option not in ("--resume", *also)]
    if others:
        raise Failed(f"{others[0]}: --resume keeps the options from the run's beginning; leave it out")


def plan(argv):
    """A new run's command line, without passwords, and the directory of its relative paths."""
    return {"argv": without_secrets(argv), "cwd": os.getcwd()}


def plan_of(journal, kind, argv, also=()):
    """The plan of an interrupted run, which is resumed as it was begun, and in that directory. Raises Failed.

    argv: the command line with --resume; also: options allowed beside it.
    """
    refuse_options(argv, also)
    try:
        with open(journal) as file:
            head = json.loads(file.readline())
        found, begun = head["journal"], head["plan"]
        begun["argv"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failed(f"--resume {journal.parent}: has no journal of an interrupted run ({error!r})") from error
    if found != kind:
        raise Failed(f"--resume {journal.parent}: is a run of {found}, not {kind}")
    go_where_it_was_begun(journal.parent, begun)
    return begun


def go_where_it_was_begun(directory, begun):
    """Changes to the directory of its relative paths. directory: of the run; begun: its plan. Raises Failed."""
    try:
        os.chdir(begun.get("cwd", "."))  # Missing in plans of an earlier version.
    except OSError as error:
        raise Failed(f"--resume {directory}: was begun in {begun['cwd']}: {error.strerror}") from error


def make_directory(option, path):
    """Makes the directory of an option, and those above it. Raises Failed."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failed(f"{option} {path}: {error.strerror}") from error


def how_to_go_on(command, journal):
    """The last message of an interrupted run; the journal exists once something was begun."""
    return ENDED + (f"Resume with: {command} --resume {journal.parent}"
                    if journal.exists() else "Nothing was begun.")


def _interrupted(_number, _frame):
    raise KeyboardInterrupt


def interrupt_on_term():
    """SIGTERM and a closed terminal act like Ctrl-C: all started programs end."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # As nohup sets it.
            signal.signal(number, _interrupted)
