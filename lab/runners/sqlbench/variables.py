"""An environment's variables by kind; raises Failed with the variable's name for a wrong value."""

import re
from pathlib import Path

from installer.shell import Failed


def _is_whole(text):
    return re.fullmatch("[0-9]{1,18}", text) is not None


class Variables:
    """An environment, read by name with a clear error."""

    def __init__(self, environment):
        self._environment = environment

    def text(self, name, default):
        return self._environment.get(name, "").strip() or default

    def names(self):
        """Only the variables that are set."""
        return sorted(name for name, value in self._environment.items() if value.strip())

    def number(self, name, default, least=0):
        text = self.text(name, str(default))
        if not _is_whole(text) or int(text) < least:
            raise Failed(f"{name}={text}: must be a whole number from {least}")
        return int(text)

    def numbers(self, name, default, least=1):
        words = self.text(name, default).replace(",", " ").split()
        if not words or any(not _is_whole(word) or int(word) < least for word in words):
            raise Failed(f"{name}={' '.join(words)}: must be whole numbers from {least}, separated by blanks")
        return tuple(int(word) for word in dict.fromkeys(words))

    def choice(self, name, default, choices):
        text = self.text(name, default).upper()
        if text not in choices:
            raise Failed(f"{name}={text}: known are {', '.join(choices)}")
        return text

    def switch(self, name, default):
        return int(self.choice(name, default, ("0", "1")))

    def size(self, name, default):
        text = self.text(name, default)
        if not re.fullmatch(r"\d+[KMGkmg]?", text):
            raise Failed(f"{name}={text}: must be a number of bytes, or a number with K, M or G")
        return text

    def path(self, name, default=None):
        text = self.text(name, "")
        return Path(text).expanduser().absolute() if text else default
