"""Columns of the server's tables: their bytes in its record (docs/format/row.md) and their text in SELECT.

Values in a record have MariaDB's encoding: numbers little-endian, DECIMAL in groups of nine digits, temporals packed.
"""

import re
import struct
import time
from dataclasses import dataclass

_INTEGERS = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8}
_DIGIT_BYTES = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4]
_SHORT_CHAR_BYTES = 8  # A longer CHAR or BINARY has a varying length in a row.


@dataclass
class Column:
    """As information_schema describes it. octets: length of texts and binaries. choices: number of ENUM or SET values."""

    name: str
    type: str  # The data type, in lower case.
    unsigned: bool
    nullable: bool
    virtual: bool
    octets: int
    digits: tuple  # DECIMAL: precision and scale. Temporals: the fraction's digits. BIT: its bits.
    choices: int
    text: bool  # It has a character set.
    space_bytes: int  # Bytes of the weights of one space in a key; 0: not padded.
    key_text: bool = False  # Keys store it as latin1_swedish_ci text, though it is no text.

    @property
    def varies(self):
        return self.type.endswith(("blob", "text")) or self.type in ("varchar", "varbinary") or (
            self.type in ("char", "binary", "inet4", "inet6") and self.width > _SHORT_CHAR_BYTES)

    @property
    def width(self):
        """Its bytes in the record, if its length does not vary."""
        if self.type in _INTEGERS:
            return _INTEGERS[self.type]
        if self.type == "decimal":
            precision, scale = self.digits
            whole = precision - scale
            return whole // 9 * 4 + _DIGIT_BYTES[whole % 9] + scale // 9 * 4 + _DIGIT_BYTES[scale % 9]
        if self.type == "enum":
            return 1 if self.choices < 256 else 2
        if self.type == "set":
            count = (self.choices + 7) // 8
            return 8 if count > 4 else count
        if self.type == "bit":
            return (self.digits[0] + 7) // 8
        if self.type in ("datetime", "timestamp", "time"):
            return {"datetime": 5, "timestamp": 4, "time": 3}[self.type] + (self.digits[0] + 1) // 2
        return {"float": 4, "double": 8, "year": 1, "date": 3, "char": self.octets, "binary": self.octets,
                "inet4": 4, "inet6": 16}[self.type]

    @property
    def kind(self):
        """Its encoding in a key."""
        if self.type in _INTEGERS:
            return "unsigned" if self.unsigned else "signed"
        if self.type in ("enum", "set", "year", "date"):
            return "unsigned"
        if self.type in ("float", "double"):
            return "float"
        if self.text or self.key_text:
            return "text"
        return "bytes" if self.type == "varbinary" or self.type.endswith("blob") else "raw"

    def select(self):
        """The expression whose text said() reads."""
        name = f"`{self.name}`"
        if self.type in ("enum", "set", "bit", "year"):
            return f"{name}+0"
        if self.type in ("float", "double"):
            return f"CAST({name} AS DOUBLE)"
        if self.type in ("inet4", "inet6"):
            return f"HEX(CAST({name} AS BINARY({self.width})))"
        return f"HEX({name})" if self._is_bytes() else name

    def said(self, text):
        """SELECT's text as a value to compare."""
        if text == "NULL":
            return None
        return float(text) if self.type in ("float", "double") else text

    def _is_bytes(self):
        return self.text or self.type in ("binary", "varbinary", "inet4", "inet6") or self.type.endswith("blob")

    def value(self, data):
        """What SELECT would give for these bytes of the record."""
        if self.type in _INTEGERS:
            return str(int.from_bytes(data, "little", signed=not self.unsigned))
        if self.type in ("enum", "set"):
            return str(int.from_bytes(data, "little"))
        if self.type == "bit":
            return str(int.from_bytes(data, "big"))
        if self.type == "year":
            return str(1900 + data[0] if data[0] else 0)
        if self.type in ("float", "double"):
            return struct.unpack("<f" if self.type == "float" else "<d", data)[0]
        if self.type == "decimal":
            return _decimal(data, *self.digits)
        if self.type == "date":
            number = int.from_bytes(data, "little")
            return f"{number >> 9:04}-{number >> 5 & 15:02}-{number & 31:02}"
        if self.type in ("datetime", "timestamp", "time"):
            return {"datetime": _datetime, "timestamp": _timestamp, "time": _time}[self.type](data, self.digits[0])
        if self.type == "char":
            data = data.rstrip(b" ")
        elif self.type == "binary":
            data = data.ljust(self.width, b"\0")
        elif self.type == "inet6":
            data = data.ljust(self.width, b" ")
        return data.hex().upper()


def _decimal(data, precision, scale):
    negative = not data[0] & 128
    data = bytes([data[0] ^ 128]) + data[1:]
    if negative:
        data = bytes(byte ^ 255 for byte in data)
    whole, at, text = precision - scale, 0, ""
    for digits in [whole % 9, *[9] * (whole // 9), None, *[9] * (scale // 9), scale % 9]:
        if digits is None:
            text = (text.lstrip("0") or "0") + ("." if scale else "")
        elif digits:
            count = _DIGIT_BYTES[digits]
            text += f"{int.from_bytes(data[at:at + count], 'big'):0{digits}}"
            at += count
    return ("-" if negative else "") + text


def _fraction(data, digits):
    count = (digits + 1) // 2
    return f".{int.from_bytes(data, 'big'):0{2 * count}}"[:digits + 1] if digits else ""


def _clock(number):
    return f"{number >> 12:02}:{number >> 6 & 63:02}:{number & 63:02}"


def _datetime(data, digits):
    number = int.from_bytes(data[:5], "big") - (1 << 39)
    months, days = number >> 22, number >> 17 & 31
    return f"{months // 13:04}-{months % 13:02}-{days:02} {_clock(number & 0x1ffff)}" + _fraction(data[5:], digits)


def _timestamp(data, digits):
    """In UTC."""
    seconds = int.from_bytes(data[:4], "big")
    if not any(data):
        return "0000-00-00 00:00:00" + _fraction(data[4:], digits)
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds)) + _fraction(data[4:], digits)


def _time(data, digits):
    fraction_bytes = len(data) - 3
    number = int.from_bytes(data, "big") - (1 << 23 + 8 * fraction_bytes)
    sign, number = ("-", -number) if number < 0 else ("", number)
    whole, fraction = divmod(number, 1 << 8 * fraction_bytes)
    return sign + _clock(whole) + _fraction(fraction.to_bytes(fraction_bytes, "big"), digits)


def of_schema(name, column_type, octets, text, nullable, virtual, space_bytes):
    """Makes a Column from information_schema.COLUMNS."""
    data_type = re.match(r"\w+", column_type).group()
    within = re.search(r"\((.*)\)", column_type)
    inner = within.group(1) if within else ""
    choices = len(re.findall(r"'(?:[^']|'')*'", inner)) if data_type in ("enum", "set") else 0
    digits = tuple(int(digit) for digit in re.findall(r"\d+", inner)) if not choices else ()
    return Column(name, data_type, "unsigned" in column_type, nullable, virtual, octets, digits or (0,), choices, text,
                  space_bytes)
