"""The error of every parser here: it names the file, the line where there is one, and what is wrong."""

from installer.shell import Failed


class BadInput(Failed):
    """A text that is empty, cut off, or not of the tool it should be of."""

    def __init__(self, source, text, line=None):
        super().__init__(f"{source}:{line}: {text}" if line else f"{source}: {text}")
