"""The write-ahead log: docs/format/wal.md."""

import struct
from dataclasses import dataclass

from test.format_reader.data import Damaged, Reader, Unsupported, checksum
from test.format_reader.manifest import File, Properties

_VERSION = 1
_MAGIC = b"TIDESWAL"
START, SYNC_MARK, BATCH, INGEST, PREPARE, COMMIT, ROLLBACK = 1, 2, 3, 4, 5, 6, 7


@dataclass
class Record:
    segment: int
    offset: int
    synced: tuple  # (segment, offset): everything before it was durable.
    kind: int
    sequence: int
    body: object  # Depends on kind: see _body.
    end: int


def _record(data, segment, offset):
    """The record there, or None if there is no valid one."""
    frame = data[offset:offset + 32]
    if len(frame) < 32:
        return None
    stored, length, version, own_segment, own_offset, synced, synced_offset = struct.unpack("<QIIIIII", frame)
    payload = data[offset + 32:offset + 32 + length]
    if own_segment != segment or own_offset * 8 != offset or length < 9 or len(payload) < length:
        return None
    if stored != checksum(frame[8:], struct.pack("<Q", checksum(payload))):
        return None
    if version > _VERSION:
        raise Unsupported(f"a record of version {version}")
    reader = Reader(payload)
    kind, sequence = reader.u8(), reader.u64()
    end = (offset + 32 + length + 7) // 8 * 8
    return Record(segment, offset, (synced, synced_offset * 8), kind, sequence, _body(kind, reader), end)


def _body(kind, reader):
    """START: the (segment, offset) that it follows. BATCH: its operations. INGEST: its files. PREPARE: id, name and
    contents. COMMIT and ROLLBACK: the id."""
    if kind == START:
        if reader.bytes(8) != _MAGIC:
            raise Damaged("a segment's start without its magic")
        body = (reader.u32(), reader.u32() * 8)
    elif kind == SYNC_MARK:
        body = None
    elif kind == BATCH:
        body = _operations(reader)
    elif kind == INGEST:
        body = [_ingested(Reader(reader.counted())) for _ in range(reader.varint())]
    elif kind == PREPARE:
        body = (reader.u64(), reader.counted(), _prepared(reader))
    elif kind in (COMMIT, ROLLBACK):
        body = reader.u64()
    else:
        raise Unsupported(f"a record of kind {kind}")
    reader.end()
    return body


def _operations(reader):
    """(family, type, key, value) of each."""
    operations, family = [], None
    for _ in range(reader.u32()):
        tag = reader.u8()
        if tag > 7 or tag & 3 == 3:
            raise Damaged(f"an operation's tag is {tag}")
        if tag & 4:
            family = reader.varint()
        key = reader.counted()
        operations.append((family, tag & 3, key, reader.counted() if tag & 3 == 1 else b""))
    return operations


def _ingested(reader):
    """(family, file)."""
    number, size, family = reader.varint(), reader.varint(), reader.varint()
    file = File(number, size, 0, Properties(*[reader.varint() for _ in range(9)], reader.counted(), reader.counted()))
    reader.end()
    return family, file


def _prepared(reader):
    kind, _ = reader.u8(), reader.u64()
    return kind, _body(kind, reader)


def segments(directory):
    """The bytes of each file by number."""
    return {int(path.stem): path.read_bytes() for path in directory.glob("*.wal")}


def replay(directory, first):
    """The log's records from a segment on (0: from its first), in order. Raises Damaged if a durable record is gone."""
    files = segments(directory)
    starts = {}  # By number, its first record.
    for number, data in files.items():
        record = _record(data, number, 0) if number >= first else None
        if record is not None and record.kind == START:
            starts[number] = record
    first = first or max((number for number, start in starts.items() if start.body == (0, 0)), default=0)
    if first not in starts:
        raise Damaged(f"segment {first}, where the replay starts, is missing")
    current = first
    while current is not None:
        following = max((number for number, start in starts.items() if start.body[0] == current and number > current),
                        default=None)
        leave = starts[following].body[1] if following is not None else None
        offset = 0
        while offset != leave:
            record = _record(files[current], current, offset)
            if record is None:
                _check_end(files, starts, current, offset, following)
                return
            yield record
            offset = record.end
        current = following


def _check_end(files, starts, segment, offset, following):
    """There is no valid record at offset. Raises Damaged if a later one says that this place was durable."""
    later = [segment, *([number for number in sorted(starts) if number >= following] if following is not None else [])]
    for number in later:
        data = files[number]
        mark = struct.pack("<II", _VERSION, number)  # At offset 12 in the frame.
        at = data.find(mark, offset + 12 if number == segment else 0)
        while at >= 0:
            record = _record(data, number, at - 12) if at % 8 == 4 else None
            if record is not None and record.synced > (segment, offset):
                raise Damaged(f"segment {segment} is damaged at {offset}, which was durable")
            at = data.find(mark, at + 1)
