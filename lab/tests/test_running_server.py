"""lab/server/running_server.py with a process that has a server's name: how it is found, what can be seen of it."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from installer.shell import TREE
from lab.observe import sampler as sampler_of
from lab.record.provenance import sha256
from lab.server import running_server
from lab.server.running_server import RunningServer, peer_of
from lab.tests.test_sampler import _CLIENT

# Listens on the given socket, in the given working directory, until its input ends.
_SERVER = """
import os, socket, sys
os.chdir(sys.argv[2])
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()
print("ready", flush=True)
sys.stdin.read()
"""


class Seen(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=TREE)  # On a disk, if the tree is.
        self.addCleanup(folder.cleanup)
        self.data, self.host, self.asked = Path(folder.name), os.uname().nodename, []
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.socket = str(Path(place.name) / "s")
        (self.data / "ibdata1").write_bytes(b"x" * 100_000)

    def start(self, name="mariadbd", socket=""):
        process = subprocess.Popen([sys.executable, "-c", _SERVER, socket or self.socket, self.data, name], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process.pid

    def sql(self, statement):
        self.asked.append(statement)
        if "@@pid_file" in statement:
            return f"{self.data}/\tmysqld.pid\t{self.host}\n"
        if "@@datadir" in statement:
            return f"{self.data}/\n"
        if "PLUGINS" in statement:
            return "TIDESDB\t1.2\t1.2.3\n"
        return "version\t10.11.18-MariaDB\nversion_comment\tDebian 12\n"

    def seen(self, **more):
        client = [sys.executable, "-c", _CLIENT, "1000"]
        return RunningServer(self.sql, client, {"MYSQL_PWD": "secret"}, **{"socket": self.socket, **more})

    def test_by_its_pid_file(self):
        pid = self.start()
        (self.data / "mysqld.pid").write_text(f"{pid}\n")
        with mock.patch.object(running_server, "peer_of", side_effect=AssertionError("the server would log it")):
            self.assertEqual(self.seen().pid(), pid)
            self.assertEqual(self.seen(socket="", host="127.0.0.1").pid(), pid)

    def test_by_its_socket_where_the_pid_file_is_not_to_be_read_or_another_machine_s(self):
        pid = self.start()
        self.assertEqual(peer_of(self.socket), pid)
        self.assertEqual(self.seen().pid(), pid)
        (self.data / "mysqld.pid").write_text(str(os.getpid()))  # The pid of a process that is no server.
        self.assertEqual(self.seen().pid(), pid)
        self.host = "container"
        (self.data / "mysqld.pid").write_text(str(self.start(socket=self.socket + "2")))  # Another server here.
        self.assertEqual(self.seen().pid(), pid)
        self.assertIsNone(self.seen(socket="", host="127.0.0.1").pid())
        self.assertIsNone(peer_of("/nonexistent"))

    def test_what_is_no_server_is_not_taken_for_one(self):
        self.start("sshd")  # Such a process holds a forwarded socket.
        self.assertIsNone(self.seen().pid())

    def test_sampled_as_a_private_one(self):
        self.start()
        seen = self.seen()
        with mock.patch.object(sampler_of._Process, "peak_resident", return_value=1 << 50), seen.sampler() as sampler:
            pass
        samples = sampler.samples
        self.assertEqual(list(samples.counters()), ["Com_commit"])
        self.assertGreaterEqual(samples.cpu_s, 0)
        self.assertEqual(samples.peak_resident, samples.resident_most)
        self.assertGreater(samples.resident_most, 1 << 20)
        on_disk = os.major(self.data.stat().st_dev) != 0
        self.assertEqual(samples.written_bytes is not None, on_disk)
        self.assertTrue(os.path.samefile(seen.data, self.data))
        self.assertEqual([sentence for sentence in seen.unseen() if "block device" not in sentence], [])

    def test_on_another_machine_its_counters_alone(self):
        self.start()
        seen = self.seen(socket="", host="db.example")
        with seen.sampler() as sampler:
            pass
        self.assertEqual((sampler.samples.process, list(sampler.samples.counters())), ({}, ["Com_commit"]))
        self.assertEqual((seen.data, seen.binaries(), seen.memory()), (None, {}, {}))
        self.assertRegex(seen.unseen()[0], "^The server is on another machine: its CPU, memory and disk are unknown")

    def test_what_is_not_to_be_seen_is_said_with_its_reason(self):
        self.assertRegex(self.seen().unseen()[0], "process is not visible .it is in a container or of another user")
        self.assertRegex(self.seen(socket="", host="localhost").unseen()[0], "its pid file is not readable here")
        self.start()
        with mock.patch.object(running_server.os, "readlink", side_effect=PermissionError), \
                mock.patch.object(running_server.os, "access", return_value=False):
            said = self.seen().unseen()
            self.assertIsNone(self.seen().data)
        self.assertRegex(said[0], "program is not readable for this user")
        self.assertRegex(said[-1], "data directory is not readable for this user: its file sizes")
        with mock.patch.object(running_server.os, "access", return_value=False), \
                mock.patch.object(running_server, "_user_of", return_value=-1):
            self.assertRegex(self.seen().unseen()[-1], "data directory is not visible to this user")

    def test_what_tells_it_from_another_build(self):
        self.start()
        name = Path(sys.executable).resolve().name
        self.assertEqual(self.seen().identity(), {"server": "10.11.18-MariaDB Debian 12", "plugin TIDESDB": "1.2 1.2.3",
                                                  name: sha256(sys.executable)})
        self.assertEqual(list(self.seen(socket="", host="db.example").identity()), ["server", "plugin TIDESDB"])

    def test_a_plugin_that_was_replaced_is_not_the_one_that_runs(self):
        line = "7f00-7f01 r-xp 0000 fe:00 12 {}{}\n"
        self.assertEqual(running_server._PLUGINS.findall(
            line.format("/usr/lib/a b/ha_tidesdb.so", "") + line.format("/x/ha_rocksdb.so", " (deleted)")
            + line.format("/x/ha_archive.so", "")),
            [("/usr/lib/a b/ha_tidesdb.so", "ha_tidesdb.so", ""), ("/x/ha_rocksdb.so", "ha_rocksdb.so", " (deleted)")])
