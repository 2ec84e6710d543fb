"""A server that the user starts and stops, as far as it is visible from here.

    seen = RunningServer(sql, client, socket="/tmp/mariadb.sock")
    seen.identity()         # Must be the same when a run is resumed.
    with seen.sampler():    # As for a private server, if its process is on this machine.
        ...
    seen.unseen()           # Sentences for the report: unknown facts, and why.
"""

import os
import re
import socket as sockets
import struct
from pathlib import Path

from lab.observe.sampler import Disk, Sampler, StatusClient
from lab.record import provenance
from lab.server.private_server import variables_of

_HERE = ("", "localhost", "127.0.0.1", "::1")
_PROGRAMS = re.compile(rb"mariadbd|mysqld")
# The loaded plugins of measured engines.
_PLUGINS = re.compile(r"^\S+ r-xp \S+ \S+ \S+ +(/.*/(ha_(?:tidesdb|rocksdb)\.so))( \(deleted\))?$", re.M)
_PATIENCE_S = 5


def _is_server(pid):
    """Whether a process is a server; a pid file may be old."""
    try:
        return bool(_PROGRAMS.search(Path(f"/proc/{pid}/cmdline").read_bytes()))
    except OSError:
        return False


def peer_of(path):
    """The process that listens at a socket, from the kernel; None if it shows none.

    A server logs this as a broken connection.
    """
    try:
        with sockets.socket(sockets.AF_UNIX) as mine:
            mine.settimeout(_PATIENCE_S)
            mine.connect(str(path))
            return struct.unpack("3i", mine.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12))[0] or None
    except OSError:
        return None


class RunningServer:
    """Only observes the server."""

    def __init__(self, sql, client, environment=None, socket="", host=""):
        """sql: runs a statement, returns its rows as text. socket, host: its address; one of them is "".

        client: the command line that reads statements; environment: its extra variables.
        """
        self.sql, self._client, self._environment = sql, client, environment
        self._socket, self._host, self._pid = socket, host, None

    def pid(self):
        """Its process on this machine; None if it is elsewhere or not visible."""
        if self._pid is None or not _is_server(self._pid):
            self._pid = self._find() if self._host in _HERE else None
        return self._pid

    def _find(self):
        data, file, name = self.sql("SELECT @@datadir, @@pid_file, @@hostname").rstrip("\n").split("\t")
        if name == os.uname().nodename:  # Otherwise it is in a container, whose processes have other numbers here.
            try:
                pid = int((Path(data) / file).read_text())
            except (OSError, ValueError):
                pid = None
            if pid and _is_server(pid):
                return pid
        pid = peer_of(self._socket) if self._socket else None
        return pid if pid and _is_server(pid) else None

    def _data(self, pid):
        """The data directory as a path for this process; None if it is not visible."""
        inside = Path(f"/proc/{pid}/cwd/")  # A server's working directory, in any root.
        if os.access(inside, os.R_OK | os.X_OK):
            return inside
        path = Path(self.sql("SELECT @@datadir").rstrip("\n"))
        try:
            return path if path.stat().st_uid == _user_of(pid) else None
        except OSError:
            return None

    @property
    def data(self):
        """The data directory; None if its files are not readable."""
        pid = self.pid()
        path = self._data(pid) if pid else None
        return path if path and os.access(path, os.R_OK | os.X_OK) else None

    def sampler(self):
        """A Sampler, not started: of its counters, and of its process if that is here."""
        pid = self.pid()
        return Sampler(pid, StatusClient([*self._client, "--unbuffered"], self._environment),
                       data=self._data(pid) if pid else None, whole_life=False)

    def memory(self):
        """Nothing beyond the samples, because its peak may be from another day."""
        return {}

    def binaries(self):
        """By name, its program files, if they are readable."""
        pid, found = self.pid(), {}
        if pid is None:
            return found
        program = Path(f"/proc/{pid}/exe")
        try:
            path, maps = os.readlink(program), Path(f"/proc/{pid}/maps").read_text()
        except OSError:
            return found
        if os.access(program, os.R_OK):
            name, file = path.removesuffix(" (deleted)").rpartition("/")[2], Path(f"/proc/{pid}/root{path}")
            found[name] = file if file.exists() else program  # By its own name, if it still exists.
        for path, name, deleted in _PLUGINS.findall(maps):
            file = Path(f"/proc/{pid}/root{path}")
            if not deleted and os.access(file, os.R_OK):
                found[name] = file
        return found

    def says(self):
        """By name, its own version and those of engine plugins."""
        of = variables_of(self)
        names = ("version", "version_comment", "version_source_revision")
        found = {"server": " ".join(of[name] for name in names if of.get(name))}
        rows = self.sql("SELECT PLUGIN_NAME, PLUGIN_VERSION, PLUGIN_AUTH_VERSION FROM information_schema.PLUGINS "
                        "WHERE PLUGIN_TYPE = 'STORAGE ENGINE' AND PLUGIN_LIBRARY IN ('ha_tidesdb.so', 'ha_rocksdb.so')")
        for name, *versions in (row.split("\t") for row in rows.splitlines()):
            found[f"plugin {name}"] = " ".join(versions)
        return found

    def identity(self):
        """Distinguishes it from another build: its own versions, and its files' checksums."""
        return {**self.says(), **provenance.sums(self.binaries())}

    def unseen(self):
        """Sentences: what cannot be observed, and why."""
        if self._host not in _HERE:
            return ["The server is on another machine: its CPU, memory and disk are unknown, except for its own counters."]
        pid = self.pid()
        if pid is None:
            why = ("its pid file is not readable here" if not self._socket else
                   "it is in a container or of another user, and the kernel does not show who listens at the socket")
            return [f"The server's process is not visible ({why}): its CPU, memory and disk are unknown."]
        said, data = [], self._data(pid)
        if not self.binaries():
            said.append("The server's program is not readable for this user: only its version is known.")
        if data is None:
            said.append("The server's data directory is not visible to this user: its disk writes and file sizes "
                        "are unknown.")
            return said
        if Disk(data).written() is None:
            said.append("The server's data directory is on no block device (tmpfs, an overlay): its disk writes are not "
                        "known.")
        if not os.access(data, os.R_OK | os.X_OK):
            said.append("The server's data directory is not readable for this user: its file sizes are unknown.")
        return said


def _user_of(pid):
    """The owner of the process; its directory in /proc belongs to root if the server gave up being root."""
    found = re.search(r"^Uid:\s+\d+\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.M)
    return int(found.group(1)) if found else None
