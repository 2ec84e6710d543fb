"""tidesdb-backup: what it reads from a connection, and which files of an earlier backup it takes as unchanged."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tools import tidesdb_backup
from tools.tidesdb_backup import QueryReader, Stage, same_file, take_files, without_tls


def packet(number, payload):
    return len(payload).to_bytes(3, "little") + bytes([number]) + payload


class Relayed(unittest.TestCase):
    def test_statements_are_found_however_the_bytes_come(self):
        stream = (packet(1, b"\3handshake") + packet(0, b"\3BACKUP STAGE START") + packet(0, b"\1") + packet(2, b"\3no")
                  + packet(0, b"\3BACKUP STAGE END"))
        for step in [1, 3, 7, len(stream)]:
            reader, found = QueryReader(), []
            for at in range(0, len(stream), step):
                found += reader.add(stream[at:at + step])
            self.assertEqual(["BACKUP STAGE START", "BACKUP STAGE END"], found)


    def test_the_server_offers_no_tls(self):
        def greeting(capabilities):
            return packet(0, b"\n11.8.6-MariaDB\0" + b"\4\0\0\0" + b"scramble" + b"\0" + capabilities + b"rest\0")
        self.assertEqual(greeting(b"\xfe\xf7"), without_tls(greeting(b"\xfe\xff")))
        self.assertEqual(greeting(b"\xfe\xf7"), without_tls(greeting(b"\xfe\xf7")))
        for other in [b"", packet(0, b"\xff\x10\x04Too many connections")]:
            self.assertEqual(other, without_tls(other))


class FakeClient:
    def __init__(self, positions):
        self.positions, self.asked = positions, []

    def rows(self, statement):
        self.asked.append(statement)
        if statement == "SHOW MASTER STATUS":
            return [["binlog.1", self.positions.pop(0), "", ""]]
        return [["0-1-1"]]


class Stages(unittest.TestCase):
    def test_the_checkpoint_is_taken_once_before_the_end(self):
        client = FakeClient(["5", "5"])
        stage = Stage(client, "/engine/copy")
        for statement in ["SELECT 1", "BACKUP STAGE BLOCK_COMMIT", "backup stage end", "BACKUP STAGE END"]:
            stage.before(statement)
        self.assertEqual({"file": "binlog.1", "offset": 5, "gtid": "0-1-1"}, stage.position)
        self.assertEqual(1, client.asked.count("SET GLOBAL tidesdb_checkpoint_dir = '/engine/copy'"))
        self.assertIsNone(stage.error)

    def test_not_where_commits_were_not_blocked(self):
        stage = Stage(FakeClient([]), "/engine/copy")
        stage.before("BACKUP STAGE END")
        self.assertIsNone(stage.position)

    def test_a_binary_log_that_moves_is_an_error(self):
        stage = Stage(FakeClient(["5", "6"]), "/engine/copy")
        stage.before("BACKUP STAGE BLOCK_COMMIT")
        stage.before("BACKUP STAGE END")
        self.assertIn("moved", str(stage.error))
        self.assertIsNone(stage.position)


class Starts(unittest.TestCase):
    """A mariadb-backup that loses its place in InnoDB's log is started again."""

    def take(self, *ends):
        with tempfile.TemporaryDirectory() as directory, mock.patch.object(tidesdb_backup, "say"):
            target, checkpoint = Path(directory) / "backup", Path(directory) / "engine" / "backup-1"
            self.starts = 0

            def once(*_):
                self.starts += 1
                for half in [target / "server", checkpoint]:
                    half.mkdir(parents=True)  # Fails if the last start left it behind.
                if isinstance(ends[self.starts - 1], Exception):
                    raise ends[self.starts - 1]
                return ends[self.starts - 1]

            with mock.patch.object(tidesdb_backup, "_take_both_once", once):
                return tidesdb_backup._take_both(None, None, None, target, checkpoint)

    LOST = tidesdb_backup.Failed("failed (exit 1):\nWas only able to copy log from 45616 to 118735, not 296504; try ...")

    def test_it_starts_again_from_nothing(self):
        self.assertEqual("stage", self.take(self.LOST, self.LOST, "stage"))

    def test_three_times_at_most(self):
        with self.assertRaisesRegex(tidesdb_backup.Failed, "118735"):
            self.take(self.LOST, self.LOST, self.LOST, "stage")

    def test_other_errors_end_it(self):
        with self.assertRaisesRegex(tidesdb_backup.Failed, "disk"):
            self.take(tidesdb_backup.Failed("the disk is full"), "stage")
        self.assertEqual(1, self.starts)


class Files(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.base = Path(holder.name)
        for name in ["now", "old"]:
            (self.base / name).mkdir()

    def file(self, folder, name, data, mtime_ns=1):
        path = self.base / folder / name
        path.write_bytes(data)
        os.utime(path, ns=(mtime_ns, mtime_ns))
        return path

    def test_the_same_file_has_size_time_and_end(self):
        now = self.file("now", "000001.tdb", b"abc")
        self.assertTrue(same_file(now, self.file("old", "1", b"abc")))
        self.assertFalse(same_file(now, self.file("old", "2", b"abcd")))
        self.assertFalse(same_file(now, self.file("old", "3", b"abd")))
        self.assertFalse(same_file(now, self.file("old", "4", b"abc", mtime_ns=2)))

    def test_table_files_are_linked_and_the_rest_is_copied(self):
        self.file("now", "000001.tdb", b"same")
        self.file("old", "000001.tdb", b"same")
        self.file("now", "000002.tdb", b"another")
        self.file("old", "000002.tdb", b"life....")
        self.file("now", "000003.wal", b"log")
        self.file("old", "000003.wal", b"log")
        figures = take_files(self.base / "now", self.base / "to", self.base / "old", "TidesDB")
        self.assertEqual({"files": 3, "bytes": 14, "linked_from_base": 1, "copied_bytes": 3}, figures)
        self.assertEqual(b"another", (self.base / "to" / "000002.tdb").read_bytes())
        self.assertTrue((self.base / "to" / "000001.tdb").samefile(self.base / "old" / "000001.tdb"))
        self.assertFalse((self.base / "to" / "000003.wal").samefile(self.base / "now" / "000003.wal"))

    def test_an_unfinished_backup_is_none(self):
        with self.assertRaisesRegex(tidesdb_backup.Failed, "not a finished backup"):
            tidesdb_backup.read_facts(self.base)


if __name__ == "__main__":
    unittest.main()
