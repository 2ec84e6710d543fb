"""What a test case has until its end: a folder, and things patched."""

import tempfile
from pathlib import Path
from unittest import mock


def folder(case):
    """Empty, and of this case alone."""
    made = tempfile.TemporaryDirectory()
    case.addCleanup(made.cleanup)
    return Path(made.name)


def patch(case, *patches):
    """patches: (object, name, value) of each."""
    for target, name, value in patches:
        one = mock.patch.object(target, name, value)
        one.start()
        case.addCleanup(one.stop)
