"""What install.sh changed on this machine: files put, with copies of what was there, and how to undo it.

Owns: /var/lib/tidesdb-install (record.json, copies/). The record is written before each change, so that
an interrupted run leaves nothing behind that it does not name.
"""

import hashlib
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from installer.shell import Failed

DIRECTORY = Path("/var/lib/tidesdb-install")
_FORMAT = 1


def digest(data):
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class _There:
    """What is at a path: a file or a link."""
    link: str | None    # Where it points; None: a file.
    data: bytes | None  # As it is read, through a link too; None where that leads to no file.
    mode: int
    owner: tuple

    @property
    def sum(self):
        return f"link {self.link}" if self.link else digest(self.data)


class Record:
    """files: path -> {"sha256" of what we put there, "copy" of what was there before us or None}.

    While a file is written its entry has "until" besides: the sum of what is there until then.
    facts: what later runs want to know. notes: lines for the summary, of this run only.
    """

    def __init__(self, directory=DIRECTORY):
        self.directory = Path(directory)
        self.file = self.directory / "record.json"
        kept = self._read() if self.file.exists() else {}
        self.files = kept.get("files", {})
        self.directories = kept.get("directories", [])
        self.facts = kept.get("facts", {})
        self.notes = []
        self._facts_before = dict(self.facts)
        self._journal = {}  # By path, before this run: (what was there or None, its entry or None).

    def _read(self):
        try:
            kept = json.loads(self.file.read_text())
            known = kept["format"]
        except (ValueError, KeyError, TypeError) as error:
            raise Failed(f"{self.file} is damaged ({error!r}). Bring it back from a backup, or move it away: then "
                         "./install.sh knows its own files again, but no more what was there before them, which is in "
                         f"{self.directory / 'copies'}") from error
        if known != _FORMAT:
            raise Failed(f"{self.file} is of format {known}, this install.sh knows {_FORMAT}")
        return kept

    def save(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": _FORMAT, "files": self.files, "directories": self.directories,
                           "facts": self.facts}, indent=1, sort_keys=True)
        _write(self.file, (text + "\n").encode(), 0o644)

    def forget(self):
        """Ends the record; the copies stay if there are any."""
        self.file.unlink(missing_ok=True)
        for path in [self.directory / "copies", self.directory]:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()

    def put(self, path, data, mode=0o644, keep_edited=False, mark=None, restart=False):
        """Makes path hold data; True if that changed it.

        What is there and not from us is copied first. keep_edited: a file that was ours and that somebody
        changed since stays as it is. mark: a file that begins with it is ours, also where the record does not name it.
        restart: the server has it at its next start only, and the fact restart_due is there before the change.
        """
        path, entry = Path(path), self.files.get(str(path))
        there = _look(path)
        if entry is None and there and mark is not None and (there.data or b"").startswith(mark):
            self._remember(path, there)
            entry = self.files[str(path)] = {"sha256": digest(data), "copy": None}
            self.save()
        if there and there.data == data:
            if entry:
                entry.pop("until", None)
            return False
        copy = entry["copy"] if entry else None
        if there and not _as_put(there, entry):
            if entry and keep_edited:
                self.notes.append(f"{path} was changed since we wrote it, and is left as it is")
                return False
            saved = self._copy(path, there)
            copy = copy if entry else str(saved)
            self.notes.append(f"{path} was there; its copy is {saved}")
        self._make_directory(path.parent)
        self._remember(path, there)  # Not before: where no directory can be, there is nothing to undo, nor could it be.
        self.files[str(path)] = {"sha256": digest(data), "copy": copy, "until": there and there.sum}
        if restart:
            self.facts["restart_due"] = True
        self.save()
        _write(path, data, mode)
        del self.files[str(path)]["until"]
        return True

    def remove(self, path, restart=False):
        """Takes back what we put at path; True if there was something to take back. restart: as of put()."""
        path, entry = Path(path), self.files.get(str(path))
        if entry is None:
            return False
        there, before = _look(path), _look(Path(entry["copy"])) if entry["copy"] else None
        self._remember(path, there)
        if restart:
            self.facts["restart_due"] = True
            self.save()
        if there and there.sum != (before and before.sum) and not _as_put(there, entry):
            self.notes.append(f"{path} was changed since we wrote it; its copy is {self._copy(path, there)}")
        if before:
            _restore(path, before)
            self.notes.append(f"{path} is again what it was before")
        else:
            _remove(path)
            if entry["copy"]:
                self.notes.append(f"{path} is removed; what was there before does not come back, as its copy "
                                  f"{entry['copy']} is gone")
        del self.files[str(path)]
        self._remove_directories()
        self.save()
        return True

    def roll_back(self, restart_due=False):
        """Undoes this run's changes; packages stay. restart_due: the server may run with what is undone."""
        for path, (there, entry) in self._journal.items():
            if entry:
                now = _look(path)
                self.files[str(path)] = {**entry, "until": now and now.sum}
            elif str(path) in self.files:
                self.files[str(path)]["until"] = there and there.sum
        self.save()
        for path, (there, entry) in self._journal.items():
            if there:
                _restore(path, there)
            else:
                _remove(path)
            if entry:
                self.files[str(path)] = entry
            else:
                self.files.pop(str(path), None)
        self._journal = {}
        packages = self.facts.get("packages", [])
        self.facts = {**self._facts_before, "packages": packages, **({"restart_due": True} if restart_due else {})}
        self._remove_directories()
        self.save()

    def _remember(self, path, there):
        """Before the first change in this run."""
        entry = self.files.get(str(path))
        self._journal.setdefault(path, (there, dict(entry) if entry else None))

    def _copy(self, path, there):
        name = str(path).strip("/").replace("/", "-")
        number = 1
        while os.path.lexists(saved := self.directory / "copies" / f"{name}.{number}"):
            number += 1
        _restore(saved, there)
        return saved

    def _make_directory(self, directory):
        made = [path for path in [directory, *directory.parents] if not path.exists()]
        self.directories += [str(path) for path in made if str(path) not in self.directories]
        directory.mkdir(parents=True, exist_ok=True)

    def _remove_directories(self):
        """Those that we made and that are empty."""
        for path in sorted(map(Path, self.directories), key=lambda p: len(p.parts), reverse=True):
            if path.is_dir() and any(path.iterdir()):
                continue
            if path.is_dir():
                path.rmdir()
            self.directories.remove(str(path))


