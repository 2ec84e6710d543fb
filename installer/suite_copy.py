"""A copy of the server's own suites that names one engine in place of InnoDB or MyISAM."""

import os
import re
import shutil

# The tests' places under the driver's directory. Their result files are not copied: the copy records its own.
PLACES = ["main", "include",
          *(f"suite/{name}" for name in ("parts", "engines", "storage_engine", "innodb", "rpl", "binlog",
                                         "binlog_encryption"))]
_NAMED = re.compile(rb"(?i)(\b(?:default[_-]storage[_-]engine|storage_engine|engine(?:_type|_part|_subpart|_table)?)"
                    rb"\s*=?\s*['\"`]?)(?:innodb|myisam)\b(?!\s+(?:status|mutex)\b)")
# Both engines take InnoDB's branch of a test.
_BRANCH = re.compile(rb"(?i)(\$engine\s*==\s*[\"']{1,2})innodb\b")
_REWRITTEN = {".test", ".inc", ".opt", ".combinations"}
# Each engine alters and lays out tables in its own way; if one refused a way, everything after it would differ.
_WAYS = [(re.compile(rb"(?i)(\b(?:alter[-_])?algorithm\s*=\s*['\"]?)(?:inplace|instant|nocopy)\b"), rb"\1DEFAULT"),
         (re.compile(rb"(?i)(\block\s*=\s*)(?:none|shared)\b"), rb"\1DEFAULT"),
         (re.compile(rb"(?i)\b(alter|create|drop)\s+online\b"), rb"\1"),
         (re.compile(rb"(?i)(\brow_format\s*=?\s*)(?:fixed|static|page)\b"), rb"\1DEFAULT")]
# A promise for which each engine has its own variable.
_OWN_VARIABLE = re.compile(rb"(?i)\binnodb(?=[-_]snapshot[-_]isolation\b)")
# The state of a thread that waits for a row lock: InnoDB keeps the statement's own state, we show the wait.
_WAITING = re.compile(rb"(?i)(\bstate)\s*=\s*['\"](Searching rows for update|Updating|Sending data|update)['\"]")
# A replica's position in a table of its own for each engine.
_POSITION = re.compile(rb"(?i)(\bgtid_slave_pos_|\bgtid[-_]pos[-_]auto[-_]engines\s*=\s*\"?(?:myisam,)?)innodb\b")
_TIMEOUT = re.compile(rb"(?m)(--(?:loose-)?innodb[-_]lock[-_]wait[-_]timeout=(\d+))")


def rename(text, engine):
    """The text of a test, with engine in place of InnoDB or MyISAM, and without the way of an ALTER."""
    for pattern, instead in _WAYS:
        text = pattern.sub(instead, text)
    for pattern in (_NAMED, _BRANCH, _POSITION):
        text = pattern.sub(rb"\g<1>" + engine.encode(), text)
    text = _WAITING.sub(rb"\1 IN ('\2', 'Updating', 'Waiting for row lock')", text)
    return _OWN_VARIABLE.sub(engine.lower().encode(), text)


def _copy_file(source, copy, engine):
    if source.suffix in (".result", ".rdiff") or source.name in ("combinations", "disabled.def"):
        return
    copy.unlink(missing_ok=True)
    if source.suffix in _REWRITTEN:
        text = source.read_bytes()
        renamed = rename(text, engine)
        if source.suffix == ".opt":
            renamed = _TIMEOUT.sub(rb"\1 --loose-tidesdb-lock-wait-timeout-ms=\g<2>000", renamed)
        if source.name == "define_engine.inc":
            renamed = b"let $ENGINE = " + engine.encode() + b";\n" + renamed
        if renamed != text:
            copy.write_bytes(renamed)
            return
    copy.symlink_to(source)


def make(mtr_dir, work, engine):
    """Writes the copy into work, the driver's directory of an installation made of links."""
    for place in PLACES:
        if (work / place).is_symlink():
            (work / place).unlink()
        shutil.rmtree(work / place, ignore_errors=True)
        for directory, _, files in os.walk(mtr_dir / place):
            inside = work / os.path.relpath(directory, mtr_dir)
            inside.mkdir(parents=True, exist_ok=True)
            for name in files:
                _copy_file(mtr_dir / os.path.relpath(directory, mtr_dir) / name, inside / name, engine)


def recorded(work):
    """The records of the copy's tests: text by name."""
    texts = {}
    for place in PLACES:
        for path in (work / place).rglob("*.result"):
            if not path.is_symlink():
                name = str(path.relative_to(work)).removesuffix(".result").replace("/r/", "/")
                texts[name] = path.read_text(encoding="latin-1")
    return texts
