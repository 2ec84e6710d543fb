"""A test that sends signals starts its programs as a terminal does.

A shell's background job has SIGINT ignored, and nohup's SIGHUP; what is ignored is inherited, and Python installs no
handler for it.
"""

import signal


def restore():
    """For this process and what it starts; in its main thread."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
