"""CURRENT and the manifest: docs/format/manifest.md."""

import struct
from dataclasses import dataclass, field

from test.format_reader.data import Damaged, Reader, Unsupported, checksum

_MAGIC = b"tTDBMNST"
_VERSION = 2


@dataclass
class Properties:
    """A table file's properties, named as in docs/format."""

    entries: int
    keys: int
    tombstones: int
    raw_key_bytes: int
    raw_value_bytes: int
    data_blocks: int
    sequence_min: int
    sequence_max: int
    tombstone_sequence_min: int
    key_min: bytes
    key_max: bytes


def read_properties(reader):
    return Properties(*[reader.varint() for _ in range(9)], reader.counted(), reader.counted())


@dataclass
class File:
    number: int
    bytes: int
    global_sequence: int
    properties: Properties


@dataclass
class State:
    """The state after all records of a manifest."""

    families: dict = field(default_factory=dict)  # By id, the options by name.
    catalog: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)  # By family, level and number.
    next_file: int = 0
    next_family: int = 0
    flushed_sequence: int = 0
    first_segment: int = 0


def current(directory):
    """The path of the manifest in use."""
    line = (directory / "CURRENT").read_bytes()
    name, space, digits = line.rstrip(b"\n").partition(b" ")
    if not space or digits != b"%016x" % checksum(name):
        raise Damaged("CURRENT: wrong checksum")
    return directory / name.decode()


def records(data):
    """(offset, payload) of each record, without a torn tail."""
    reader = Reader(data)
    if reader.bytes(8) != _MAGIC:
        raise Damaged("no manifest: wrong magic")
    version = reader.u32()
    if reader.u64() != checksum(data[:12]):
        raise Damaged("the header has a wrong checksum")
    if version > _VERSION:
        raise Unsupported(f"a manifest of version {version}")
    while reader.left():
        offset = reader.at
        payload = _record(data, offset)
        if payload is None:
            if any(_record(data, at) or _seal(data, at, offset) for at in range(offset + 1, len(data))):
                raise Damaged(f"the record at {offset} is damaged")
            return
        yield offset, payload
        reader.at = offset + 16 + len(payload)
        if _seal(data, reader.at, offset) or reader.left() == 16:
            reader.at += 16


def _record(data, offset):
    """The payload, or None if there is no whole record here."""
    head = data[offset:offset + 16]
    if len(head) < 16 or head[:4] != b"TREC":
        return None
    length, stored = struct.unpack("<IQ", head[4:])
    payload = data[offset + 16:offset + 16 + length]
    of_payload = struct.pack("<Q", checksum(payload))
    if not length or len(payload) < length or stored != checksum(head[:8], struct.pack("<Q", offset), of_payload):
        return None
    return payload


def _seal(data, at, offset):
    """Whether the seal of the record at offset is at this place."""
    seal = data[at:at + 16]
    return seal[:4] == b"SEAL" and seal[8:] == struct.pack("<Q", checksum(seal[:8], struct.pack("<Q", offset)))


def load(path):
    """The state at the end of a manifest."""
    state = State()
    for _, payload in records(path.read_bytes()):
        _apply(state, _fields(Reader(payload)))
    return state


def _options(reader):
    options = Reader(reader.counted())
    found = {
        "name": options.counted(), "compression": options.u8(), "block_bytes": options.varint(),
        "bloom_filter": options.u8(), "bloom_fpr": options.f64(), "level0_file_trigger": options.varint(),
        "level_size_ratio": options.varint(), "target_file_bytes": options.varint()}
    # Version 1 ends here.
    newer = options.left() > 0
    found["tombstone_density_trigger"] = options.varint() if newer else 0
    found["tombstone_density_min_entries"] = options.varint() if newer else 1024
    return found


_FIELDS = {
    1: lambda r: (r.varint(),),
    2: lambda r: (r.varint(), _options(r)),
    3: lambda r: (r.counted(),),
    4: lambda r: (r.counted(), r.counted()),
    5: lambda r: (r.varint(), r.varint(), r.varint()),
    6: lambda r: (r.varint(), r.varint(), File(r.varint(), r.varint(), r.varint(), read_properties(r))),
    7: lambda r: (r.varint(),),
    8: lambda r: (r.varint(),),
    9: lambda r: (r.varint(),),
    10: lambda r: (r.varint(),),
}


def _fields(reader):
    while reader.left():
        number = reader.varint()
        if number not in _FIELDS:
            raise Unsupported(f"a manifest's field {number}")
        yield number, _FIELDS[number](reader)


def _apply(state, fields):
    """All fields of a record take effect together, in this order."""
    for number, values in sorted(fields, key=lambda item: item[0]):
        if number == 1:
            del state.families[values[0]]
            state.files = {key: file for key, file in state.files.items() if key[0] != values[0]}
        elif number == 2:
            state.families[values[0]] = values[1]
        elif number == 3:
            state.catalog.pop(values[0], None)
        elif number == 4:
            state.catalog[values[0]] = values[1]
        elif number == 5:
            del state.files[values]
        elif number == 6:
            state.files[(values[0], values[1], values[2].number)] = values[2]
        else:
            name = {7: "next_file", 8: "next_family", 9: "flushed_sequence", 10: "first_segment"}[number]
            setattr(state, name, values[0])
