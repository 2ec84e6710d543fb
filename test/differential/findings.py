"""A difference as a file of SQL that a person can run."""

import re


def slug(kind):
    return re.sub(r"[^a-z0-9]+", "_", kind.lower()).strip("_")


def text_of(case, difference, server):
    """The case as SQL, with InnoDB's answer and TidesDB's."""
    lines = [
        f"-- kind: {difference.kind}",
        f"-- seed {case.seed}, {server}",
        f"-- statement: {difference.text}",
        f"-- expected (InnoDB): {difference.expected}",
        f"-- got (TidesDB): {difference.came}",
    ]
    lines = [line.replace("\n", " ") for line in lines]
    lines += [statement + ";" for statement in case.settings]
    for statement in case.statements:
        lines += [("/* second connection */ " if statement.reader else "") + text + ";" for text in statement.texts()]
    return "\n".join(lines) + "\n"


def write(directory, case, difference, server):
    """Returns the file's path. A file of the same kind and seed is overwritten."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{slug(difference.kind)}-{case.seed}.sql"
    path.write_text(text_of(case, difference, server))
    return path
