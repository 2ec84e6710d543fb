"""What the plugin stores besides rows: docs/format/dictionary.md."""

from dataclasses import dataclass

from test.format_reader.data import Damaged, Reader, Unsupported

_FORMAT = 1
_FORMAT_APART = 3  # This one and the next two: of a table's entry.
_FORMAT_STARTS = 4
_FORMAT_FIXED_BINARY = 5


@dataclass
class TableEntry:
    numbered: bool  # No primary key: rows are numbered.
    temporary: bool
    family: int
    made: int
    auto_increment: int
    generation: int
    indexes: dict  # By the index's name, its family.
    values: int  # The family of long values; 0: there is none.
    fixed_binary: bool  # Keys store INET4, INET6 and UUID as bytes.


def tables(catalog):
    """The table entries by name (database/table)."""
    return {name[2:].decode(): _table(value) for name, value in catalog.items() if name[:2] == b"t/"}


def _table(value):
    reader = Reader(value)
    entry_format = reader.u8()
    if entry_format not in (_FORMAT, _FORMAT_APART, _FORMAT_STARTS, _FORMAT_FIXED_BINARY):
        raise Unsupported(f"a table's entry of format {value[0]}")
    flags = reader.varint()
    newest = _FORMAT_FIXED_BINARY if flags & 8 else _FORMAT_STARTS if flags & 4 else _FORMAT_APART
    if flags > 15 or (entry_format != newest and newest != _FORMAT_APART) or entry_format > newest:
        raise Damaged(f"a table's flags are {flags}")
    numbers = [reader.u32(), reader.u64(), reader.u64(), reader.u32()]
    families = {}
    for _ in range(reader.varint()):
        family = reader.u32()
        families[reader.counted().decode()] = family
    values = 0
    if entry_format >= _FORMAT_APART:
        reader.counted()  # The .frm.
        if [reader.varint() for _ in range(3)] != [0, 0, 0]:
            raise Unsupported("a table whose rows have several versions")
        values = reader.u32()
    reader.end()
    return TableEntry(bool(flags & 1), bool(flags & 2), *numbers, families, values, bool(flags & 8))


def next_auto_increment(entry, system):
    """The next value, from the table's entry and the family #tidesdb_system. system: (key, value) of all its versions."""
    found = [entry.auto_increment]
    wanted = b"\x01" + entry.family.to_bytes(4, "big") + entry.generation.to_bytes(4, "big")
    found += [int.from_bytes(value, "little") for key, value in system if key[:9] == wanted and len(key) == 11]
    return max(found)


def statistics(value):
    """(rows, mean bytes of a row, for each key: its mean bytes and the number of different values of its first columns)."""
    reader = Reader(value)
    if reader.u8() != _FORMAT:
        raise Unsupported(f"statistics of format {value[0]}")
    rows, mean = reader.u64(), reader.u64()
    keys = [(reader.u64(), [reader.u64() for _ in range(reader.varint())]) for _ in range(reader.varint())]
    reader.end()
    return rows, mean, keys
