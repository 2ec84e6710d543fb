"""Tests of lab/server/private_server and profiles: which limit applies, and a profile's sizes."""

import argparse
import unittest
from pathlib import Path
from unittest import mock

from installer.shell import Failed, Unavailable
from lab.runners.hammerdb import engines_options as iterations
from lab.runners.hammerdb import options as hammerdb
from lab.server import private_server, profiles
from lab.server.private_server import Limit, PrivateServer, memory_limit


class NoGroups:
    def __init__(self, *_):
        pass

    def __enter__(self):
        raise Unavailable("no cgroup here")

    def __exit__(self, *_):
        pass


class Groups(NoGroups):
    def __enter__(self):
        return self


class Versions(unittest.TestCase):
    def test_server_and_engines_say_theirs(self):
        server = mock.Mock()
        server.sql.return_value = "server\t11.8.6-MariaDB\nha_tidesdb.so\tTidesDB 1.0\n"
        self.assertEqual(private_server.versions_of(server), {"server": "11.8.6-MariaDB", "ha_tidesdb.so": "TidesDB 1.0"})
        server.sql.assert_called_once_with(private_server.VERSIONS)


class MemoryLimit(unittest.TestCase):
    def limit(self, groups, *arguments):
        with mock.patch.object(private_server, "MemoryGroup", groups):
            return memory_limit(*arguments)

    def test_the_profile_s_is_taken(self):
        self.assertEqual(self.limit(Groups, None, "fair").bytes, 512 << 20)
        self.assertIn("512M, its page cache counted", self.limit(Groups, None, "fair").said)
        self.assertIsNone(self.limit(Groups, None, "seed-000").bytes)
        self.assertIn("Nothing limits", self.limit(Groups, None, None).said)

    def test_the_command_line_goes_before_the_profile(self):
        self.assertEqual(self.limit(Groups, "1G", "fair").bytes, 1 << 30)
        self.assertIsNone(self.limit(Groups, "0", "fair").bytes)
        with self.assertRaisesRegex(Failed, "much: must be a number of bytes"):
            self.limit(Groups, "much", "fair")

    def test_a_limit_that_cannot_be_had_is_said_or_refused(self):
        found = self.limit(NoGroups, None, "fair")
        self.assertIsNone(found.bytes)
        self.assertRegex(found.said, "512M.*is left out: no cgroup here")
        with self.assertRaises(Unavailable):
            self.limit(NoGroups, "512M", "fair")


class Started(unittest.TestCase):
    def test_a_group_is_removed_when_the_server_does_not_start(self):
        group = mock.MagicMock()
        with mock.patch.object(private_server, "MemoryGroup", return_value=group), \
                mock.patch.object(private_server.Server, "start", side_effect=Failed("no")):
            server = PrivateServer(None, Path("nowhere"), Limit(1 << 29, ""))
            with self.assertRaises(Failed):
                server.start()
        group.__enter__.assert_called_once()
        group.remove.assert_called_once()

    def test_an_error_says_that_the_limit_killed_the_server(self):
        for kills in (0, 1):
            group = mock.MagicMock()
            group.usage.return_value.oom_kills = kills
            server = PrivateServer(None, Path("nowhere"), Limit(256 << 20, ""))
            with mock.patch.object(private_server, "MemoryGroup", return_value=group), \
                    mock.patch.object(private_server.Server, "start"), \
                    mock.patch.object(private_server.Server, "log_tail", return_value="last words"), \
                    mock.patch.object(private_server, "check_settings"):
                server.start()
                said = [str(server.failed(Failed("sysbench failed")))]
                server.end()
                said.append(str(server.failed(Failed("sysbench failed"))))
            for text in said:
                self.assertIn("sysbench failed\nThe server's log ends with:\nlast words", text)
                self.assertEqual("at its memory limit of 256 MB" in text.splitlines()[0], kills == 1, text)
            with mock.patch.object(private_server.Server, "log_tail", return_value="last words"):
                again = str(server.failed(Failed(said[1])))
            self.assertEqual((again.count("at its memory limit"), again.count("last words")), (kills, 1))


class Sizes(unittest.TestCase):
    def test_a_seed_s_sizes_are_the_defaults(self):
        args = hammerdb.parse(["--profile", "seed-000", "--private-server"])
        self.assertEqual((args.warehouses, args.tpcc_vu, args.tpcc_build_vu, args.rampup, args.duration, args.settle,
                          args.sync), (40, 8, 8, 1, 2, 5.0, "NONE"))
        args = hammerdb.parse(["--private-server", "--profile=seed-002", "--warehouses", "3", "--sync", "FULL"])
        self.assertEqual((args.warehouses, args.tpcc_vu, args.sync), (3, 8, "FULL"))
        args = iterations.parse(["--profile", "seed-001", "--private-server"])
        self.assertEqual((args.warehouses, args.run_vu, args.build_vu, args.duration), (40, 8, 8, 2))

    def test_fair_has_none(self):
        args = hammerdb.parse(["--private-server"])
        self.assertEqual((args.warehouses, args.sync), (20, "FULL"))

    def test_scaled_down(self):
        self.assertEqual(hammerdb.parse(["--private-server", "--profile", "seed-000", "--scale-down", "10"]).warehouses, 4)
        self.assertEqual(hammerdb.parse(["--warehouses", "3", "--scale-down", "10"]).warehouses, 1)
        args = iterations.parse(["--warehouses", "40", "--scale-down", "10"])
        self.assertEqual(args.warehouses, 4)
        self.assertNotIn("--scale-down", iterations.harness_options(args, "innodb", False))  # It would divide twice.

    def test_every_size_is_an_option_of_its_runner(self):
        for profile in profiles.known():
            for name in profiles.defaults(profile, "hammerdb_runner"):
                hammerdb.parse([f"--{name}", "1"])
        with self.assertRaises(SystemExit), mock.patch.object(argparse.ArgumentParser, "_print_message"):
            hammerdb.parse(["--profile", "none"])
