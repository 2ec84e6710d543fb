"""Rows and their keys, decoded by the table's definition: docs/format/row.md."""

from dataclasses import dataclass, field, replace

from test.format_reader.data import Damaged, Reader, Unsupported

_FIRST, _APART = 1, 3
# Flags.
_WIDE = 1  # End offsets have 4 bytes.
_PUT_ONCE = 2  # Says nothing about the columns.


@dataclass
class KeyPart:
    column: object
    prefix: bool = False  # Only a prefix of the column.
    descending: bool = False


@dataclass
class Definition:
    """A table as the server describes it. columns: in order. primary: the primary key's parts; empty: rows are numbered."""

    columns: list
    primary: list
    deleted_mark: bool = True  # The record's first bit belongs to no column.
    hidden_null_bits: int = 0  # Null bits of columns that the server hides.
    from_key: dict = field(init=False)  # Names of the columns that are read from the key.

    def __post_init__(self):
        self.from_key = {part.column.name for part in self.primary
                         if not part.prefix and part.column.kind in ("unsigned", "signed", "raw", "bytes")}

    def with_addresses_as_texts(self):
        """For a table whose entry does not say that keys store INET4 and INET6 as bytes: keys store them as text."""
        def column(of):
            return replace(of, key_text=True, space_bytes=1) if of.type in ("inet4", "inet6") else of

        primary = [replace(part, column=column(part.column)) for part in self.primary]
        return replace(self, columns=[column(of) for of in self.columns], primary=primary)

    def null_bytes(self):
        bits = self.deleted_mark + sum(column.nullable for column in self.columns) + self.hidden_null_bits
        return (bits + 7) // 8


def _escaped(data, at, invert):
    """(the bytes before 00 01, where 00 ff stands for a zero; where the next part starts)."""
    found = bytearray()
    while True:
        byte, following = data[at] ^ invert, (data[at + 1] ^ invert if at + 1 < len(data) else None)
        if byte:
            found.append(byte)
            at += 1
        elif following == 1:
            return bytes(found), at + 2
        elif following == 0xff:
            found.append(0)
            at += 2
        else:
            raise Damaged(f"a zero followed by {following} in a key")


def _part(part, data, at):
    """(the record's bytes, or None if the key cannot give them back; where the next part starts)."""
    column, invert = part.column, 255 if part.descending else 0
    if column.nullable:
        if data[at] ^ invert == 0:
            return None, at + 1
        at += 1
    if column.kind == "text":
        return None, _skip_text(column, data, at, invert)
    if column.kind == "bytes":
        return _escaped(data, at, invert)
    part_bytes = bytes(byte ^ invert for byte in data[at:at + column.width])
    if len(part_bytes) < column.width:
        raise Damaged("a key that ends within a part")
    at += column.width
    if column.kind == "signed":
        part_bytes = bytes([part_bytes[0] ^ 128]) + part_bytes[1:]
    if column.kind in ("signed", "unsigned"):
        part_bytes = part_bytes[::-1]
    return (None if column.kind == "float" else part_bytes), at


def _skip_text(column, data, at, invert):
    """Where the next part starts, after a text whose collation has one level."""
    if not column.space_bytes:
        return _escaped(data, at, invert)[1]
    group = max(8 // column.space_bytes * column.space_bytes, column.space_bytes)
    while True:
        at += group + 1
        if at > len(data):
            raise Damaged("a text in a key without an end")
        if data[at - 1] ^ invert == 2:
            return at


def read_key(definition, key):
    """By name, the record's bytes of the columns that are read from the key."""
    if not definition.primary:
        if len(key) != 8:
            raise Damaged("a row's number has a wrong length")
        return {}
    found, at = {}, 0
    for part in definition.primary:
        value, at = _part(part, key, at)
        if part.column.name in definition.from_key:
            found[part.column.name] = value
    if at != len(key):
        raise Damaged("a key that goes on after its parts")
    return found


def _reference(data, values):
    """The long value that a row refers to, which is removed from values. values: the bytes by id."""
    reader = Reader(data)
    number, length = reader.u64(), reader.u32()
    reader.end()
    value = values.pop(number.to_bytes(8, "big"), None)
    if value is None or len(value) != length:
        raise Damaged(f"a row's value {number} is missing or has another length")
    return value


def read_row(definition, key, value, values=None):
    """What SELECT would give for each column, without virtual ones. values: the table's long values that no row has
    referred to yet."""
    stored, reader = read_key(definition, key), Reader(value)
    row_format = reader.u8()
    if row_format not in (_FIRST, _APART):
        raise Unsupported(f"a row of format {value[0]}")
    flags = reader.u8()
    if flags & ~(_WIDE | _PUT_ONCE):
        raise Damaged(f"a row's flags are {flags}")
    if row_format == _APART and reader.u8() != 0:
        raise Unsupported("a row of a later version of its table")
    apart = int.from_bytes(reader.counted(), "little") if row_format == _APART else 0
    nulls = int.from_bytes(reader.bytes(definition.null_bytes()), "little")
    here = [column for column in definition.columns if not column.virtual and column.name not in stored]
    for column in here:
        if not column.varies:
            stored[column.name] = reader.bytes(column.width)
    varying = [column for column in here if column.varies]
    ends = [reader.u32() if flags & _WIDE else reader.u16() for _ in varying]
    begin = 0
    for place, (column, end) in enumerate(zip(varying, ends)):
        if end < begin:
            raise Damaged("a row's ends go backwards")
        held = reader.bytes(end - begin)
        stored[column.name] = _reference(held, values) if apart >> place & 1 else held
        begin = end
    reader.end()
    return _without_nulls(definition, stored, nulls)


def _without_nulls(definition, stored, nulls):
    row, bit = [], int(definition.deleted_mark)
    for column in definition.columns:
        is_null = column.nullable and nulls >> bit & 1
        bit += column.nullable
        if not column.virtual:
            row.append(None if is_null else column.value(stored[column.name]))
    return row
