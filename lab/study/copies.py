"""Studies of builds that take turns, each unit on a fresh copy of the data loaded by one of its group."""

import time
from contextlib import contextmanager

from installer.shell import Failed
from lab.server import builds as builds_of
from lab.server.loaded_data import LoadedData, groups_of
from lab.server.private_server import Limit
from lab.study import core

DATA = "data"


class OnCopies(core.Study):
    """Also owns directory/DATA, with the loaded data while it runs or waits to be resumed. A unit has a label."""

    specs = ()  # Of builds.parse().

    def prepare(self, log):
        builds = [builds_of.resolve(spec, log) for spec in self.specs]
        self.builds, self.groups = {build.label: build for build in builds}, groups_of(builds)
        self.labels = list(self.builds)
        self.binaries = {name: path for build in builds for name, path in build.binaries().items()}

    def load_options(self, build):
        """The options of the loading server."""
        raise NotImplementedError

    def fill(self, server, build, step):
        """Loads all data into a running server."""
        raise NotImplementedError

    def work(self):
        self.data = LoadedData(self.directory / DATA, self.sockets)
        self.data.stop_left_over(self.builds.values())
        for build in self.groups:
            self._load(build)
        super().work()

    def _load(self, build):
        """Loads the data for all builds of a group; without it there is nothing to measure."""
        name = load_name(build)
        wanted = any(self.journal.result(unit.name) is None for unit in self.units
                     if self.builds[unit.label].data == build.data)
        if not wanted or self.data.is_loaded(build):
            self.progress.already(name)
            return
        self.journal.begin(name)
        with self.progress.step(name) as step:
            begin, loader = time.monotonic(), self.data.loader(build, self.load_options(build))
            try:
                loader.start()
                self.fill(loader, build, step)
            except Failed as error:
                said = loader.failed(error)
                self.journal.fail(name, str(said).splitlines()[0])
                raise said from error
            finally:
                loader.stop()
            found = self.data.loaded(build, loader, time.monotonic() - begin)
            step.note(f"{found['seconds']} s, {found['bytes'] >> 20:,} MB")
        self.journal.finish(name, found)

    @contextmanager
    def fresh(self, build, options, limit=Limit()):
        """Starts a server on a copy of the data; removes both afterwards."""
        server = self.data.fresh(build, options, limit)
        try:
            server.start()
            server.check_allocator()
            yield server
        except Failed as error:
            raise server.failed(error) from error
        finally:
            server.kill()  # Its data is thrown away, so do not wait for its last writes.
            server.end()
            self.data.forget()

    def finished(self):
        self.data.remove()


def load_name(build):
    return f"load {build.data}"
