"""What is seen of a private server while a generator measures it: a sample each second, its memory, its disk."""

import json

from lab.harness.sampler import allocated_bytes

SAMPLES, AFTERWARDS = "samples.json", "server.json"


class Watch:
    """A context. Owns: samples.json and server.json in the folder of an engine and benchmark."""

    def __init__(self, server, directory):
        """server: a PrivateServer; None: one that somebody else runs, of which nothing is seen."""
        self._server, self._directory, self._sampler = server, directory, None

    def begin(self):
        """The measured time begins."""
        if self._server:
            self._sampler = self._server.sampler()
            self._sampler.__enter__()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._sampler is None:
            return
        self._sampler.__exit__()
        self._sampler.samples.save(self._directory / SAMPLES)
        found = {"memory": self._server.memory(), "directory_bytes": allocated_bytes(self._server.data)}
        (self._directory / AFTERWARDS).write_text(json.dumps(found, indent=1) + "\n")
