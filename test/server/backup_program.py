"""tidesdb-backup, as the tests of the lab call it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from installer.shell import TREE, Failed


class BackupProgram:
    """Calls tidesdb-backup for a server, whose programs may be in a separate root."""

    def __init__(self, server, directory):
        """directory: where the programs are put, and temporary files."""
        self.server, self.directory = server, Path(directory)

    def program(self, name):
        """A program of the server's, to be called from here."""
        path = self.directory / f"run-{name}"
        environment = self.server.environment
        where = "sbin" if name == "mariadbd" else "bin"
        argv = environment.command([environment.basedir / where / name], None,
                                   [self.directory, self.server.directory, self.server.plugin.parent])
        path.write_text("#!/bin/sh\nexec " + shlex.join(map(str, argv)) + ' "$@"\n')
        path.chmod(0o755)
        return path

    def argv(self, what, target, *more):
        argv = [sys.executable, TREE / "tools" / "tidesdb_backup.py", f"--{what}", f"--target-dir={target}", "--user=root",
                f"--socket={self.server.socket}", *more]
        argv += [f"--{name}={self.program(name)}" for name in ["mariadb", "mariadb-backup", "mariadbd"]]
        if what == "verify":
            argv += [f"--server-option=--basedir={self.server.environment.basedir}",
                     f"--server-option=--plugin-dir={self.server.directory / 'plugins'}"]
        return [str(argument) for argument in argv]

    def run(self, what, target, *more):
        """The finished process."""
        return subprocess.run(self.argv(what, target, *more), capture_output=True, text=True, check=False,
                              env={**os.environ, "TMPDIR": str(self.directory)})

    def call(self, what, target, *more):
        """Raises Failed if it fails."""
        done = self.run(what, target, *more)
        if done.returncode != 0:
            raise Failed(f"tidesdb-backup --{what} failed:\n{done.stdout}{done.stderr}")
        return done.stdout
