"""What a test case has until its end, a folder and things patched; and what all of them ask: recorded texts, refusals."""

import tempfile
from pathlib import Path
from unittest import mock

from lab.base.errors import BadInput

RECORDED = Path(__file__).resolve().parent / "recorded"


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


def recorded(name):
    """A text that a program has written."""
    return (RECORDED / name).read_text()


def refused(case, parse, source, *texts):
    """That a parser refuses each text of that source by a message. texts: (text, message)."""
    for text, message in texts:
        with case.assertRaisesRegex(BadInput, message):
            parse(text, source)
