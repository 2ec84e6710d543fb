"""The collations that columns get, and the characters that are hard for them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Collation:
    name: str
    charset: str
    bytes_max: int  # For one character.
    special: str  # Characters and contractions of this charset, blank-separated.


_LATIN1 = "ß ss ä ae Ä é E ÿ ü ue Æ ö"
_LATIN2 = "ch Ch CH č Č ř š ž á ů d' ď cs Cs dzs ô"
_CYRILLIC = "а А я ё Е ґ і й"
_ANY = (
    "ch Ch CH č ß ss ä ae Æ é E ll Ll aa AA å dž Dž lj ı I i İ ő ö ﬀ ff \u200b \u0301 a\u0301 а я α ά ς σ เก กเ "
    "ア ｱ か が 中 国 한 ﷺ"
)
_ASTRAL = " 😀 😁 𝒳 \U0010ffff"
_JAPANESE = "ア イ か が 表 ソ ー 漢 字 Ａ ａ"

_ROWS = [
    (
        "latin1",
        1,
        _LATIN1,
        "swedish_ci german1_ci german2_ci bin general_cs general_ci swedish_nopad_ci nopad_bin " "spanish_ci danish_ci",
    ),
    ("cp1250", 1, _LATIN2, "czech_cs general_ci croatian_ci polish_ci bin"),
    ("latin2", 1, _LATIN2, "czech_cs general_ci hungarian_ci croatian_ci bin"),
    (
        "utf8mb4",
        4,
        _ANY + _ASTRAL,
        "general_ci bin nopad_bin unicode_ci unicode_520_ci unicode_nopad_ci czech_ci danish_ci "
        "spanish2_ci hungarian_ci croatian_ci german2_ci swedish_ci turkish_ci thai_520_w2 general_nopad_ci vietnamese_ci "
        "uca1400_ai_ci uca1400_as_cs uca1400_as_ci uca1400_nopad_ai_ci uca1400_nopad_as_cs uca1400_czech_as_cs "
        "uca1400_danish_ai_ci uca1400_spanish2_ai_cs uca1400_german2_as_ci myanmar_ci",
    ),
    ("utf8mb3", 3, _ANY, "general_ci bin unicode_ci general_mysql500_ci croatian_ci general_nopad_ci"),
    ("sjis", 2, _JAPANESE, "japanese_ci bin japanese_nopad_ci"),
    ("cp932", 2, _JAPANESE, "japanese_ci bin"),
    ("ujis", 3, _JAPANESE, "japanese_ci bin"),
    ("eucjpms", 3, _JAPANESE, "japanese_ci nopad_bin"),
    ("big5", 2, "功 許 中 國 一 乙", "chinese_ci bin chinese_nopad_ci"),
    ("gbk", 2, "中 国 啊 一 丁", "chinese_ci bin"),
    ("gb2312", 2, "中 国 啊 一", "chinese_ci"),
    ("euckr", 2, "한 국 가 각", "korean_ci bin"),
    ("ucs2", 2, _ANY, "general_ci bin unicode_ci czech_ci general_nopad_ci"),
    ("utf16", 4, _ANY + _ASTRAL, "general_ci bin unicode_ci spanish2_ci nopad_bin"),
    ("utf16le", 4, _ANY + _ASTRAL, "general_ci bin"),
    ("utf32", 4, _ANY + _ASTRAL, "general_ci unicode_ci bin german2_ci"),
    ("tis620", 1, "เก กเ ก เ แก ๆ", "thai_ci bin"),
    ("cp1251", 1, _CYRILLIC, "general_ci ukrainian_ci bulgarian_ci general_cs bin"),
    ("koi8r", 1, _CYRILLIC, "general_ci bin"),
    ("cp1257", 1, "š ž ė i y", "lithuanian_ci general_ci"),
    ("latin7", 1, "š ž ė", "general_cs estonian_cs general_ci"),
    ("latin5", 1, "ı I i İ ş", "turkish_ci"),
    ("greek", 1, "α ά ς σ Σ", "general_ci bin"),
    ("hebrew", 1, "א ב", "general_ci"),
    ("cp1256", 1, "ا ب", "general_ci"),
    ("keybcs2", 1, _LATIN2, "general_ci bin"),
    ("ascii", 1, "", "general_ci bin nopad_bin"),
    ("swe7", 1, "å ä ö", "swedish_ci"),
    ("dec8", 1, _LATIN1, "swedish_ci"),
    ("armscii8", 1, "ա բ", "general_ci"),
]

# Drawn more often, because their sort keys, padding or contractions are special.
_FAVOURED = (
    "latin1_swedish_ci",
    "latin1_german2_ci",
    "cp1250_czech_cs",
    "latin2_czech_cs",
    "utf8mb4_general_ci",
    "utf8mb4_bin",
    "utf8mb4_nopad_bin",
    "utf8mb4_uca1400_ai_ci",
    "utf8mb4_czech_ci",
    "sjis_japanese_ci",
    "big5_chinese_ci",
    "tis620_thai_ci",
)

ALL = [
    Collation(f"{charset}_{rest}", charset, bytes_max, special)
    for charset, bytes_max, special, names in _ROWS
    for rest in names.split()
]
WEIGHTED = ALL + [collation for collation in ALL if collation.name in _FAVOURED] * 5
LATIN1 = next(collation for collation in ALL if collation.name == "latin1_swedish_ci")
