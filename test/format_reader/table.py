"""Table files, their blocks and keys: docs/format/table.md, block.md, key.md."""

import bisect
import struct
from dataclasses import dataclass

import lz4.block
import snappy
import zstandard

from test.format_reader.data import Damaged, Reader, Unsupported, checksum
from test.format_reader.manifest import read_properties

_MAGIC = b"TIDESTBL"
_VERSION = 1
_DATA, _INDEX, _FILTER, _TOP_INDEX, _PROPERTIES = 1, 2, 3, 4, 5
_INTERVAL_ENTRIES_MAX = 16
DELETE, PUT, SINGLE_DELETE = 0, 1, 2


def _decompress(kind, raw_bytes, data):
    if kind == 1:
        return snappy.decompress(data)
    if kind == 2:
        return lz4.block.decompress(data, uncompressed_size=raw_bytes)
    if kind == 3:
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=raw_bytes)
    raise Unsupported(f"compression {kind}")


@dataclass
class Entry:
    key: bytes
    sequence: int
    type: int
    value: bytes


class Block:
    """The contents of a data, index or top index block."""

    def __init__(self, contents, entries_max):
        """entries_max: from one restart to the next."""
        trailer = Reader(contents, len(contents) - 28)
        base = trailer.u64()
        count, restarts, prefix_bytes, buckets, key_bytes_max = [trailer.u32() for _ in range(5)]
        at = len(contents) - 28 - prefix_bytes
        prefix = contents[at:at + prefix_bytes]
        at -= 4 * restarts
        self.restarts = struct.unpack(f"<{restarts}I", contents[at:at + 4 * restarts])
        at -= 8 * restarts
        self.heads = struct.unpack(f"<{restarts}Q", contents[at:at + 8 * restarts])
        at -= buckets
        self.buckets = contents[at:at + buckets]
        self.starts = []  # The numbers of the restarts' entries.
        self.entries = list(self._read(contents[:at], count, base, prefix))
        self._check(prefix, entries_max, key_bytes_max)

    def _read(self, data, count, base, prefix):
        reader, key = Reader(data), prefix
        for number in range(count):
            if self.restarts[len(self.starts):][:1] == (reader.at,):
                self.starts.append(number)
                key = prefix
            shared, unshared, value_bytes, tag = [reader.varint() for _ in range(4)]
            key = key[:shared] + reader.bytes(unshared)
            difference = tag >> 3
            difference = (difference >> 1) ^ -(difference & 1)
            yield Entry(key, base + difference, tag & 7, reader.bytes(value_bytes))
        reader.end()

    def _check(self, prefix, entries_max, key_bytes_max):
        """Checks what block.md says besides the entries: restarts, order, heads, buckets, the longest key."""
        entries = self.entries
        if len(self.starts) != len(self.restarts) or self.starts[:1] != [0][:len(entries)]:
            raise Damaged(f"restart {len(self.starts)} is not where its entry is")
        if any(b - a > entries_max for a, b in zip(self.starts, [*self.starts[1:], len(entries)])):
            raise Damaged(f"more than {entries_max} entries from one restart to the next")
        for before, after in zip(entries, entries[1:]):
            if (before.key, -(before.sequence << 8 | before.type)) >= (after.key, -(after.sequence << 8 | after.type)):
                raise Damaged(f"the key {after.key.hex()} is out of order")
        for head, start in zip(self.heads, self.starts, strict=True):
            entry = entries[start]
            if head != int.from_bytes(entry.key[len(prefix):len(prefix) + 8].ljust(8, b"\0"), "big"):
                raise Damaged("a head does not match its restart")
        if key_bytes_max != max((len(entry.key) for entry in entries), default=0):
            raise Damaged("the longest key has another length")
        wanted = [255] * len(self.buckets)
        for number, entry in enumerate(entries if wanted else []):
            bucket = (checksum(entry.key) & 0xffffffff) * len(wanted) >> 32
            restart = bisect.bisect(self.starts, number) - 1
            wanted[bucket] = restart if wanted[bucket] in (255, restart) else 254
        if bytes(wanted) != self.buckets:
            raise Damaged("the buckets do not match the keys")


class Table:
    """A whole table file; every block that is read is checked."""

    def __init__(self, path, global_sequence=0):
        self.path = path
        self.data = path.read_bytes()
        self.global_sequence = global_sequence
        self.covered = 0  # Bytes of blocks and seals.
        footer = self.data[-56:]
        if len(footer) < 56 or footer[48:] != _MAGIC or footer[36:40] != struct.pack("<I", 56):
            raise Damaged(f"{path.name}: no footer")
        if struct.unpack("<Q", footer[40:48])[0] != checksum(footer[:40]):
            raise Damaged(f"{path.name}: the footer has a wrong checksum")
        if footer[32] > _VERSION:
            raise Unsupported(f"{path.name}: a table of version {footer[32]}")
        numbers = struct.unpack("<4Q", footer[:32])
        self.top = numbers[:2]
        reader = Reader(self._block(*numbers[2:], _PROPERTIES))
        self.family = reader.varint()
        self.properties = read_properties(reader)
        reader.end()
        self.properties_bytes = self.covered

    def _block(self, offset, size, kind):
        """The contents of a block, from its handle."""
        payload, seal = self.data[offset:offset + size], self.data[offset + size:offset + size + 9]
        if len(seal) < 9 or seal[0] >> 4 != kind:
            raise Damaged(f"{self.path.name}: no block of kind {kind} at {offset}")
        if struct.unpack("<Q", seal[1:])[0] != (checksum(payload, seal[:1]) + offset) % 2**64:
            raise Damaged(f"{self.path.name}: the block at {offset} has a wrong checksum")
        self.covered += size + 9
        if not seal[0] & 15:
            return payload
        reader = Reader(payload)
        raw_bytes = reader.varint()
        contents = _decompress(seal[0] & 15, raw_bytes, payload[reader.at:])
        if len(contents) != raw_bytes:
            raise Damaged(f"{self.path.name}: the block at {offset} has another length")
        return contents

    @staticmethod
    def _handles(value, count):
        reader = Reader(value)
        handles = [(reader.varint(), reader.varint()) for _ in range(count)]
        reader.end()
        return handles

    def entries(self):
        """All entries, in order. After the last one, every byte of the file has been checked."""
        self.covered = self.properties_bytes
        count = 0
        for partition in Block(self._block(*self.top, _TOP_INDEX), 1).entries:
            index, filters = self._handles(partition.value, 2)
            bloom = self._block(*filters, _FILTER) if filters != (0, 0) else None
            for separator in Block(self._block(*index, _INDEX), 1).entries:
                block = self._block(*self._handles(separator.value, 1)[0], _DATA)
                for entry in Block(block, _INTERVAL_ENTRIES_MAX).entries:
                    if bloom is not None and not may_have(bloom, entry.key):
                        raise Damaged(f"{self.path.name}: the filter does not have the key {entry.key.hex()}")
                    count += 1
                    yield Entry(entry.key, self.global_sequence or entry.sequence, entry.type, entry.value)
        if self.covered + 56 != len(self.data) or count != self.properties.entries:
            raise Damaged(f"{self.path.name}: bytes outside of all blocks, or a wrong number of entries")


def may_have(bloom, key):
    """Whether a filter block has the key."""
    lines, probes = struct.unpack("<IB", bloom[-5:])
    h = checksum(key)
    start = ((h >> 32) * lines >> 32) * 64
    for _ in range(probes):
        h = h * 0x9e3779b97f4a7c15 % 2**64
        bit = h >> 55
        if not bloom[start + bit // 8] >> bit % 8 & 1:
            return False
    return True
