"""What install.sh changed on this machine: files put, with copies of what was there, and how to undo it.

Owns: /var/lib/tidesdb-install (record.json, copies/). The record is written before each change, so that
an interrupted run leaves nothing behind that it does not name.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path

from installer.shell import Failed

DIRECTORY = Path("/var/lib/tidesdb-install")
_FORMAT = 1


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Record:
    """files: path -> {"sha256" of what we put there, "copy" of what was there before us or None}.

    facts: what later runs want to know. notes: lines for the summary, of this run only.
    """

    def __init__(self, directory=DIRECTORY):
        self.directory = Path(directory)
        self.file = self.directory / "record.json"
        kept = json.loads(self.file.read_text()) if self.file.exists() else {"format": _FORMAT}
        if kept["format"] != _FORMAT:
            raise Failed(f"{self.file} is of format {kept['format']}, this install.sh knows {_FORMAT}")
        self.files = kept.get("files", {})
        self.directories = kept.get("directories", [])
        self.facts = kept.get("facts", {})
        self.notes = []
        self._facts_before = dict(self.facts)
        self._journal = []  # This run's changes: (path, bytes before or None, mode, entry before or None).

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

    def put(self, path, data, mode=0o644, keep_edited=False):
        """Makes path hold data; True if that changed it.

        What is there and not from us is copied first. keep_edited: a file that was ours and that somebody
        changed since stays as it is.
        """
        path, entry = Path(path), self.files.get(str(path))
        before = path.read_bytes() if path.exists() else None
        if before == data:
            return False
        copy = entry["copy"] if entry else None
        if before is not None and (entry is None or digest(before) != entry["sha256"]):
            if entry and keep_edited:
                self.notes.append(f"{path} was changed since we wrote it, and is left as it is")
                return False
            saved = self._copy(path)
            copy = copy if entry else str(saved)
            self.notes.append(f"{path} was there; its copy is {saved}")
        self._remember(path, before, entry)
        self._make_directory(path.parent)
        self.files[str(path)] = {"sha256": digest(data), "copy": copy}
        self.save()
        _write(path, data, mode)
        return True

    def remove(self, path):
        """Takes back what we put at path; True if there was something to take back."""
        path, entry = Path(path), self.files.get(str(path))
        if entry is None:
            return False
        before = path.read_bytes() if path.exists() else None
        self._remember(path, before, entry)
        if before is not None and digest(before) != entry["sha256"]:
            self.notes.append(f"{path} was changed since we wrote it; its copy is {self._copy(path)}")
        if entry["copy"]:
            _write(path, Path(entry["copy"]).read_bytes(), Path(entry["copy"]).stat().st_mode & 0o777)
            self.notes.append(f"{path} is again what it was before")
        else:
            path.unlink(missing_ok=True)
        del self.files[str(path)]
        self._remove_directories()
        self.save()
        return True

    def roll_back(self):
        """Undoes this run's changes, the last one first. Packages stay, and that they were installed."""
        for path, before, mode, entry in reversed(self._journal):
            if before is None:
                path.unlink(missing_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(path, before, mode)
            if entry is None:
                self.files.pop(str(path), None)
            else:
                self.files[str(path)] = entry
        self._journal = []
        packages = self.facts.get("packages", [])
        self.facts = {**self._facts_before, "packages": packages}
        self._remove_directories()
        self.save()

    def _remember(self, path, before, entry):
        mode = path.stat().st_mode & 0o777 if before is not None else 0o644
        self._journal.append((path, before, mode, dict(entry) if entry else None))

    def _copy(self, path):
        copies = self.directory / "copies"
        copies.mkdir(parents=True, exist_ok=True)
        name = str(path).strip("/").replace("/", "-")
        number = 1
        while (copies / f"{name}.{number}").exists():
            number += 1
        saved = copies / f"{name}.{number}"
        shutil.copy2(path, saved)
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


def _write(path, data, mode):
    """A new file under the old name: who has the old one open or mapped keeps it."""
    new = path.with_name(path.name + ".new")
    with open(new, "wb") as file:
        file.write(data)
        os.fchmod(file.fileno(), mode)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
