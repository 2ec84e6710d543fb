"""A fault of InnoDB's, and how to tell it: after kill -9 it can replay old bytes that lie behind the end of its log.

What was seen: the bytes up to the recovered end of the log stand in it once more, some blocks before, checksums included,
and go on to the end of a block. Records of ib_logfile0 (10.8 and later) have a checksum but no LSN, so recovery cannot
tell. Then committed transactions come back as open ones and are rolled back, and InnoDB stops by an assertion or does not
start ("Data structure corruption"). Where the old bytes come from was not looked for in InnoDB's code; the log buffer is a
guess.
docs/trust.md has the two cases that were found.
"""

import re

_BLOCK = 4096      # The size of a write of the log; a file system may have smaller ones.
_SAME_BYTES = 256  # Several records. Equal changes of equal pages repeat too, but not at the same place of a block.


def replays_old_bytes(error_log, log):
    """Whether the last recovery did. error_log: the server's, as text. log: ib_logfile0, as bytes."""
    ends = re.findall(r"InnoDB: End of log at LSN=(\d+)", error_log)
    if not ends:
        return False
    # In the file's first lap the byte of an LSN is at that offset.
    end = int(ends[-1])
    last = log[end - _SAME_BYTES:end]
    at = log.find(last)
    while 0 <= at < end - _SAME_BYTES:
        if (end - _SAME_BYTES - at) % _BLOCK == 0:
            return True
        at = log.find(last, at + 1)
    return False
