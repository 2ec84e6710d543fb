"""Strings that are hard to sort, for each character set. The same ones for the same seed."""

import random

UNICODE = {"utf8mb3": "utf-8", "utf8mb4": "utf-8", "ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le",
           "utf32": "utf-32-be"}
_BMP_ONLY = ("utf8mb3", "ucs2")
_CHARS_MAX = 8  # Two more characters fit into a column.

# What a collation may take as one letter, or as several, or not at all; ends that sort below a space.
_ATOMS = [
    *"aAbBcCdDeEhHlLnNoOsStTzZ", "ch", "Ch", "CH", "cs", "dz", "dzs", "d\u017e", "\u01c6", "lj", "\u01c9", "ll", "Ll",
    "l\u00b7", "ny", "nj", "sz", "zs", "gy", "ty", "aa", "Aa", "\u00e5", "\u00c5", "a\u030a", "\u00e4", "ae", "\u00e6",
    "\u00c6", "\u01fd", "oe", "\u0153", "\u00f8", "\u00f6", "o\u0308", "\u00fc", "ue", "\u00df", "ss", "SS", "\u1e9e",
    "\u017f", "\ufb01", "fi", "\u00e9", "e\u0301", "\u00c9", "\u1ebf", "\u0301", "\u0308", "\u0327", "\u0345", "\u0131",
    "\u0130", "i", "I", "\u00f1", "n\u0303", "\u010d", "\u0107", "c\u030c", "\u0161", "\u017e", "\u0159", "\u00fe",
    "th", "\u00f0", "\u0111", "\u0142", "rr", "qu", "\u01a1", "\u01b0", *"019", "\uff15", "\u00bd", "\u33a1", "\u2026",
    "\ufdfa", " ", "  ", "\t", "\n", "\x00", "\x01", "\x0b", "\x1f", "\x7f", "\u00a0", "\u00ad", "\u200d", "\u2003",
    "\u3000", *"-.!'$&/:@[]^`{|}~", "\\", "%", "_", "\u2020", "\u2120", "\u0120", "\u0220", "\u2000",
    *"\u03b1\u03ac\u0391\u03c2\u03c3\u03a3\u1f80", *"\u044f\u042f\u0451\u0439\u0438", "\u0438\u0306", "\u05d0\u05bc",
    "\u0627", "\u0622", "\u0627\u0653", "\u0647\u0640", "\u0915", "\u0915\u094d\u0937", "\u0928\u093c", "\u0929",
    "\u0e40\u0e01", "\u0e01\u0e48", "\u0e01", "\u0ec0\u0e81", "\u1000\u1039", "\u1004\u103a\u1039", "\u1000\u1031",
    "\u304b", "\u30ab", "\u304c", "\u304b\u3099", "\u30fc", "\u30ab\u30fc", "\u309d", "\u30ad\u3083", "\uff76",
    "\uff76\uff9e", "\uac00", "\uac01", "\u1100\u1161", "\u4e00", "\u4e01", "\u4e2d", "\u9fa5", "\u3400", "\uf900",
    "\ue000", "\uf8ff", "\ufffd", "\ufffe", "\uffff", "\ufe0f", "\U00010000", "\U00010400", "\U00010428",
    "\U0001f600", "\U00020000", "\U0001d400", "\U000e0001", "\U0010ffff",
]

# The bytes of the first and of the second half of a character, their ends above all.
_LEADS = [*range(0x81, 0xff, 5), 0xa1, 0xa4, 0xa8, 0xa9, 0xaf, 0xb0, 0xc6, 0xc8, 0xc9, 0xd7, 0xdf, 0xe0, 0xef, 0xf7,
          0xf9, 0xfa, 0xfc, 0xfd, 0xfe]
_TRAILS = [0x30, 0x40, 0x41, 0x5c, 0x5f, 0x61, 0x7a, 0x7e, 0x80, 0x81, 0x9f, 0xa0, 0xa1, 0xa3, 0xd5, 0xfa, 0xfc, 0xfd,
           0xfe]
