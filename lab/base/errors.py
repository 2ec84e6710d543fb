"""The error of every parser here: it names the file, the line if known, and the problem."""

from installer.shell import Failed


class BadInput(Failed):
    """A text that is empty, cut off, or from another tool than expected."""

    def __init__(self, source, text, line=None):
        super().__init__(f"{source}:{line}: {text}" if line else f"{source}: {text}")
