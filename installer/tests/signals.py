"""Handlers of signals in tests of programs that set their own: what runs the tests keeps its own."""

import signal

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def keep_handlers(test):
    """After the test they are those of before."""
    for number in NUMBERS:
        test.addCleanup(signal.signal, number, signal.getsignal(number))
