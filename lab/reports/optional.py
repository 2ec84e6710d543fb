"""Charts of a runner whose figures are safe: what keeps them from being drawn is said, and is no failure of the run."""

from installer.shell import Failed, say


def drawn(draw):
    """The files that draw() gives; none where it raises Failed, such as for a machine without matplotlib."""
    try:
        return draw()
    except Failed as error:
        say(f"charts are left out: {error}")
        return []
