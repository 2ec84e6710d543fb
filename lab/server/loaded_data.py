"""Data loaded once, and measurements on copies of it.

Builds that can read each other's files share the data that one of them loaded. If each loaded its own, a difference
in the load's layout on disk would be in every repetition, and look like a difference of the builds.
"""

import json
import shutil
import subprocess
from pathlib import Path

from lab.observe.sampler import allocated_bytes
from lab.server.build_server import BuildServer
from lab.server.cgroup import forget_files
from lab.server.private_server import Limit

_LOADED = "loaded.json"  # In a template: says that it is complete, and who made it.


def groups_of(builds):
    """The builds that load: the first of those that share data."""
    return list({build.data: build for build in reversed(builds)}.values())[::-1]


class LoadedData:
    """Owns: directory, with a template for each group of builds and the measured copy; and a socket's directory."""

    def __init__(self, directory, sockets):
        self.directory, self.socket = Path(directory), Path(sockets) / "mysqld.sock"

    def template(self, build):
        return self.directory / "templates" / build.data

    @property
    def copy(self):
        return self.directory / "run"

    def is_loaded(self, build):
        return (self.template(build) / _LOADED).exists()

    def loader(self, build, options):
        """The loading server, empty and not started."""
        directory = self.template(build)
        shutil.rmtree(directory, ignore_errors=True)
        server = BuildServer(build, directory, options, socket=self.socket)
        server.initialise()
        return server

    def loaded(self, build, server, seconds):
        """Call after the loader has stopped with all data loaded. Returns the journal's entry."""
        made = {"by": build.label, "seconds": round(seconds, 1), "bytes": allocated_bytes(server.data)}
        (self.template(build) / _LOADED).write_text(json.dumps(made) + "\n")
        return made

    def fresh(self, build, options, limit=Limit()):
        """A server on a fresh copy, not started."""
        self.forget()
        self.copy.mkdir(parents=True)
        # The same bytes for every build: an interrupted or failed run does not change them for the next one.
        subprocess.run(["cp", "-a", "--reflink=auto", "--sparse=auto", self.template(build) / "data", self.copy / "data"],
                       check=True)
        forget_files(self.copy)
        return BuildServer(build, self.copy, options, limit, self.socket)

    def forget(self):
        """Removes the copy."""
        shutil.rmtree(self.copy, ignore_errors=True)

    def stop_left_over(self, builds):
        """Ends servers of a killed sitting."""
        for build in builds:
            for directory in (self.template(build), self.copy):
                BuildServer(build, directory, socket=self.socket).kill()
        self.forget()

    def remove(self):
        shutil.rmtree(self.directory, ignore_errors=True)
