"""Tests of installer/roots and server_run: what a server in its own root sees of this machine."""

import unittest
from pathlib import Path
from unittest import mock

from installer import host, roots, servers
from installer.server_run import Server

_TREE = Path("/srv/tree")


def shared(command):
    """The directories that a command line made by Root mounts."""
    first = command.index(str(roots.Root("trixie").path)) + 1
    return command[first:command.index("--")]


class Shared(unittest.TestCase):
    def setUp(self):
        # Not this tree's own directory: below /tmp it would not get a separate mount.
        for patch in (mock.patch.object(host, "cache_dir", return_value=Path("/srv/cache")),
                      mock.patch.object(roots, "TREE", _TREE)):
            patch.start()
            self.addCleanup(patch.stop)
        self.root = roots.Root("trixie")

    def test_tree_cache_and_tmp_always(self):
        self.assertEqual(shared(self.root.command(["true"])), ["/tmp", str(_TREE), "/srv/cache"])

    def test_what_is_needed_and_each_place_once(self):
        needs = [Path("/var/tmp/a"), Path("/tmp/b"), _TREE / "c", Path("/srv/cache/d"), Path("/var/tmp/a/e")]
        self.assertEqual(shared(self.root.command(["true"], needs=needs)),
                         ["/tmp", str(_TREE), "/srv/cache", "/var/tmp/a"])

    def test_a_server_s_own_files(self):
        environment = servers.Environment("debian13", "", "", Path("/srv/cache/x"), Path("/"), self.root)
        server = Server(environment, "/var/tmp/results/run", plugin="/opt/pgo/ha_tidesdb.so",
                        socket="/run/short/mysqld.sock")
        for command in (server.client(), server.inside(["true"])):
            self.assertEqual(shared(command)[3:], ["/var/tmp/results/run", "/run/short", "/opt/pgo"])


if __name__ == "__main__":
    unittest.main()
