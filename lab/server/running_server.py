"""A server that somebody else started and will stop, as far as it is to be seen from here.

    seen = RunningServer(sql, client, socket="/tmp/mariadb.sock")
    seen.identity()         # What a run must be resumed with.
    with seen.sampler():    # As of a private server, where its process is on this machine.
        ...
    seen.unseen()           # Sentences for the report: what of it is not known, and why.
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
# What is loaded of the engines that are measured here.
_PLUGINS = re.compile(r"^\S+ r-xp \S+ \S+ \S+ +(/.*/(ha_(?:tidesdb|rocksdb)\.so))( \(deleted\))?$", re.M)
_PATIENCE_S = 5


def _is_server(pid):
    """Whether a process is one; a pid file may be old."""
    try:
        return bool(_PROGRAMS.search(Path(f"/proc/{pid}/cmdline").read_bytes()))
    except OSError:
        return False


def peer_of(path):
    """The process that listens at a socket, as the kernel knows it; None: it shows none.

    A server logs this as a connection that was broken off.
    """
    try:
        with sockets.socket(sockets.AF_UNIX) as mine:
            mine.settimeout(_PATIENCE_S)
            mine.connect(str(path))
            return struct.unpack("3i", mine.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12))[0] or None
    except OSError:
        return None


class RunningServer:
    """Nothing of it is changed."""

    def __init__(self, sql, client, environment=None, socket="", host=""):
        """sql: runs a statement, returns its rows as text. socket, host: how it is reached; "" for the other one.

        client: the command line that reads statements; environment: what it is given besides.
        """
        self.sql, self._client, self._environment = sql, client, environment
        self._socket, self._host, self._pid = socket, host, None

    def pid(self):
        """Its process on this machine; None when it is elsewhere or not to be seen."""
        if self._pid is None or not _is_server(self._pid):
            self._pid = self._find() if self._host in _HERE else None
        return self._pid

    def _find(self):
        data, file, name = self.sql("SELECT @@datadir, @@pid_file, @@hostname").rstrip("\n").split("\t")
        if name == os.uname().nodename:  # Else a container's, whose processes have other numbers here.
            try:
                pid = int((Path(data) / file).read_text())
            except (OSError, ValueError):
                pid = None
            if pid and _is_server(pid):
                return pid
        pid = peer_of(self._socket) if self._socket else None
        return pid if pid and _is_server(pid) else None

    def _data(self, pid):
        """The data directory by a path of this process's; None where it is not to be seen."""
        inside = Path(f"/proc/{pid}/cwd/")  # A server works there, whatever root it has.
        if os.access(inside, os.R_OK | os.X_OK):
            return inside
        path = Path(self.sql("SELECT @@datadir").rstrip("\n"))
        try:
            return path if path.stat().st_uid == _user_of(pid) else None
        except OSError:
            return None

    @property
    def data(self):
        """The data directory; None where its files are not to be read."""
        pid = self.pid()
        path = self._data(pid) if pid else None
        return path if path and os.access(path, os.R_OK | os.X_OK) else None

    def sampler(self):
        """A Sampler, not begun yet: of its counters, and of its process where that is here."""
        pid = self.pid()
        return Sampler(pid, StatusClient([*self._client, "--unbuffered"], self._environment),
                       data=self._data(pid) if pid else None, whole_life=False)

    def memory(self):
        """Nothing besides what the samples have: its peak may be of another day."""
        return {}

    def binaries(self):
        """By name, the files that it runs, where they are to be read."""
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
            found[name] = file if file.exists() else program  # By its own name, where it is still there.
        for path, name, deleted in _PLUGINS.findall(maps):
            file = Path(f"/proc/{pid}/root{path}")
            if not deleted and os.access(file, os.R_OK):
                found[name] = file
        return found

    def says(self):
        """By name, what it says of itself and of the plugins of engines."""
        of = variables_of(self)
        names = ("version", "version_comment", "version_source_revision")
        found = {"server": " ".join(of[name] for name in names if of.get(name))}
        rows = self.sql("SELECT PLUGIN_NAME, PLUGIN_VERSION, PLUGIN_AUTH_VERSION FROM information_schema.PLUGINS "
                        "WHERE PLUGIN_TYPE = 'STORAGE ENGINE' AND PLUGIN_LIBRARY IN ('ha_tidesdb.so', 'ha_rocksdb.so')")
        for name, *versions in (row.split("\t") for row in rows.splitlines()):
            found[f"plugin {name}"] = " ".join(versions)
        return found

    def identity(self):
        """What tells it from another build: what it says, and its files' sums."""
        return {**self.says(), **provenance.sums(self.binaries())}

    def unseen(self):
        """Sentences: what of it cannot be observed, and why."""
        if self._host not in _HERE:
            return ["The server is on another machine: its CPU, memory and disk are not known, only what it says itself."]
        pid = self.pid()
        if pid is None:
            why = ("its pid file is not to be read here" if not self._socket else
                   "it is in a container or of another user, and the kernel does not say who listens at the socket")
            return [f"The server's process is not to be seen ({why}): its CPU, memory and disk are not known."]
        said, data = [], self._data(pid)
        if not self.binaries():
            said.append("The server's program is not to be read by this user: it is known by its version alone.")
        if data is None:
            said.append("The server's data directory is not to be seen by this user: what its disk wrote and what its "
                        "files take are not known.")
            return said
        if Disk(data).written() is None:
            said.append("The server's data directory is on no block device (tmpfs, an overlay): what its disk wrote is not "
                        "known.")
        if not os.access(data, os.R_OK | os.X_OK):
            said.append("The server's data directory is not to be read by this user: what its files take is not known.")
        return said


def _user_of(pid):
    """Whose process it is; of a server that gave up being root its directory in /proc is root's."""
    found = re.search(r"^Uid:\s+\d+\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.M)
    return int(found.group(1)) if found else None
