"""Restores signal handlers after tests of programs that set their own."""

import signal

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def keep_handlers(test):
    """Restores the current handlers after the test."""
    for number in NUMBERS:
        test.addCleanup(signal.signal, number, signal.getsignal(number))
