"""Encodings common to all of docs/format: little-endian numbers, varints, length-prefixed bytes, XXH3-64."""

import struct

import xxhash


class Damaged(Exception):
    """The bytes are not what docs/format says."""


class Unsupported(Exception):
    """The bytes have a version that docs/format does not describe."""


def checksum(*parts):
    return xxhash.xxh3_64_intdigest(b"".join(parts))


class Reader:
    """Reads values from the front of some bytes. Raises Damaged if there are too few."""

    def __init__(self, data, at=0):
        self.data = data
        self.at = at

    def left(self):
        return len(self.data) - self.at

    def bytes(self, count):
        if count > self.left():
            raise Damaged(f"expected {count} bytes at {self.at} of {len(self.data)}")
        self.at += count
        return bytes(self.data[self.at - count:self.at])

    def _number(self, form):
        return struct.unpack("<" + form, self.bytes(struct.calcsize(form)))[0]

    def u8(self):
        return self._number("B")

    def u16(self):
        return self._number("H")

    def u32(self):
        return self._number("I")

    def u64(self):
        return self._number("Q")

    def f64(self):
        return self._number("d")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise Damaged(f"a varint without an end at {self.at}")

    def counted(self):
        """A varint length, and that many bytes."""
        return self.bytes(self.varint())

    def end(self):
        if self.left():
            raise Damaged(f"{self.left()} bytes more than expected")
