"""install.sh: its record of changes, its options, and what it writes."""

import os
import shutil
import tempfile
import unittest
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from unittest import mock

from installer import headers
from installer.install import options
from installer.shell import Failed, Unavailable, run
from installer.steps import allocator, config, distribution
from installer.steps.record import Record, _write


class Killed(BaseException):
    """Acts like kill -9: the run does nothing after it."""


def _dies_unless(name, write=_write):
    """Wraps write (or another function of a path): raises Killed for files with another name."""
    def dies(path, *how):
        if path.name != name:
            raise Killed
        write(path, *how)
    return dies


class Recorded(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.base = Path(self.temporary.name)
        self.path = self.base / "etc" / "d" / "ours.cnf"
        self.theirs = self.base / "theirs.cnf"
        self.theirs.write_bytes(b"theirs")

    def record(self):
        """The record as a new run reads it."""
        return Record(self.base / "record")

    def test_put_is_idempotent_and_remove_leaves_nothing(self):
        self.assertTrue(self.record().put(self.path, b"1"))
        self.assertFalse(self.record().put(self.path, b"1"))
        self.assertTrue(self.record().put(self.path, b"2"))
        self.assertEqual(self.path.read_bytes(), b"2")
        record = self.record()
        self.assertTrue(record.remove(self.path))
        self.assertFalse(record.remove(self.path))
        record.forget()
        self.assertEqual(sorted(p.name for p in self.base.iterdir()), ["theirs.cnf"])

    def test_what_was_there_comes_back(self):
        self.theirs.chmod(0o600)
        self.record().put(self.theirs, b"ours")
        self.record().put(self.theirs, b"ours again")
        record = self.record()
        record.remove(self.theirs)
        record.forget()
        self.assertEqual(self.theirs.read_bytes(), b"theirs")
        self.assertEqual(self.theirs.stat().st_mode & 0o777, 0o600)

    def test_the_same_bytes_from_somebody_else_are_not_ours(self):
        record = self.record()
        self.assertFalse(record.put(self.theirs, b"theirs"))
        self.assertFalse(record.remove(self.theirs))
        self.assertTrue(self.theirs.exists())

    def test_a_change_by_hand_is_kept_or_copied(self):
        self.record().put(self.path, b"1")
        self.path.write_bytes(b"by hand")
        record = self.record()
        self.assertFalse(record.put(self.path, b"2", keep_edited=True))
        self.assertEqual(self.path.read_bytes(), b"by hand")
        self.assertIn("stays as it is", record.notes[0])
        self.assertTrue(record.put(self.path, b"2"))
        copies = list((self.base / "record" / "copies").iterdir())
        self.assertEqual([c.read_bytes() for c in copies], [b"by hand"])
        record.remove(self.path)
        self.assertFalse(self.path.exists())

    def test_removing_what_was_changed_by_hand_copies_it(self):
        self.record().put(self.path, b"1")
        self.path.write_bytes(b"by hand")
        record = self.record()
        record.remove(self.path)
        record.forget()
        self.assertFalse(self.path.exists())
        copies = list((self.base / "record" / "copies").iterdir())
        self.assertEqual([c.read_bytes() for c in copies], [b"by hand"])

    def test_roll_back_undoes_this_run_only(self):
        first = self.record()
        first.put(self.path, b"1")
        first.facts["allocator"] = "system"
        first.save()
        second = self.record()
        second.facts["allocator"] = "jemalloc"
        second.put(self.path, b"2")
        second.put(self.theirs, b"ours")
        second.put(self.base / "new" / "file", b"x")
        second.remove(self.path)
        second.roll_back()
        self.assertEqual(self.path.read_bytes(), b"1")
        self.assertEqual(self.theirs.read_bytes(), b"theirs")
        self.assertFalse((self.base / "new").exists())
        third = self.record()
        self.assertEqual(list(third.files), [str(self.path)])
        self.assertEqual(third.facts["allocator"], "system")

    def killed_before_the_write(self, path, data, **how):
        with mock.patch("installer.steps.record._write", _dies_unless("record.json")), self.assertRaises(Killed):
            self.record().put(path, data, **how)

    def test_killed_before_the_write_it_is_not_edited_by_hand(self):
        self.record().put(self.path, b"1")
        self.killed_before_the_write(self.path, b"2", keep_edited=True)
        record = self.record()
        self.assertTrue(record.put(self.path, b"2", keep_edited=True))
        self.assertEqual((self.path.read_bytes(), record.notes), (b"2", []))
        record.save()
        self.path.write_bytes(b"1")  # Somebody restores the earlier contents by hand.
        self.assertFalse(self.record().put(self.path, b"3", keep_edited=True))

    def test_killed_in_the_write_nothing_is_left(self):
        with mock.patch("installer.steps.record.os.replace", _dies_unless("record.json.new", os.replace)), \
                self.assertRaises(Killed):
            self.record().put(self.path, b"1")
        self.assertEqual([path.name for path in self.path.parent.iterdir()], ["ours.cnf.new"])
        record = self.record()
        record.remove(self.path)
        self.assertFalse(self.path.parent.exists())

    def test_killed_before_the_first_write_theirs_is_theirs(self):
        self.killed_before_the_write(self.theirs, b"ours")
        record = self.record()
        self.assertTrue(record.put(self.theirs, b"ours", keep_edited=True))
        record.remove(self.theirs)
        self.assertEqual(self.theirs.read_bytes(), b"theirs")
        self.assertEqual(len(list((self.base / "record" / "copies").iterdir())), 1)

    def test_killed_while_it_rolls_back_it_is_not_edited_by_hand(self):
        first = self.record()
        first.put(self.path, b"1")
        first.save()
        second = self.record()
        second.put(self.path, b"2")
        with mock.patch("installer.steps.record._write", _dies_unless("ours.cnf")), self.assertRaises(Killed):
            second.roll_back()
        self.assertTrue(self.record().put(self.path, b"3", keep_edited=True))
        second = self.record()
        second.put(self.path, b"4")
        with mock.patch("installer.steps.record._write", _dies_unless("record.json")), self.assertRaises(Killed):
            second.roll_back()
        self.assertTrue(self.record().put(self.path, b"5", keep_edited=True))

    def test_a_link_and_an_owner_come_back(self):
        link = self.base / "link.cnf"
        link.symlink_to("theirs.cnf")
        dangling = self.base / "dangling.cnf"
        dangling.symlink_to("nowhere")
        if os.geteuid() == 0:
            os.chown(self.theirs, 1234, 1235)
        owner = (self.theirs.stat().st_uid, self.theirs.stat().st_gid)
        for undo in (Record.roll_back, lambda record: [record.remove(path) for path in sorted(record.files)]):
            record = self.record()
            for path in (link, dangling, self.theirs):
                record.put(path, b"ours")
                self.assertFalse(path.is_symlink())
            undo(record)
            self.assertEqual(os.readlink(link), "theirs.cnf")
            self.assertEqual(os.readlink(dangling), "nowhere")
            self.assertEqual(self.theirs.read_bytes(), b"theirs")
            self.assertEqual((self.theirs.stat().st_uid, self.theirs.stat().st_gid), owner)

    def test_ours_is_known_without_a_record(self):
        self.path.parent.mkdir(parents=True)
        self.path.write_bytes(b"# ours, edited")
        self.theirs.write_bytes(b"# ours")
        record = self.record()
        self.assertFalse(record.put(self.path, b"# ours", keep_edited=True, mark=b"# ours"))
        self.assertIn("stays as it is", record.notes[0])
        self.assertFalse(record.put(self.theirs, b"# ours", mark=b"# ours"))
        again = self.record()
        for path in (self.path, self.theirs):
            again.remove(path)
            self.assertFalse(path.exists())
        self.theirs.write_bytes(b"an older one of ours")
        record = self.record()
        self.assertTrue(record.put(self.theirs, b"new", mark=b""))
        record.remove(self.theirs)
        self.assertFalse(self.theirs.exists())

    def test_a_copy_that_is_gone_is_said(self):
        self.record().put(self.theirs, b"ours")
        shutil.rmtree(self.base / "record" / "copies")
        record = self.record()
        self.assertTrue(record.remove(self.theirs))
        self.assertIn("does not come back", record.notes[0])
        self.assertFalse(self.record().files)

    def test_a_damaged_record_is_refused_with_a_way_out(self):
        (self.base / "record").mkdir()
        for text in ("", '{"format": 1, "fil', "[]", "{}"):
            (self.base / "record" / "record.json").write_text(text)
            with self.assertRaisesRegex(Failed, "is damaged.*move it away"):
                self.record()

    def test_roll_back_after_a_file_that_could_not_be_put(self):
        record = self.record()
        record.put(self.path, b"1")
        with self.assertRaises(NotADirectoryError):
            record.put(self.theirs / "lib" / "file", b"x")
        record.roll_back()
        self.assertFalse(self.path.parent.exists())
        self.assertEqual((record.files, record.directories), ({}, []))

    def test_a_record_of_another_format_is_refused(self):
        (self.base / "record").mkdir()
        (self.base / "record" / "record.json").write_text('{"format": 99}')
        with self.assertRaises(Failed):
            self.record()


class Options(unittest.TestCase):
    def refused(self, *argv):
        error = StringIO()
        with redirect_stderr(error), self.assertRaises(SystemExit):
            options.parse(list(argv))
        return error.getvalue()

    def test_defaults(self):
        args = options.parse([])
        self.assertIsNone(args.allocator)
        self.assertGreaterEqual(args.jobs, 1)

    def test_refused_by_name(self):
        self.assertIn("object stores", self.refused("--s3"))
        self.assertIn("source tree", self.refused("--tidesdb-version", "9.0.9"))
        self.assertIn("--allocator", self.refused("--uninstall", "--allocator", "jemalloc"))
        self.assertIn("--jobs", self.refused("--jobs", "0"))
        self.assertIn("hoard", self.refused("--allocator", "hoard"))


class Config(unittest.TestCase):
    def test_sizes_fit_the_machine(self):
        gib = 1024 * config.MIB
        for memory in [gib // 4, gib // 2, gib, 2 * gib, 3 * gib, 4 * gib, 8 * gib, 64 * gib, 300 * gib]:
            # The engine's memory plan (src/db/options_check.cc) does not shrink them.
            self.assertLessEqual(2 * config.memtable_mib(memory) * config.MIB, memory // 2 // 4, memory)
        self.assertEqual(config.memtable_mib(8 * gib), 128)
        self.assertEqual(config.memtable_mib(gib), 64)
        self.assertEqual(config.memtable_mib(gib // 4), 16)

    def test_the_servers_starts_without_the_engine(self):
        for line in config.server_config(1 << 33).splitlines():
            if "tidesdb_" in line and not line.startswith("#"):
                self.assertTrue(line.startswith("loose_"), line)

    def test_ours_is_known_by_its_first_line(self):
        for text in (config.server_config(1 << 33), config.allocator_config("/l.so"), config.allocator_unit("/l.so")):
            self.assertTrue(text.startswith(config.MARK))

    def test_a_cgroup_limit_counts(self):
        with tempfile.TemporaryDirectory() as directory:
            limit = Path(directory) / "memory.max"
            limit.write_text("max\n")
            machine = config.memory_bytes([limit])
            limit.write_text("104857600\n")
            self.assertEqual(config.memory_bytes([limit]), 104857600)
            self.assertGreater(machine, 104857600)


MAPS = """55d0c0000000-55d0c0100000 r--p 00000000 fe:00 1234   /usr/sbin/mariadbd
7f0000000000-7f0000100000 r-xp 00000000 fe:00 99   {library}
7f0000200000-7f0000300000 rw-p 00000000 00:00 0
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0    [stack]
"""


class Allocator(unittest.TestCase):
    def test_maps(self):
        for library, name in [("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", "jemalloc"),
                              ("/usr/lib/x86_64-linux-gnu/libmimalloc.so.2.0", "mimalloc"),
                              ("/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4.5.9", "tcmalloc"),
                              ("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2 (deleted)", "jemalloc"),
                              ("/usr/lib/x86_64-linux-gnu/libc.so.6", "system")]:
            self.assertEqual(allocator.in_maps(MAPS.format(library=library)), name)

    def test_library_of_a_package(self):
        paths = ["/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal_debug.so.4",
                 "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4.5.9",
                 "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"]
        self.assertEqual(allocator.find_library(paths), paths[2])
        with self.assertRaises(Failed):
            allocator.find_library(["/usr/share/doc/libjemalloc2/copyright"])

    def test_the_package_that_the_release_has(self):
        self.assertEqual(allocator.choose_package("mimalloc", {"libmimalloc2.0"}.__contains__), "libmimalloc2.0")
        with self.assertRaises(Unavailable):
            allocator.choose_package("mimalloc", {"libjemalloc2"}.__contains__)


class Distribution(unittest.TestCase):
    def test_versions(self):
        self.assertEqual(distribution.version_number("1:10.11.18-0+deb12u1"), "10.11.18")
        self.assertEqual(distribution.version_number("1:11.8.6+maria~deb13"), "11.8.6")
        with self.assertRaises(Failed):
            distribution.version_number("unknown")

    def test_supported(self):
        for version in ["10.11.2", "11.4.5", "11.8.6"]:
            distribution.check_supported(version)
        for version in ["10.6.22", "12.1.2", "11.9.0"]:
            with self.assertRaises(Unavailable):
                distribution.check_supported(version)

    def test_a_tarball_of_another_version_is_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            tree = Path(directory) / "mariadb-10.11.18"
            deeper = tree / "storage" / "columnstore"
            deeper.mkdir(parents=True)
            (deeper / "VERSION").write_text("COLUMNSTORE_VERSION_MAJOR=25\n")
            (tree / "VERSION").write_text("MYSQL_VERSION_MAJOR=10\nMYSQL_VERSION_MINOR=11\nMYSQL_VERSION_PATCH=18\n")
            tarball = Path(directory) / "source.tar.gz"
            # As in MariaDB's tarball, a deeper VERSION file comes first.
            run(["tar", "-czf", tarball, "-C", directory, f"{tree.name}/storage", f"{tree.name}/VERSION"])
            headers.check_version(tarball, "10.11.18")
            with self.assertRaises(Failed):
                headers.check_version(tarball, "10.11.19")


if __name__ == "__main__":
    unittest.main()
