"""What a run that can be resumed shares with its later sittings: steps done once, and its plan, without passwords."""

import json
import os
import signal
from pathlib import Path

from installer.shell import Failed

_SECRET = "--pass"
# How an interrupted run's last words begin.
ENDED = "\ninterrupted; what was started is ended. "


def once(journal, progress, name, work, anew=False):
    """Does a step unless an earlier sitting did. work(step): of the progress's step, what the journal keeps of it.
    anew: whether or not an earlier sitting did.

    True: done now; None: before. False: it failed, which is said and written down, so that others can go on.
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
    """The command line as it is written down."""
    kept, skip = [], False
    for argument in argv:
        if not skip and argument != _SECRET and not argument.startswith(f"{_SECRET}="):
            kept.append(argument)
        skip = argument == _SECRET and not skip
    return kept


def refuse_options(argv, also=()):
    """Raises Failed naming an option that is said beside --resume. also: what may be."""
    said = [word.partition("=")[0] for word in argv if word.startswith("-")]
    others = [option for option in said if option not in ("--resume", *also)]
    if others:
        raise Failed(f"{others[0]}: --resume keeps the options that the run was begun with; leave it out")


def plan(argv):
    """Of a run that begins: its command line, without passwords, and where its relative paths mean what they say."""
    return {"argv": without_secrets(argv), "cwd": os.getcwd()}


def plan_of(journal, kind, argv, also=()):
    """The plan of an interrupted run, which is resumed as it was begun, and in that directory. Raises Failed.

    argv: the command line that asks for it; also: what may be said there besides --resume.
    """
    refuse_options(argv, also)
    try:
        with open(journal) as file:
            head = json.loads(file.readline())
        found, begun = head["journal"], head["plan"]
        begun["argv"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failed(f"--resume {journal.parent}: holds no journal of an interrupted run ({error!r})") from error
    if found != kind:
        raise Failed(f"--resume {journal.parent}: is a run of {found}, not of {kind}")
    go_where_it_was_begun(journal.parent, begun)
    return begun


def go_where_it_was_begun(directory, begun):
    """There its relative paths mean what they say. directory: of the run; begun: its plan. Raises Failed."""
    try:
        os.chdir(begun.get("cwd", "."))  # An earlier version did not say.
    except OSError as error:
        raise Failed(f"--resume {directory}: was begun in {begun['cwd']}: {error.strerror}") from error


def make_directory(option, path):
    """Makes the directory that an option names, and those above it. Raises Failed."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failed(f"{option} {path}: {error.strerror}") from error


def how_to_go_on(command, journal):
    """What an interrupted run says at its end; the journal is there once something was begun."""
    return ENDED + (f"Go on with: {command} --resume {journal.parent}"
                    if journal.exists() else "Nothing was begun.")


def _interrupted(_number, _frame):
    raise KeyboardInterrupt


def interrupt_on_term():
    """SIGTERM, and a terminal that is closed, do what Ctrl-C does: what was started is ended."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # As nohup sets it.
            signal.signal(number, _interrupted)
