"""Tests of the runners' command lines: options that cannot work are refused by name before anything starts."""

import contextlib
import io
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from installer.shell import TREE, Failed
from lab.runners.compare import __main__ as compare
from lab.runners.hammerdb import engines_options as engines
from lab.runners.hammerdb import options as hammerdb
from lab.runners.iibench import options as iibench


_ALL = (compare._arguments, engines.parse, hammerdb.parse, iibench.parse)


class Refused(unittest.TestCase):
    def refused(self, parse, argv, said):
        """Checks that argv is refused, by argparse (exit code 2) or by Failed (1)."""
        out = io.StringIO()
        try:
            with contextlib.redirect_stderr(out):
                parse(argv)
        except Failed as error:
            out.write(str(error))
        except SystemExit as error:
            self.assertEqual(error.code, 2)
        self.assertRegex(out.getvalue(), said, argv)

    def test_a_part_of_nothing(self):
        for parse in _ALL:
            for value in ("0", "-1", "nan", "inf", "ten"):
                self.refused(parse, ["--scale-down", value], "--scale-down: ")

    def test_an_option_that_is_half_spelt(self):
        # If accepted, "--prof seed-000" would apply the profile's settings without its sizes.
        for parse in _ALL:
            self.refused(parse, ["--prof", "seed-000"], "unrecognized arguments: --prof")

    def test_seconds_below_zero(self):
        for parse in (engines.parse, hammerdb.parse, iibench.parse):
            for value in ("-5", "nan"):
                self.refused(parse, ["--settle", value], "--settle: ")
            self.refused(parse, ["--settle", "abc"], "--settle: 'abc' is not a number")
        for value in ("-1", "nan", "inf"):
            self.refused(hammerdb.parse, ["--duration", value], "--duration: ")

    def test_nothing_to_measure(self):
        for name in ("--rounds", "--rows", "--threads", "--users", "--seconds", "--tpcc-seconds"):
            for value in ("0", "-1", "x"):
                self.refused(compare._arguments, [name, value], f"{name}: ")
        self.refused(compare._arguments, ["--sync", "FOO"], "--sync: FOO is not known; known are NONE, FULL")
        self.refused(compare._arguments, ["--engines", "MyISAM"], "--engines: MyISAM is not known")
        self.refused(compare._arguments, ["--engines", ","], "nothing to measure")
        self.refused(compare._arguments, ["--work", "", "--warehouses", "0"], "nothing to measure")
        self.assertEqual(compare._arguments(["--engines", "InnoDB,TidesDB,InnoDB"]).engines, ["InnoDB", "TidesDB"])

    def test_what_is_not_here(self):
        for names in ("", ",", "a.csv,"):  # An unset variable must not start a benchmark.
            self.refused(hammerdb.parse, ["-P", names], "-P .*: give names of CSVs")
        for name in ("mysql", "SYS", "information_schema"):
            self.refused(hammerdb.parse, ["--tpcc-db", name], "--tpcc-db: .* is the server's own database")
        self.refused(hammerdb.parse, ["--tpcc-db", "a'b"], "is not a database name")
        self.refused(hammerdb.parse, ["--tpcc-vu", "0"], "0 is not at least 1")
        self.refused(iibench.parse, ["--vary", "i1-batch=10,x"], "i1-batch=x: must be a whole number from 1")

    def test_what_only_a_server_that_is_started_can_be_told(self):
        for parse, socket in ((engines.parse, ["--socket", "/x"]), (hammerdb.parse, ["-S", "/x"]),
                              (hammerdb.parse, ["--host", "h"]), (hammerdb.parse, ["-H", "x", "--port", "3307"]),
                              (hammerdb.parse, [])):
            for option, value in (("--memory-max", "512M"), ("--memory-max", "0"), ("--sync", "FULL"),
                                  ("--profile", "fair"), ("--profile", "seed-000")):
                self.refused(parse, [*socket, option, value],
                             f"^{option}: a server that runs already keeps .*; --private-server starts a server")
            args = parse(socket)
            self.assertEqual((args.memory_max, args.sync, args.profile), (None, None, None))
            args = parse(["--private-server", "--memory-max", "1G"])
            self.assertEqual((args.memory_max, args.sync, args.profile), ("1G", "FULL", "fair"))
        build = ["--build", "a", "server=debian12", "engine=InnoDB"]
        self.assertEqual(hammerdb.parse([*build, "--memory-max", "1G"]).memory_max, "1G")
        self.assertEqual(hammerdb.parse([*build, "--profile", "seed-000"]).sync, "NONE")
        # The check is left to the resumed run, which refuses options that were set when it began.
        self.assertEqual(hammerdb.parse(["--resume", "x", "--sync", "NONE"]).sync, "NONE")
        self.assertEqual(engines.parse(["--resume", "x", "--sync", "NONE"]).sync, "NONE")

    def test_a_threshold_that_is_no_number(self):
        with mock.patch.dict(os.environ, {"INNODB_PARTITION_THRESHOLD": "many"}):
            self.refused(hammerdb.parse, [], "INNODB_PARTITION_THRESHOLD=many: must be a number of warehouses")


class Doors(unittest.TestCase):
    """The scripts by which the runners are called."""

    def test_each_by_a_link_from_elsewhere(self):
        doors = sorted((TREE / "lab").glob("*.sh"))
        self.assertGreaterEqual(len(doors), 7)
        with tempfile.TemporaryDirectory() as place:
            for door in doors:
                (Path(place) / door.name).symlink_to(door)
                done = subprocess.run([f"./{door.name}", "--help"], cwd=place, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, door.name + done.stderr)

    def test_seed_002_s_is_the_same_door_as_hammerdb_s(self):
        said = [subprocess.run([TREE / "lab" / name, "-e", "postgres"], capture_output=True, text=True, check=False)
                for name in ("run_tpcc_mariadb.sh", "hammerdb_runner.sh")]
        self.assertIn("-e postgres: PostgreSQL is not supported", said[0].stderr)
        self.assertEqual((said[0].stderr, said[0].returncode), (said[1].stderr, said[1].returncode))
