"""Tests of the reader on the databases in test/compat: what it reads, and that it detects damaged bytes."""

import shutil
import tempfile
import unittest
from pathlib import Path

from test.format_reader import manifest, saved, wal
from test.format_reader.data import Damaged, Unsupported
from test.format_reader.database import Database
from test.format_reader.live import compare, read
from test.format_reader.table import Table

_COMPAT = Path(__file__).resolve().parents[2] / "compat"
_EACH = 5  # Every fifth byte is damaged.


class Reads(unittest.TestCase):
    def test_rows_of_a_server(self):
        for folder in sorted(_COMPAT.glob("server-v*")):
            definitions, rows = saved.load(folder)
            _, found = read(folder / saved.ENGINE_DIRECTORY, definitions)
            self.assertGreater(compare(rows, found), 200, folder)

    def test_a_difference_is_seen(self):
        with self.assertRaises(AssertionError):
            compare({"t": [["1", None]]}, {"t": [["1", "0"]]})

    def test_options_of_each_version_of_the_manifest(self):
        for folder, trigger, entries in (("v1", 0, 1024), ("v2", 9900, 1 << 40)):
            for options in Database(_COMPAT / folder).state.families.values():
                self.assertEqual(options["tombstone_density_trigger"], trigger, folder)
                self.assertEqual(options["tombstone_density_min_entries"], entries, folder)

    def test_each_compression_and_kind_of_file(self):
        database = Database(_COMPAT / "v1")
        self.assertEqual([options["compression"] for options in database.state.families.values()], [0, 1, 2, 3])
        self.assertEqual(database.state.catalog, {b"fixture": b"its value", b"empty": b""})
        for family in database.state.families:
            self.assertEqual({level for level, _ in database.files(family)}, {0, 6})
            self.assertTrue(any(file.global_sequence for _, file in database.files(family)), "of a spilled transaction")
            rows = database.rows(family)
            self.assertEqual(rows, database.rows(1))
            # Stage 3 is only in the log. It removed the keys with remainder 3 modulo 5.
            self.assertTrue(dict(rows)[b"key\x001007"].startswith(b"stage3."))
            self.assertNotIn(b"key\x001003", dict(rows))


class Damage(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.directory = Path(self._folder.name) / "db"
        shutil.copytree(_COMPAT / "v1", self.directory)

    def tearDown(self):
        self._folder.cleanup()

    def outcomes(self, path, look):
        """(place, result of look) for each byte of a file that is damaged in turn; None if look refuses the file."""
        data = bytearray(path.read_bytes())
        for at in range(0, len(data), _EACH):
            data[at] ^= 0x5a
            path.write_bytes(data)
            try:
                yield at, look()
            except (Damaged, Unsupported):
                yield at, None
            data[at] ^= 0x5a
        path.write_bytes(data)

    def test_every_byte_of_a_table_is_checked(self):
        for path in sorted(self.directory.glob("*.tdb"))[-4:]:
            for at, said in self.outcomes(path, lambda path=path: list(Table(path).entries())):
                self.assertIsNone(said, f"{path.name}: {at}")

    def test_a_manifest_loses_its_last_record_at_most(self):
        path = manifest.current(self.directory)
        whole = [payload for _, payload in manifest.records(path.read_bytes())]
        said = [found for _, found in self.outcomes(
            path, lambda: [payload for _, payload in manifest.records(path.read_bytes())])]
        for found in said:
            self.assertIn(found, (None, whole, whole[:-1]))
        self.assertTrue(None in said and whole in said)  # A damaged seal does no harm.

    def test_a_manifest_cut_short(self):
        path = manifest.current(self.directory)
        data = path.read_bytes()
        whole = list(manifest.records(data))
        self.assertEqual(list(manifest.records(data[:whole[-1][0] + 20])), whole[:-1])

    def test_a_log_loses_its_last_records_at_most(self):
        first = manifest.load(manifest.current(self.directory)).first_segment
        path = self.directory / f"{first:06}.wal"
        whole = list(wal.replay(self.directory, first))
        said = [found for _, found in self.outcomes(path, lambda: list(wal.replay(self.directory, first)))]
        self.assertIn(None, said)
        for found in said:
            self.assertTrue(found is None or found == whole[:len(found)])

    def test_current(self):
        for at, said in self.outcomes(self.directory / "CURRENT", lambda: manifest.current(self.directory).name):
            self.assertTrue(said is None or said == manifest.current(_COMPAT / "v1").name, at)

    def test_a_newer_version_is_refused(self):
        path = sorted(self.directory.glob("*.tdb"))[0]
        data = bytearray(path.read_bytes())
        data[-24] = 2
        data[-16:-8] = manifest.checksum(bytes(data[-56:-16])).to_bytes(8, "little")
        path.write_bytes(data)
        with self.assertRaises(Unsupported):
            Table(path)


if __name__ == "__main__":
    unittest.main()