def _look(path):
    """None: nothing is there."""
    if not os.path.lexists(path):
        return None
    info = path.lstat()
    link = os.readlink(path) if stat.S_ISLNK(info.st_mode) else None
    data = path.read_bytes() if path.exists() else None
    return _There(link, data, stat.S_IMODE(info.st_mode), (info.st_uid, info.st_gid))


def _as_put(there, entry):
    """Is it what we put there, or what an interrupted run was about to replace?"""
    return entry is not None and there.sum in (entry["sha256"], entry.get("until"))


def _restore(path, there):
    path.parent.mkdir(parents=True, exist_ok=True)
    if there.link is None:
        _write(path, there.data, there.mode, there.owner)
        return
    new = _new(path)
    new.unlink(missing_ok=True)
    new.symlink_to(there.link)
    os.chown(new, *there.owner, follow_symlinks=False)
    os.replace(new, path)


def _remove(path):
    for name in (path, _new(path)):  # A run that was killed may have begun to write it.
        name.unlink(missing_ok=True)


def _write(path, data, mode, owner=None):
    """A new file under the old name: who has the old one open or mapped keeps it."""
    new = _new(path)
    with open(new, "wb") as file:
        file.write(data)
        if owner:
            os.fchown(file.fileno(), *owner)
        os.fchmod(file.fileno(), mode)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


def _new(path):
    return path.with_name(path.name + ".new")
