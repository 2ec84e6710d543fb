"""Undoes install.sh's changes: those of a failed run, and with --uninstall all of them."""

import re
from pathlib import Path

from installer.shell import Failed, say
from installer.steps import distribution, interruption
from installer.steps.server import InstalledServer

_OPTION_FILES = ("/etc/my.cnf", "/etc/mysql")

# Lines of an option file that keep a server without the engine from starting.
_NEEDING = re.compile(r"(?im)^[ \t]*(?:tidesdb(?:[_-]\w+)*[ \t]*(?:=.*)?|"
                      r"(?:default|default[_-]tmp|enforce)[_-]storage[_-]engine[ \t]*=[ \t]*[\"']?tidesdb\b.*)$")


def roll_back(record, server, restarted):
    """Undoes this run's changes. restarted: the server may run with them. Returns a message."""
    interruption.no_more()
    record.roll_back(restart_due=restarted)
    if restarted:
        try:
            server.restart()
        except Failed as error:
            return f"This run's changes to the server are undone, but the server does not start: {error}"
        record.facts.pop("restart_due")
        record.save()
    return "This run's changes to the server are undone."


def uninstall(args, record, log):
    """Removes all that the record names. If the server does not start without it, puts it back."""
    server = InstalledServer(log)
    packages, paths = record.facts.get("packages", []), sorted(record.files)
    if paths or record.facts.get("restart_due"):  # No files: an earlier run was interrupted before the restart.
        tables = _take_out(args, record, server, paths)
        say("Removed:" if paths else "No more files of install.sh are here.")
        for line in [*paths, *record.notes]:
            say(f"  {line}")
        if tables:
            say(f"  {tables} tables of TidesDB stay in the datadir, in #tidesdb; you can read them again after "
                "./install.sh.")
    else:
        say("install.sh has installed nothing here.")
    record.forget()
    if packages:
        say("  These packages were installed for it and stay: " + " ".join(packages))


def _take_out(args, record, server, paths):
    """Returns how many tables are left behind, if the server can tell."""
    there = distribution.installed_version() is not None
    if there and (lines := needing_lines([Path(path) for path in _OPTION_FILES], paths)):
        raise Failed("these lines would keep the server from starting without the engine; remove them first, or "
                     "prefix the engine's options with loose_:\n  " + "\n  ".join(lines))
    runs = there and server.pid() is not None
    tables = server.tables() if runs and server.answers() else 0
    restarted = False
    try:
        for path in paths:
            record.remove(path, restart=runs)
        if runs and not args.no_restart:
            restarted = True
            server.restart()
        else:
            server.read_units()
    except (Failed, OSError, KeyboardInterrupt) as error:
        raise Failed(f"{error or 'interrupted'}\n{roll_back(record, server, restarted)}") from error
    return tables


def needing_lines(places, ours):
    """FILE: LINE of each line that needs the engine in the option files there, except in our own files."""
    ours = {Path(path).resolve() for path in ours}
    files = [file for place in places for file in ([place] if place.is_file() else sorted(place.rglob("*.cnf")))]
    found = []
    for file in dict.fromkeys(file.resolve() for file in files if file.is_file()):  # /etc/mysql has links to itself.
        if file not in ours:
            found += [f"{file}: {line.strip()}" for line in _NEEDING.findall(file.read_text(errors="replace"))]
    return found
