"""The server with damaged files, a full disk, and wrong directories and options.

It must report the problem and its place, in its error log or to the client, and refuse without guessing or dropping
anything. Each damage is then repaired in place, and everything committed must be there.
Usage: python3 -m test.server.bad_input [unittest's options]. The tests that need their own file system require root.
Environment: see lab/tests/lab_server.py.
"""

import concurrent.futures
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lab.tests import lab_server
from installer.shell import Failed

_IN_OWN_MOUNTS = "TIDESDB_TEST_OWN_MOUNTS"
_OPTIONS = ["--tidesdb-unified-memtable-write-buffer-size=1M", "--innodb-fast-shutdown=0"]
_SUMS = "SELECT COUNT(*), SUM(id), SUM(CRC32(v)) FROM test.t"
_IN_ORDER, _KILLED = "stopped in order", "killed"


class BadInputTest(unittest.TestCase):
    """One server. Two copies of its database, after an orderly shutdown and after a kill, are restored before each test."""

    @classmethod
    def setUpClass(cls):
        cls.server = lab_server.LabServer(lab_server.environment(), _OPTIONS)
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        cls.files = Path(tempfile.mkdtemp(prefix="bad-input-"))
        cls.addClassCleanup(shutil.rmtree, cls.files, True)
        cls.plain = cls.server.options
        cls.home = cls.server.data / "#tidesdb"
        sql = cls.server.sql
        sql("CREATE DATABASE IF NOT EXISTS test; USE test;"
            "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=TidesDB;"
            "INSERT INTO t SELECT seq, REPEAT(MD5(seq), 5) FROM seq_1_to_20000")
        # Now a memtable is full and is flushed before the shutdown ends; these rows stay in the log.
        for number in range(1, 21):
            sql(f"INSERT INTO test.t VALUES ({-number}, 'in the log')")
        # Read nothing before: the first reader saves statistics, but the log's last record must be one of these.
        cls.server.kill()
        cls.keep(_KILLED)
        cls.server.start()
        cls.expected = sql(_SUMS)
        sql("INSERT INTO test.t VALUES (-100, 'x'); DELETE FROM test.t WHERE id = -100")
        cls.server.stop()
        cls.keep(_IN_ORDER)

    @classmethod
    def keep(cls, name):
        shutil.copytree(cls.home, cls.files / name)

    def setUp(self):
        self.server.options = self.plain
        self.put_back(_IN_ORDER)

    def tearDown(self):
        self.server.kill()

    def put_back(self, name):
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self.files / name, self.home)

    def only(self, pattern):
        """The largest file of a kind."""
        found = sorted(self.home.glob(pattern), key=lambda path: path.stat().st_size)
        self.assertTrue(found, f"no {pattern} in {self.home}")
        return found[-1]

    def log_of_killed(self):
        """A killed server's log with the rows; after an orderly shutdown the log is not needed."""
        self.put_back(_KILLED)
        return max(self.home.glob("*.wal"), key=lambda path: path.read_bytes().rfind(b"in the log"))

    def start(self):
        """Starts the server; returns its log of the start."""
        self.begin_log()
        self.server.start()
        return self.said()

    def starts(self):
        """Whether a server starts with the engine; if not, its log gives the reason."""
        self.begin_log()
        try:
            self.server.start()
        except Failed:
            return False
        self.assertTrue(self.has_engine(), self.said())
        return True

    def begin_log(self):
        self.server.kill()
        self.server.error_log.unlink(missing_ok=True)

    def said(self):
        return self.server.error_log.read_text(errors="replace")

    def has_engine(self):
        engines = self.server.sql("SELECT ENGINE FROM information_schema.ENGINES WHERE SUPPORT IN ('YES', 'DEFAULT')")
        return "TidesDB" in engines.split()

    def assert_whole(self):
        self.assertEqual(self.server.sql(_SUMS), self.expected)
        self.assertRegex(self.server.sql("CHECK TABLE test.t EXTENDED"), r"status\s+OK")
        self.server.sql("INSERT INTO test.t VALUES (-1000, 'new'); DELETE FROM test.t WHERE id = -1000")

    def assert_refused(self, *patterns):
        """The server must not start, and must give the reason and a way to start without the engine."""
        self.assertFalse(self.starts(), "the server starts")
        log = self.said()
        errors = "\n".join(line for line in log.splitlines() if "[ERROR] TidesDB" in line)
        for pattern in (*patterns, "tidesdb=OFF in my.cnf"):
            self.assertRegex(errors, pattern, log)

    def refused_until_restored(self, path, damage, *patterns):
        """damage takes the file's bytes and returns the damaged ones."""
        whole = path.read_bytes()
        damaged = damage(whole)
        self.assertNotEqual(whole, damaged)
        path.write_bytes(damaged)
        self.assert_refused(re.escape(path.name), *patterns)
        self.assertEqual(path.read_bytes(), damaged, f"{path.name} was changed")
        path.write_bytes(whole)
        self.start()
        self.assert_whole()

    # A flipped byte.

    def test_flipped_byte_in_the_wal(self):
        log = self.log_of_killed()
        offset = log.read_bytes().index(b"in the log")
        self.refused_until_restored(log, flipped(offset), r"offset \d+", "(?i)corrupt")

    def test_flipped_byte_in_the_last_record_of_a_killed_server(self):
        """It was acknowledged, and SYNCED shows that the log had it."""
        log = self.log_of_killed()
        offset = log.read_bytes().rindex(b"in the log")
        self.refused_until_restored(log, flipped(offset), r"offset \d+", "(?i)corrupt", "SYNCED")

    def test_flipped_byte_in_a_last_record_that_nothing_says_was_synced(self):
        """As in docs/format/wal.md: it is cut off, with a warning."""
        log = self.log_of_killed()
        (self.home / "SYNCED").unlink()
        damage(log, flipped(log.read_bytes().rindex(b"in the log")))
        said = self.start()
        self.assertRegex(said, rf"\[Warning\] TidesDB.*{re.escape(log.name)}.*offset \d+")
        self.assertEqual(self.server.value("SELECT COUNT(*), MIN(id) FROM test.t"), "20019\t-19")

    def test_forced_recovery_opens_what_is_left_of_the_log(self):
        log = self.log_of_killed()
        damage(log, flipped(log.read_bytes().rindex(b"in the log")))
        self.assert_refused("tidesdb_force_recovery=1")
        self.server.options = [*self.plain, "--tidesdb-force-recovery=1"]
        self.assertRegex(self.start(), rf"\[Warning\] TidesDB.*{re.escape(log.name)}.*offset \d+")
        self.assertEqual(self.server.value("SELECT COUNT(*), MIN(id) FROM test.t"), "20019\t-19")
        self.server.stop()
        self.server.options = self.plain
        self.start()
        self.assertEqual(self.server.value("SELECT COUNT(*), MIN(id) FROM test.t"), "20019\t-19")

    def test_without_the_engine_the_server_starts_and_changes_nothing(self):
        damage(self.home / "CURRENT", lambda _: b"")
        self.server.options = [*self.plain, "--tidesdb=OFF"]
        self.start()
        self.assertFalse(self.has_engine())
        with self.assertRaisesRegex(Failed, "TIDESDB|TidesDB"):
            self.server.sql(_SUMS)
        self.server.stop()
        shutil.copy(self.files / _IN_ORDER / "CURRENT", self.home)
        self.server.options = self.plain
        self.start()
        self.assert_whole()

    def test_flipped_byte_in_the_manifest(self):
        manifest = self.only("MANIFEST-*")
        self.refused_until_restored(manifest, flipped(len(manifest.read_bytes()) // 2), r"offset \d+", "(?i)corrupt")

    def test_flipped_byte_in_current(self):
        self.refused_until_restored(self.home / "CURRENT", flipped(10), "(?i)corrupt")

    def test_bytes_in_the_lock_file_do_no_harm(self):
        (self.home / "LOCK").write_bytes(b"\xff" * 100)
        self.start()
        self.assert_whole()

    def test_flipped_byte_in_a_block_of_a_table_file(self):
        self.read_error_until_restored(lambda size: size // 2)

    def test_flipped_byte_in_the_end_of_a_table_file(self):
        self.read_error_until_restored(lambda size: size - 20)

    def read_error_until_restored(self, place):
        """The server starts, because it reads a file only when needed; then reading gives the error."""
        table = self.only("*.tdb")
        whole = table.read_bytes()
        damage(table, flipped(place(len(whole))))
        error = ""
        if self.starts():
            with self.assertRaisesRegex(Failed, "ERROR") as raised:
                self.server.sql(_SUMS)
            error = str(raised.exception)
            self.assertNotRegex(self.server.sql("CHECK TABLE test.t EXTENDED"), r"status\s+OK")
        said = self.said() + error
        self.assertRegex(said, rf"(?i)corrupt.*{re.escape(table.name)}.*offset \d+")
        self.server.stop()
        self.assertTrue(table.exists(), "the damaged file was dropped")
        table.write_bytes(whole)
        self.start()
        self.assert_whole()

    # A truncated file.

    def test_truncated_wal(self):
        log = self.log_of_killed()
        self.refused_until_restored(log, lambda whole: whole[:whole.index(b"in the log") + 3])

    def test_truncated_manifest(self):
        self.refused_until_restored(self.only("MANIFEST-*"), lambda whole: whole[:40])

    def test_truncated_table_file(self):
        self.refused_until_restored(self.only("*.tdb"), lambda whole: whole[:len(whole) // 2])

    def test_empty_current(self):
        self.refused_until_restored(self.home / "CURRENT", lambda _: b"")

    def test_missing_files(self):
        for pattern in ("CURRENT", "MANIFEST-*", "*.tdb", "*.wal"):
            with self.subTest(pattern):
                path = self.log_of_killed() if pattern == "*.wal" else self.only(pattern)
                aside = self.files / "aside"
                shutil.move(path, aside)
                self.assert_refused(re.escape(path.name))
                shutil.move(aside, path)
                self.start()
                self.assert_whole()
                self.server.stop()

    # A file from a newer version.

    def test_newer_manifest(self):
        manifest = self.only("MANIFEST-*")
        version = int.from_bytes(manifest.read_bytes()[8:12], "little") + 1

        def newer(whole):
            header = whole[:8] + version.to_bytes(4, "little")
            return header + xxh3(header) + whole[20:]
        self.refused_until_restored(manifest, newer, f"version {version}")

    def test_newer_wal(self):
        def newer(whole):
            payload = whole[32:32 + int.from_bytes(whole[8:12], "little")]
            frame = whole[8:12] + (2).to_bytes(4, "little") + whole[16:32]
            return xxh3(frame + xxh3(payload)) + frame + whole[32:]
        self.refused_until_restored(min(self.home.glob("*.wal")), newer, "version 2")

    # Directories.

    def test_directory_in_use(self):
        self.start()
        other = lab_server.LabServer(lab_server.environment(), [*_OPTIONS, f"--tidesdb-data-home-dir={self.home}"])
        self.addCleanup(other.__exit__, None, None, None)
        other.initialise()
        self.assertRaises(Failed, other.start)
        self.assertRegex(other.error_log.read_text(), rf"\[ERROR\] TidesDB.*{re.escape(str(self.home))}/LOCK")
        self.assert_whole()

    def test_missing_directory(self):
        missing = self.files / "not" / "there"
        self.server.options = [*self.plain, f"--tidesdb-data-home-dir={missing}"]
        self.assert_refused(re.escape(str(missing)), "No such file or directory")

    @unittest.skipUnless(os.environ.get(_IN_OWN_MOUNTS), "needs root to mount")
    def test_unwritable_directory(self):
        with Mounted("ro,size=1M") as directory:
            self.server.options = [*self.plain, f"--tidesdb-data-home-dir={directory}/db"]
            self.assert_refused(re.escape(f"{directory}/db"), "Read-only file system")

    @unittest.skipUnless(os.environ.get(_IN_OWN_MOUNTS), "needs root to mount")
    def test_database_on_a_read_only_file_system(self):
        with Mounted("size=200M") as directory:
            home = Path(directory) / "db"
            shutil.copytree(self.home, home)
            subprocess.run(["mount", "-o", "remount,ro", directory], check=True)
            self.server.options = [*self.plain, f"--tidesdb-data-home-dir={home}"]
            self.assert_refused(re.escape(str(home)), "Read-only file system")
            subprocess.run(["mount", "-o", "remount,rw", directory], check=True)
            self.start()
            self.assert_whole()
            self.server.stop()

    # Options.

    def test_an_option_that_is_no_value(self):
        self.server.options = [*self.plain, "--tidesdb-unified-memtable-sync-mode=SOMETIMES"]
        said = self.start()
        self.assertRegex(said, r"\[ERROR\].*'SOMETIMES' to 'tidesdb-unified-memtable-sync-mode'")
        self.assertFalse(self.has_engine())

    def test_options_out_of_range(self):
        """As for the server's own variables: cut to the allowed range, with a warning that names variable and value."""
        small = {"max_memory_usage": 1000, "unified_memtable_write_buffer_size": 10,
                 "unified_memtable_sync_interval": 1, "max_open_sstables": 2}
        self.server.options = [*self.plain, *(f"--tidesdb-{name.replace('_', '-')}={value}" for name, value in
                                              small.items())]
        said = self.start()
        for name, value in small.items():
            self.assertRegex(said, rf"\[Warning\].*tidesdb.{name.replace('_', '[-_]')}\b.* {value}\b")
            self.assertGreater(int(self.server.value(f"SELECT @@tidesdb_{name}")), value)
        self.assert_whole()

    # A full disk.

    def on_small_disk(self, directory):
        """The database on a file system that take_all() fills."""
        home = Path(directory) / "db"
        shutil.copytree(self.home, home)
        self.server.options = [*self.plain, f"--tidesdb-data-home-dir={home}"]
        self.start()

    def insert_until_error(self):
        """Inserts until the disk is full. Returns the number of acknowledged rows, and the error."""
        for first in range(100000, 1000000, 1000):
            try:
                self.server.sql("USE test; INSERT INTO t SELECT seq, REPEAT(MD5(seq), 5) "
                                f"FROM seq_{first}_to_{first + 999}")
            except Failed as failed:
                return first - 100000, str(failed)
        self.fail("the disk does not get full")

    def assert_rows(self, inserted):
        self.assertEqual(self.server.value("SELECT COUNT(*) FROM test.t"), str(20020 + inserted))

    def assert_whole_with_room(self, filler, inserted):
        """With room on the disk again, a starting server has everything acknowledged."""
        filler.unlink()
        self.start()
        self.assert_rows(inserted)
        self.server.sql("DELETE FROM test.t WHERE id >= 100000")
        self.assert_whole()
        self.server.stop()

    @unittest.skipUnless(os.environ.get(_IN_OWN_MOUNTS), "needs root to mount")
    def test_full_disk_at_the_wal_and_at_a_flush(self):
        with Mounted("size=400M") as directory:
            self.on_small_disk(directory)
            filler = take_all(directory)
            # The log's segments are preallocated, so the flushes fail first.
            inserted, error = self.insert_until_error()
            self.assertRegex(error, r"ERROR \d+ .*\.wal: No space left on device")
            flush = r"\[ERROR\] TidesDB: flushing a memtable: .*\.tdb.*: No space left on device"
            self.assertRegex(self.said(), flush)
            self.assert_rows(inserted)
            self.server.stop()  # Ends, though nothing can be flushed.
            # It is still full for a starting server: whether it refuses or opens, nothing is lost.
            if self.starts():
                self.assert_rows(inserted)
            self.server.kill()
            self.assert_whole_with_room(filler, inserted)

    @unittest.skipUnless(os.environ.get(_IN_OWN_MOUNTS), "needs root to mount")
    def test_full_disk_with_little_memory_and_a_shutdown_meanwhile(self):
        with Mounted("size=400M") as directory:
            self.on_small_disk(directory)
            self.server.options = [*self.server.options, "--tidesdb-max-memory-usage=16M"]
            self.assertRegex(self.start(), r"\[Warning\] TidesDB: option block_cache_bytes is 15728640 instead of ")
            filler = take_all(directory)
            inserted, error = self.insert_until_error()
            self.assertRegex(error, r"ERROR \d+ .*\.(tdb|wal): No space left on device")
            self.assert_rows(inserted)
            # A client writes during the shutdown.
            with concurrent.futures.ThreadPoolExecutor() as pool:
                refused = pool.submit(self.server.sql, "USE test; INSERT INTO t SELECT seq, REPEAT(MD5(seq), 5) "
                                                       "FROM seq_2000000_to_2200000")
                self.server.stop()
                self.assertIsInstance(refused.exception(), Failed)
            self.assert_whole_with_room(filler, inserted)

    @unittest.skipUnless(os.environ.get(_IN_OWN_MOUNTS), "needs root to mount")
    def test_space_that_comes_back_is_used_without_a_restart(self):
        with Mounted("size=400M") as directory:
            self.on_small_disk(directory)
            filler = take_all(directory)
            inserted, _ = self.insert_until_error()
            filler.unlink()
            self.server.sql("INSERT INTO test.t VALUES (5000000, 'again')")
            self.assert_rows(inserted + 1)
            self.server.sql("DELETE FROM test.t WHERE id >= 100000")
            self.assert_whole()
            self.server.stop()

    @unittest.skipUnless(os.environ.get(_IN_OWN_MOUNTS), "needs root to mount")
    def test_full_disk_at_the_manifest(self):
        with Mounted("size=400M") as directory:
            self.on_small_disk(directory)
            filler = take_all(directory)
            create = "CREATE TABLE test.{} (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=TidesDB"
            made = 0
            with self.assertRaisesRegex(Failed, r"ERROR \d+ .*MANIFEST-\d+.*: No space left on device"):
                while made < 500:
                    self.server.sql(create.format(f"m{made}"))
                    made += 1
            self.assertEqual(self.server.sql(_SUMS), self.expected)
            filler.unlink()
            self.server.sql(create.format("after"))
            self.assert_whole()
            self.start()
            self.assert_whole()
            tables = {"t", "after", *(f"m{number}" for number in range(made))}
            self.assertEqual(set(self.server.sql("SHOW TABLES FROM test").split()), tables)
            for table in tables:
                self.server.sql(f"DROP TABLE IF EXISTS test.{'nothing' if table == 't' else table}")
            self.server.stop()


def flipped(offset):
    """Returns the bytes with one of them flipped."""
    return lambda whole: whole[:offset] + bytes([whole[offset] ^ 0x10]) + whole[offset + 1:]


def damage(path, how):
    path.write_bytes(how(path.read_bytes()))


def xxh3(data):
    """The checksum of our files: XXH3-64, little-endian."""
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return library.XXH3_64bits(data, len(data)).to_bytes(8, "little")


class Mounted:
    """A small file system in memory, visible only to this process and its children."""

    def __init__(self, options):
        self.options = options

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="bad-input-disk-")
        subprocess.run(["mount", "-t", "tmpfs", "-o", self.options, "tmpfs", self.directory], check=True)
        return self.directory

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.directory], check=False)
        os.rmdir(self.directory)


def take_all(directory):
    """A file that takes all free space."""
    filler = Path(directory) / "filler"
    free = os.statvfs(directory)
    with open(filler, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_frsize)
    return filler


def main():
    if lab_server.environment() is None:
        sys.exit("no MariaDB server is installed, and TIDESDB_SERVER names none")
    if os.geteuid() == 0 and not os.environ.get(_IN_OWN_MOUNTS):
        command = ["unshare", "--mount", sys.executable, "-m", "test.server.bad_input", *sys.argv[1:]]
        os.execvpe(command[0], command, {**os.environ, _IN_OWN_MOUNTS: "1"})
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
