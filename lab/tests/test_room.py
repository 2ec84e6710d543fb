"""Tests of free disk space: with too little, a study does not begin; if the disk fills later, it ends with a message."""

import contextlib
import errno
import io
import os
import shutil
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from installer import shell
from installer.shell import Failed
from lab.runners.compare import study as compare
from lab.runners.hammerdb import options as hammerdb_options
from lab.runners.hammerdb import study as hammerdb
from lab.runners.iibench import options as iibench_options
from lab.runners.iibench import study as iibench
from lab.runners.sqlbench import settings, target
from lab.study import core, room
from lab.study.journal import Journal
from lab.tests.cases import folder


def of(free):
    return mock.patch.object(shutil, "disk_usage", return_value=SimpleNamespace(free=free))


class Room(unittest.TestCase):
    def setUp(self):
        self.place = folder(self)

    def test_too_little_is_told_with_what_to_do(self):
        with of(10**9):
            room.require(self.place / "not" / "made", 10**9, "x")
            with self.assertRaisesRegex(Failed, r"made: has 1.0 GB free, and .* about 2.5 GB; ask less"):
                room.require(self.place / "not" / "made", 2.5e9, "ask less")

    def looks(self, study, args):
        """Begins a study that must check the disk first; nothing is built or installed."""
        with mock.patch.object(study, "prepare"), mock.patch.object(core.apt, "install"):
            study(args, self.place / "new", {}).go()

    def test_each_runner_looks_first(self):
        args = hammerdb_options.parse(["--private-server", "-e", "innodb", "--warehouses", "100"])
        with of(19 * 10**9), self.assertRaisesRegex(Failed, "takes about 20.4 GB; use --scale-down or --warehouses"):
            self.looks(hammerdb.Study, args)
        args = SimpleNamespace(rows=10**6, warehouses=10, insert_rows=0, engines=["InnoDB", "TidesDB"], sync=["FULL"],
                               rounds=1, work=["oltp_read_write"])
        with of(5 * 10**9), self.assertRaisesRegex(Failed, "takes about 5.6 GB; use --scale-down"):
            self.looks(compare.Study, args)
        (self.place / "study" / "InnoDB").mkdir(parents=True)  # Loaded by an earlier sitting.
        with of(5 * 10**9):
            it = compare.Study(args, self.place / "study", {})
            room.require(it.directory, it.needs_bytes(), it.smaller)
        args = iibench_options.parse(["--generator-profile", "issue-122", "--bulk", "--memory-max", "0"])
        with of(12 * 10**9), self.assertRaisesRegex(Failed, "takes about 12.4 GB; use --scale-down"):
            self.looks(iibench.Study, args)
        servers = target.OwnServers.__new__(target.OwnServers)
        servers._settings, servers._made, servers._locks = settings.read({"TABLE_SIZES": "10000000"}), [], []
        servers._directories, servers._sockets = {"InnoDB": self.place / "data"}, None
        servers._places = SimpleNamespace(data=self.place / "data")
        with of(4 * 10**9), self.assertRaisesRegex(Failed, "takes about 4.8 GB; use SCALE_DOWN"):
            servers.prepare()
        servers.close()

    def test_rows_of_what_varies(self):
        args = iibench_options.parse(["--vary", "load-rows=1000,5000", "--clients", "3", "--scale-down", "10"])
        self.assertEqual(iibench_options.rows_most(args), 1500)

    def test_a_full_disk_is_one_sentence(self):
        def fill():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "facts.json")

        out = io.StringIO()
        with contextlib.redirect_stderr(out), self.assertRaises(SystemExit) as ended:
            shell.main(fill)
        self.assertEqual(ended.exception.code, 1)
        self.assertRegex(out.getvalue(), r"^error: the disk is full \(facts.json\); make room and go on")

    @unittest.skipUnless(Path("/dev/full").exists(), "it takes /dev/full")
    def test_a_journal_on_a_full_disk_is_gone_on_with(self):
        path = self.place / "journal.jsonl"
        with self.assertRaises(OSError), Journal(path, "kind", {}) as journal:
            journal.finish("a", 1)
            journal.begin("b")
            with open("/dev/full", "wb", buffering=0) as full:
                journal._file, whole = full, journal._file
                self.addCleanup(whole.close)
                whole.write(b'{"event": "finish", "st')  # The part that still fitted on the disk.
                whole.close()
                journal.finish("b", 2)
        with Journal(path, "kind", {}) as journal:
            self.assertEqual(journal.results(), {"a": 1})
            self.assertIn("Interrupted during: b", journal.history()[0])
