"""Signals to install.sh: the first one interrupts it; later ones cannot disturb the undoing."""

import signal

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt_once():
    """SIGTERM and a closed terminal act like Ctrl-C; signals after the first one are ignored."""
    _hear(_interrupted)


def no_more():
    """From now on no signal interrupts."""
    _hear(_unheard)


def _hear(handler):
    for number in _NUMBERS:
        if signal.getsignal(number) != signal.SIG_IGN:  # As nohup sets it.
            signal.signal(number, handler)


def _interrupted(_number, _frame):
    no_more()
    raise KeyboardInterrupt


def _unheard(_number, _frame):
    """Used instead of SIG_IGN, which a server started during the undoing would inherit."""
