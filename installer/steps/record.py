"""What install.sh changed on this machine: the files it put, copies of the files before, and how to undo it.

Owns: /var/lib/tidesdb-install (record.json, copies/). The record is written before each change, so that
it names everything that an interrupted run leaves behind.
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
    link: str | None    # Its target; None: a file.
    data: bytes | None  # Its content, also through a link; None for a dangling link.
    mode: int
    owner: tuple

    @property
    def sum(self):
        return f"link {self.link}" if self.link else digest(self.data)


class Record:
    """files: path -> {"sha256" of what we put there, "copy" of what was there before us or None}.

    While a file is being written its entry also has "until": the sum of the old content.
    facts: for later runs. notes: lines for the summary of this run.
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
            raise Failed(f"{self.file} is damaged ({error!r}). Restore it from a backup, or move it away. Then "
                         "./install.sh recognizes its own files again, but not the earlier files; those are in "
                         f"{self.directory / 'copies'}") from error
        if known != _FORMAT:
            raise Failed(f"{self.file} has format {known}, this install.sh knows format {_FORMAT}")
        return kept

    def save(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": _FORMAT, "files": self.files, "directories": self.directories,
                           "facts": self.facts}, indent=1, sort_keys=True)
        _write(self.file, (text + "\n").encode(), 0o644)

    def forget(self):
        """Removes the record; copies stay if there are any."""
        self.file.unlink(missing_ok=True)
        for path in [self.directory / "copies", self.directory]:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()

    def put(self, path, data, mode=0o644, keep_edited=False, mark=None, restart=False):
        """Makes path hold data; True if that changed it.

        Another owner's file is copied first. keep_edited: our own file stays as it is if somebody has changed it
        since. mark: a file that begins with it is ours, even if the record does not name it.
        restart: it takes effect at the server's next start, so the fact restart_due is set before the change.
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
                self.notes.append(f"{path} has changed since we wrote it, and stays as it is")
                return False
            saved = self._copy(path, there)
            copy = copy if entry else str(saved)
            self.notes.append(f"{path} existed; its copy is {saved}")
        self._make_directory(path.parent)
        self._remember(path, there)  # Not before: if the directory cannot be made, there is nothing to undo.
        self.files[str(path)] = {"sha256": digest(data), "copy": copy, "until": there and there.sum}
        if restart:
            self.facts["restart_due"] = True
        self.save()
        _write(path, data, mode)
        del self.files[str(path)]["until"]
        return True

    def remove(self, path, restart=False):
        """Takes back what we put at path; True if there was something to take back. restart: as in put()."""
        path, entry = Path(path), self.files.get(str(path))
        if entry is None:
            return False
        there, before = _look(path), _look(Path(entry["copy"])) if entry["copy"] else None
        self._remember(path, there)
        if restart:
            self.facts["restart_due"] = True
            self.save()
        if there and there.sum != (before and before.sum) and not _as_put(there, entry):
            self.notes.append(f"{path} has changed since we wrote it; its copy is {self._copy(path, there)}")
        if before:
            _restore(path, before)
            self.notes.append(f"{path} is restored")
        else:
            _remove(path)
            if entry["copy"]:
                self.notes.append(f"{path} is removed; the file before it does not come back, because its copy "
                                  f"{entry['copy']} is gone")
        del self.files[str(path)]
        self._remove_directories()
        self.save()
        return True

    def roll_back(self, restart_due=False):
        """Undoes this run's changes; packages stay. restart_due: the server may still run with the undone files."""
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
        """Removes the empty ones that we made."""
        for path in sorted(map(Path, self.directories), key=lambda p: len(p.parts), reverse=True):
            if path.is_dir() and any(path.iterdir()):
                continue
            if path.is_dir():
                path.rmdir()
            self.directories.remove(str(path))


def _look(path):
    """What is at path, or None."""
    if not os.path.lexists(path):
        return None
    info = path.lstat()
    link = os.readlink(path) if stat.S_ISLNK(info.st_mode) else None
    data = path.read_bytes() if path.exists() else None
    return _There(link, data, stat.S_IMODE(info.st_mode), (info.st_uid, info.st_gid))


def _as_put(there, entry):
    """Is it the file that we put there, or the one that an interrupted run was about to replace?"""
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
    for name in (path, _new(path)):  # A killed run may have begun to write it.
        name.unlink(missing_ok=True)


def _write(path, data, mode, owner=None):
    """Puts a new file under the old name: processes that have the old one open or mapped keep it."""
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
