"""What is seen of a server while a generator measures it: its versions; a private one's samples, memory and disk."""

import json

from lab.harness.private_server import VERSIONS, versions_in
from lab.harness.sampler import allocated_bytes

SAMPLES, AFTERWARDS = "samples.json", "server.json"


class Watch:
    """A context. Owns: samples.json and server.json in the folder of an engine and benchmark."""

    def __init__(self, server, connection, directory):
        """server: a PrivateServer; None: one that somebody else runs, which says its versions alone."""
        self._server, self._connection, self._directory, self._sampler = server, connection, directory, None

    def begin(self):
        """The measured time begins."""
        if self._server:
            self._sampler = self._server.sampler()
            self._sampler.__enter__()

    def __enter__(self):
        self._found = {"versions": versions_in(self._connection.sql(VERSIONS))}
        self._write()
        return self

    def _write(self):
        (self._directory / AFTERWARDS).write_text(json.dumps(self._found, indent=1) + "\n")

    def __exit__(self, *_):
        if self._sampler is None:
            return
        self._sampler.__exit__()
        self._sampler.samples.save(self._directory / SAMPLES)
        self._found |= {"memory": self._server.memory(), "directory_bytes": allocated_bytes(self._server.data)}
        self._write()
