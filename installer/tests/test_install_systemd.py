"""install.sh and systemd: the calls of a fake systemctl in PATH, in order."""

import os
import shutil
import tempfile
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest import mock

from installer.shell import Failed
from installer.steps.server import InstalledServer

_SYSTEMCTL = """#!/bin/sh
echo "$@" >> "$FAKES/asked"
case "$1" in
show) cat "$FAKES/pid" ;;
restart) test ! -e "$FAKES/broken" ;;
esac
"""


class Systemd(unittest.TestCase):
    def setUp(self):
        self.fakes = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.fakes)
        self.put("systemctl", _SYSTEMCTL)
        self.put("mariadb", "#!/bin/sh\nexit 0\n")
        (self.fakes / "pid").write_text("4711\n")
        environment = {**os.environ, "FAKES": str(self.fakes), "PATH": f"{self.fakes}:/usr/bin:/bin"}
        for module in ("installer.shell", "installer.steps.server"):
            patched = mock.patch(f"{module}.clean_environment", lambda extra=None: {**environment, **(extra or {})})
            patched.start()
            self.addCleanup(patched.stop)
        self.server = InstalledServer(self.fakes / "log")
        self.server.systemd = True
        # subprocess looks for a program in the PATH of the environment that it is given, if that is not our own.
        path = mock.patch.dict(os.environ, {"PATH": environment["PATH"]})
        path.start()
        self.addCleanup(path.stop)

    def put(self, name, text):
        (self.fakes / name).write_text(text)
        (self.fakes / name).chmod(0o755)

    def asked(self):
        path = self.fakes / "asked"
        return path.read_text().splitlines() if path.exists() else []

    def restart(self):
        with redirect_stdout(StringIO()):
            self.server.restart(timeout_s=5)

    def test_units_are_read_again_before_the_restart(self):
        self.restart()
        self.assertEqual(self.asked(), ["daemon-reload", "restart mariadb"])

    def test_a_restart_that_fails_is_an_error(self):
        self.put("broken", "")
        with self.assertRaisesRegex(Failed, "systemctl restart mariadb"):
            self.restart()

    def test_the_main_process(self):
        self.assertEqual(self.server.pid(), 4711)
        (self.fakes / "pid").write_text("0\n")  # systemd's answer for a unit that does not run.
        self.assertIsNone(self.server.pid())
        self.assertEqual(self.asked()[0], "show --property MainPID --value mariadb")

    def test_a_drop_in_without_restart_is_read(self):
        self.server.read_units()
        self.assertEqual(self.asked(), ["daemon-reload"])

    def test_without_systemd_it_is_not_asked(self):
        self.server.systemd = False
        self.server.read_units()
        self.server.pid()
        self.assertEqual(self.asked(), [])


if __name__ == "__main__":
    unittest.main()
