"""Old bytes at the end of InnoDB's log are told from records that merely repeat."""

import random
import unittest

from test.server.innodb_log import replays_old_bytes

_BLOCK = 4096


def _log(end, distance):
    """A log that ends there, its last bytes equal to those so far before."""
    log = bytearray(random.Random(1).randbytes(end))
    log[end - 300:end] = log[end - 300 - distance:end - distance]
    return bytes(log) + bytes(5 * _BLOCK)


def _says(*ends):
    return "".join(f"2026-11-29  8:20:52 0 [Note] InnoDB: End of log at LSN={end}\n" for end in ends)


class ReplaysOldBytes(unittest.TestCase):
    def test_bytes_of_an_earlier_block_at_the_same_place(self):
        self.assertTrue(replays_old_bytes(_says(50000, 70001), _log(70001, 6 * _BLOCK)))

    def test_records_repeated_at_another_place(self):
        self.assertFalse(replays_old_bytes(_says(70001), _log(70001, 6 * _BLOCK + 27)))

    def test_the_last_recovery_counts(self):
        self.assertFalse(replays_old_bytes(_says(70001, 70500), _log(70001, _BLOCK)))

    def test_a_server_that_recovered_nothing(self):
        self.assertFalse(replays_old_bytes("ready for connections\n", _log(70001, _BLOCK)))


if __name__ == "__main__":
    unittest.main()
