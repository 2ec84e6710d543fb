"""Takes back what install.sh did: what a run has changed that failed."""

from installer.install import interruption
from installer.shell import Failed


def roll_back(record, server, restarted):
    """Undoes this run's changes. restarted: the server may run with them. Returns what is to be said of it."""
    interruption.no_more()
    record.roll_back(restart_due=restarted)
    if restarted:
        try:
            server.restart()
        except Failed as error:
            return f"What this run changed in the server is undone, but the server does not start: {error}"
        record.facts.pop("restart_due")
        record.save()
    return "What this run changed in the server is undone."
