"""What is shown of the error log of a server that ended."""

import unittest

from installer.server_run import of_crash

_FIRST_START = """\
2026-11-29  1:00:00 0 [Note] Starting MariaDB 11.8.6 source revision 9bfea as process 1
261129  1:00:01 [ERROR] mariadbd got signal 11 ;
"""
_SECOND_START = """\
2026-11-29  2:00:00 0 [Note] Starting MariaDB 11.8.6 source revision 9bfea as process 2
2026-11-29  2:00:00 0 [ERROR] TidesDB: the second start's trouble
"""
_CRASH = """\
261129  2:00:01 [ERROR] mariadbd got signal 6 ;
Attempting backtrace. You can use the following information to find out
/usr/sbin/mariadbd(handle_fatal_signal+0x3e0)[0x55]
plugins/ha_tidesdb.so(+0x1234)[0x7f]
Resource Limits (excludes unlimited resources):
"""


class OfCrash(unittest.TestCase):
    def test_the_errors_and_the_stack_since_the_last_start(self):
        told = of_crash((_FIRST_START + _SECOND_START + _CRASH).splitlines())
        self.assertEqual(4, len(told))
        self.assertIn("second start's trouble", told[0])
        self.assertIn("ha_tidesdb.so", told[3])

    def test_errors_long_before_are_left_out(self):
        said = (_SECOND_START + "[ERROR] an older one\n" * 100 + _CRASH).splitlines()
        told = of_crash(said)
        self.assertLess(len(told), 30)
        self.assertNotIn("second start's trouble", told[0])
        self.assertIn("ha_tidesdb.so", told[-1])

    def test_a_start_without_a_crash_has_none_after_one_with(self):
        self.assertEqual([], of_crash((_FIRST_START + _SECOND_START).splitlines()))


if __name__ == "__main__":
    unittest.main()
