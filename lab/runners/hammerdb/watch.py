"""Observes a server while a generator measures it: variables, versions, a sample each second, memory, disk."""

import json

from lab.observe.sampler import allocated_bytes
from lab.server.private_server import variables_of, versions_of

SAMPLES, AFTERWARDS, VARIABLES = "samples.json", "server.json", "variables.json"


class Watch:
    """A context. Owns: these files in the folder of an engine and benchmark."""

    def __init__(self, server, directory):
        """server: a PrivateServer or a RunningServer."""
        self._server, self._directory, self._sampler = server, directory, None

    def begin(self):
        """The measured time begins."""
        self._sampler = self._server.sampler()
        self._sampler.__enter__()

    def __enter__(self):
        self._write(VARIABLES, variables_of(self._server))
        self._found = {"versions": versions_of(self._server)}
        self._write(AFTERWARDS, self._found)
        return self

    def __exit__(self, failed, *_):
        if self._sampler is None:
            return
        self._sampler.__exit__()
        self._sampler.samples.save(self._directory / SAMPLES)
        if failed:  # The server may be gone.
            return
        data = self._server.data
        self._write(AFTERWARDS, {**self._found, "memory": self._server.memory(),
                                 "directory_bytes": allocated_bytes(data) if data else None})

    def _write(self, name, found):
        (self._directory / name).write_text(json.dumps(found, indent=1) + "\n")
