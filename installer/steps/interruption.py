"""What interrupts install.sh: the first signal does, and then there is peace for undoing."""

import signal

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt_once():
    """SIGTERM, and a terminal that is closed, do what Ctrl-C does; what comes after the first one is not heard."""
    _hear(_interrupted)


def no_more():
    """None of them interrupts what is done from now on."""
    _hear(_unheard)


def _hear(handler):
    for number in _NUMBERS:
        if signal.getsignal(number) != signal.SIG_IGN:  # As nohup sets it.
            signal.signal(number, handler)


def _interrupted(_number, _frame):
    no_more()
    raise KeyboardInterrupt


def _unheard(_number, _frame):
    """Not SIG_IGN, which the server would inherit that is started while undoing."""
