"""The error of every parser: which file, which line, and what is wrong with it."""

from installer.shell import Failed


class Unreadable(Failed):
    """A tool's output that is empty, cut off or of another kind."""

    def __init__(self, source, line, text):
        super().__init__(f"{source}:{line}: {text}")
