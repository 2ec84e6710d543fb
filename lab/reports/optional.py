"""Charts of a runner whose figures are safe: a failure to draw is reported but does not fail the run."""

from installer.shell import Failed, say


def drawn(draw):
    """The files of draw(); none if it raises Failed, as on a machine without matplotlib."""
    try:
        return draw()
    except Failed as error:
        say(f"charts are left out: {error}")
        return []
