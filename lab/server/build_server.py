"""The server of one build: MariaDB's or MySQL's, with its allocator."""

import shutil
from pathlib import Path

from installer.server_run import user
from installer.shell import Failed, run
from lab.record import provenance
from lab.server.private_server import Limit, PrivateServer


class BuildServer(PrivateServer):
    """Owns: the same as PrivateServer."""

    def __init__(self, build, directory, options=(), limit=Limit(), socket=None, under=()):
        """under: the beginning of a command line that runs the server, such as callgrind's."""
        super().__init__(build.environment, directory, limit, plugin=build.plugin, options=options, socket=socket)
        self.build, self.under = build, under

    def initialise(self):
        if self.build.flavour == "MariaDB" or (self.data / "mysql").exists():
            super().initialise()
            return
        unfinished = self.directory / "data.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        run([self.environment.mariadbd, "--no-defaults", "--initialize-insecure", f"--basedir={self.environment.basedir}",
             f"--datadir={unfinished}", f"--user={user()}"], log=self.directory / "install-db.log")
        unfinished.rename(self.data)

    def command_line(self):
        argv = [*self.under, *super().command_line()]
        return ["env", f"LD_PRELOAD={self.build.preload}", *argv] if self.build.preload else argv

    def check_allocator(self):
        """Raises Failed if the process lacks the library that was to be preloaded."""
        maps = Path(f"/proc/{self.pid()}/maps")
        name = self.build.preload.rsplit("/", 1)[-1].split(".so")[0]
        if self.build.preload and name not in maps.read_text():
            raise Failed(f"{self.build.label}: the server runs without {self.build.preload} (it has "
                         f"{provenance.allocator(self.pid())})")
