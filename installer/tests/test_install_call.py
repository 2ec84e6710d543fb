"""Ways to call install.sh, quickstart and run-tests: from another directory, by a link, as any user, with any umask."""

import os
import subprocess
import tempfile
import unittest
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer import shell
from installer.install import options
from installer.install import __main__ as install
from installer.shell import TREE, Unavailable
from installer.steps.record import Record

PYTHON = """#!/bin/sh
echo "$PWD|$TIDESDB_CALLED_FROM|$*"
"""


class Called(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.base = Path(temporary.name)

    def test_by_a_link_and_from_elsewhere(self):
        (self.base / "python3").write_text(PYTHON)
        (self.base / "python3").chmod(0o755)
        environment = {**os.environ, "PATH": f"{self.base}:{os.environ['PATH']}"}
        for name, module in [("install.sh", "installer.install"), ("quickstart", "installer.quickstart"),
                             ("run-tests", "tools.run_tests")]:
            (self.base / name).symlink_to(TREE / name)
            said = subprocess.run([f"./{name}", "--list"], cwd=self.base, env=environment, capture_output=True,
                                  text=True, check=True).stdout.strip()
            where, called_from, words = said.split("|")
            self.assertEqual((where, words), (str(TREE), f"-m {module} --list"))
            self.assertEqual(called_from, str(self.base) if name == "install.sh" else "")

    def test_paths_are_from_where_it_was_called(self):
        words = ["--mariadb-source", "m.tar.gz", "--build-dir", "../b", "--tidesdb-prefix", "/opt/t"]
        with mock.patch.dict(os.environ, {"TIDESDB_CALLED_FROM": "/elsewhere"}):
            args = options.parse(words)
        self.assertEqual([str(args.mariadb_source), str(args.build_dir), str(args.tidesdb_prefix)],
                         ["/elsewhere/m.tar.gz", "/elsewhere/../b", "/opt/t"])
        self.assertEqual(options.parse(words).mariadb_source, Path.cwd() / "m.tar.gz")

    def test_what_is_put_is_for_all(self):
        def put(args, record):
            record.put(self.base / "opt" / "include" / "x.h", b"")
        self.addCleanup(os.umask, os.umask(0o077))
        with mock.patch.object(install, "install", put), mock.patch.object(install.host, "is_root", lambda: True), \
                mock.patch.object(install, "Record", lambda: Record(self.base / "record")), \
                mock.patch.object(install.sys, "argv", ["install.sh"]), \
                mock.patch.object(install.one_run, "lock", nullcontext), \
                mock.patch.object(install.interruption, "interrupt_once"):
            install._main()
        self.assertEqual([oct((self.base / name).stat().st_mode & 0o777) for name in ("opt", "opt/include")],
                         ["0o755", "0o755"])

    def test_the_server_is_asked_before_anything_is_built(self):
        asked = []

        def look(_, must_answer):
            asked.append(must_answer)
            raise Unavailable("no way in")
        with mock.patch.object(install.distribution, "environment"), redirect_stdout(StringIO()), \
                mock.patch.object(install.InstalledServer, "look", look), \
                mock.patch.object(install.build, "build") as build:
            for words in ([], ["--no-restart"]):
                with self.assertRaises(Unavailable):
                    install.install(options.parse(words), Record(self.base / "record"))
        self.assertEqual((asked, build.called), ([True, False], False))

    def test_what_a_user_may_not_write_is_named(self):
        def work():
            raise PermissionError(13, "Permission denied", "/srv/tidesdb/var")
        said = StringIO()
        with redirect_stderr(said), self.assertRaises(SystemExit):
            shell.main(work)
        self.assertRegex(said.getvalue(), r"^error: /srv/tidesdb/var: this user may not do that; run it as root.*\n$")

    def test_the_hold_is_on_what_holds_the_server(self):
        record = Record(self.base / "record")
        record.facts["newer"] = "11.8.9"
        said = StringIO()
        with redirect_stdout(said):
            args, environment = SimpleNamespace(build_dir=None), SimpleNamespace(version="11.8.6")
            install._summary(args, record, None, environment, True, None)
        self.assertIn("apt-mark hold mariadb-server mariadb-server-core", said.getvalue())


if __name__ == "__main__":
    unittest.main()