_ASCII = [bytes([byte]) for byte in (*b"aAbBcChHsSzZ019 -.!~[`\t\n\0\1\x1f\x7f", 0x20, 0x20)]


_MULTI_BYTE = ("big5", "cp932", "eucjpms", "euckr", "gb2312", "gbk", "sjis", "ujis")


def _encoding(charset):
    return UNICODE.get(charset, "latin-1")


def percent(charset):
    return "%".encode(_encoding(charset))


def characters(charset, string):
    """The bytes of each character of a string that the server takes for well-formed."""
    if charset not in _MULTI_BYTE:
        return [character.encode(_encoding(charset)) for character in string.decode(_encoding(charset))]
    found, i = [], 0
    while i < len(string):
        byte = string[i]
        size = 2
        if byte < 0x80 or (charset in ("sjis", "cp932") and 0xa1 <= byte <= 0xdf):
            size = 1
        elif byte == 0x8f and charset in ("ujis", "eucjpms"):
            size = 3
        found.append(string[i:i + size])
        i += size
    return found


def has_meaning(charset, character):
    """Whether LIKE takes it for more than itself."""
    return character in [special.encode(_encoding(charset)) for special in "\\%_"]


def _unicode(charset, chance, count):
    atoms = [a for a in _ATOMS if charset not in _BMP_ONLY or all(ord(c) < 0x10000 for c in a)]
    texts = ["", *atoms]
    ends = [" ", "\t", "\x00", " \t", "\t ", "\uffff"]
    for _ in range(count):
        text = "".join(chance.choice(atoms) for _ in range(chance.randint(1, 4)))
        texts.append((text + chance.choice(["", *ends])))
        texts.append("a" + chance.choice(atoms))
    return [text[:_CHARS_MAX].encode(UNICODE[charset]) for text in texts]


def _multi_byte(charset, chance, count):
    def character():
        kind = chance.random()
        if kind < 0.4:
            return chance.choice(_ASCII)
        if kind < 0.5 and charset in ("ujis", "eucjpms"):
            return bytes([0x8f, chance.choice(_LEADS), chance.choice(_LEADS)])
        if kind < 0.6:
            return bytes([chance.choice([0x8e, *range(0xa1, 0xe0, 7)])])
        return bytes([chance.choice(_LEADS), chance.choice(_TRAILS)])
    strings = [b"", *_ASCII]
    # Many of these are not well-formed, and left out.
    for _ in range(count * 4):
        strings.append(b"".join(character() for _ in range(chance.choice([1, 1, 2, 3, 4]))))
    return strings


def _single_byte(chance, count):
    letters = [bytes([byte]) for byte in range(256)]
    strings = [b"", *letters]
    for _ in range(count):
        strings.append(b"".join(chance.choice(letters if chance.random() < 0.7 else _ASCII)
                                for _ in range(chance.randint(2, 6))))
    high = letters[0xa1:]
    for pair in (b"ch", b"Ch", b"cH", b"CH", b"c", b"ss", b"ae", b"AE", b"oe", b"ue", b"aa", b"ll"):
        strings += [pair, pair + b" ", b"a" + pair, pair + b"a", pair + b"\t", pair + chance.choice(high)]
    for _ in range(count):
        strings.append(b"".join(chance.choice(high) for _ in range(chance.randint(2, 6))) + chance.choice([b"", b" "]))
    return strings


def strings_for(charset, seed, count):
    """Without doubles; of multi-byte sets some are not well-formed."""
    chance = random.Random(f"{seed} {charset}")
    if charset in UNICODE:
        found = _unicode(charset, chance, count)
    elif charset in _MULTI_BYTE:
        found = _multi_byte(charset, chance, count)
    else:
        found = _single_byte(chance, count)
    return list(dict.fromkeys(found))
