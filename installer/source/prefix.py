"""The server's directory as a whole: its files come from a stage, and a list with checksums names them.

A file outside the list is not ours: it is never overwritten or removed. So the data stays, which the server
itself made. The list is written before each change.
"""

import hashlib
import itertools
import json
import os
import shutil
from pathlib import Path

from installer.shell import Failed

_BEFORE = ".before"  # What this run replaced, until it is kept.


def entry(path):
    """A file's entry in the list: its mode and checksum, or a link's target. None: no such file."""
    if path.is_symlink():
        return f"link {os.readlink(path)}"
    if not path.is_file():
        return None
    with open(path, "rb") as file:
        return f"{path.stat().st_mode & 0o777:o} {hashlib.file_digest(file, 'sha256').hexdigest()}"


def scan(directory):
    """The files below a directory, by their path inside."""
    found = {}
    for path in sorted(directory.rglob("*")):
        if path.is_symlink() or path.is_file():
            found[str(path.relative_to(directory))] = entry(path)
    return found


class Prefix:
    """Owns: the files of directory that the list names; the list, a file of the record's directory."""

    def __init__(self, directory, list_file):
        self.directory, self.list_file = Path(directory), Path(list_file)
        kept = json.loads(self.list_file.read_text()) if self.list_file.exists() else {}
        if kept and kept["prefix"] != str(self.directory):
            raise Failed(f"a server from source is already in {kept['prefix']}; there can be only one. "
                         "./install.sh --uninstall removes it")
        self.version, self.files = kept.get("version"), kept.get("files", {})
        self._unfinished = kept.get("unfinished")
        self.notes = []

    @property
    def settled(self):
        """The version of the last successful run, or None: the state that roll_back() restores."""
        return self._unfinished["version"] if self._unfinished else self.version

    def check(self, version=None):
        """Raises Failed if the directory is not ours, or if its server is newer than that version."""
        if not self.list_file.exists() and self.directory.exists() and (
                not self.directory.is_dir() or set(os.listdir(self.directory)) - _KEPT):
            raise Failed(f"{self.directory} exists and is not from this install.sh; give another --mariadb-prefix")
        if version and self.version and _series(version) < _series(self.version):
            raise Failed(f"{self.directory} has MariaDB {self.version}: a server does not go back to {version}")

    def put(self, stage, version):
        """Makes the directory's files equal to the stage's; True if that changed a file."""
        self.roll_back()  # The changes of an interrupted run.
        new = scan(stage)
        there = {name: entry(self.directory / name) for name in {*new, *self.files}}
        changed = sorted(name for name in new if new[name] != there[name])
        gone = sorted(name for name in self.files if name not in new)
        foreign = [name for name in changed if there[name] and name not in self.files]
        if foreign:
            raise Failed(f"{self.directory / foreign[0]} is in the way and not ours"
                         + (f", and {len(foreign) - 1} more" if foreign[1:] else ""))
        if not changed and not gone and version == self.version:
            return False
        self._save(version, {**self.files, **{name: new[name] for name in changed}},
                   {"version": self.version, "files": self.files})
        for name in [*changed, *gone]:
            self._set_aside(name, there[name])
        for name in changed:
            _copy(stage / name, self.directory / name)
        os.sync()
        self._remove_empty(gone)
        self.files, self.version = new, version
        return True

    def _set_aside(self, name, found):
        path, before = self.directory / name, self.directory / _BEFORE / name
        if found is None:
            return
        if found != self.files.get(name):
            edited = _kept_or_free(path.with_name(path.name + ".edited"), found)
            if not os.path.lexists(edited):
                shutil.copy2(path, edited, follow_symlinks=False)
            self.notes.append(f"{path} has changed since we put it; your version is now {edited.name}")
        before.parent.mkdir(parents=True, exist_ok=True)
        os.rename(path, before)

    def keep(self):
        """Accepts the changes: removes what they replaced."""
        if self._unfinished:
            shutil.rmtree(self.directory / _BEFORE, ignore_errors=True)
            self._save(self.version, self.files, None)

    def roll_back(self):
        """Undoes put(), of this run or of an interrupted one."""
        if not self._unfinished:
            return
        old = self._unfinished["files"]
        before = self.directory / _BEFORE
        now = json.loads(self.list_file.read_text())["files"]
        for name in now:
            if (before / name).is_symlink() or (before / name).exists():
                (self.directory / name).parent.mkdir(parents=True, exist_ok=True)
                os.replace(before / name, self.directory / name)
            elif name not in old:
                (self.directory / name).unlink(missing_ok=True)
        shutil.rmtree(before, ignore_errors=True)
        self._remove_empty(name for name in now if name not in old)
        self.files, self.version = old, self._unfinished["version"]
        if self.files:
            self._save(self.version, self.files, None)
        else:
            self._forget()

    def remove(self):
        """Removes the files that are as we put them; others and the data stay. Notes name them."""
        self.roll_back()
        for name, as_put in self.files.items():
            path = self.directory / name
            found = entry(path)
            if found == as_put:
                path.unlink()
            elif found:
                self.notes.append(f"{path} has changed since we put it, and stays")
        self._remove_empty(self.files)
        self._forget()

    def _remove_empty(self, names):
        """Removes directories of these files that are empty now."""
        parents = {parent for name in names for parent in (self.directory / name).parents
                   if parent.is_relative_to(self.directory)}
        for path in sorted(parents, key=lambda p: len(p.parts), reverse=True):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()

    def _save(self, version, files, unfinished):
        self._unfinished = unfinished
        self.list_file.parent.mkdir(parents=True, exist_ok=True)
        new = self.list_file.with_name(self.list_file.name + ".new")
        new.write_text(json.dumps({"prefix": str(self.directory), "version": version, "files": files,
                                   "unfinished": unfinished}, indent=0, sort_keys=True) + "\n")
        os.replace(new, self.list_file)

    def _forget(self):
        self._unfinished, self.version, self.files = None, None, {}
        self.list_file.unlink(missing_ok=True)


# What --uninstall and an undone run leave: the server's data, its log, and an edited my.cnf.
_KEPT = {"data", "data.unfinished", "log", "run", "etc"}


def _series(version):
    return [int(part) for part in version.split(".")[:2]]


def _kept_or_free(path, found):
    """The path, or the path with the first number for which no file exists, or a file that matches found (kept before)."""
    numbers = itertools.count(1)
    free = path
    while os.path.lexists(free) and entry(free) != found:
        free = path.with_name(f"{path.name}.{next(numbers)}")
    return free


def _copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(target.name + ".new")
    if source.is_symlink():
        new.unlink(missing_ok=True)
        new.symlink_to(os.readlink(source))
    else:
        shutil.copyfile(source, new)
        new.chmod(source.stat().st_mode & 0o777)
    os.replace(new, target)
