"""Facts about this machine: its Debian release, whether we are root, where caches live."""

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path

from installer.shell import TREE, Unavailable, say

# The server environments by name, and the Debian release each one lives in.
CODENAMES = {"debian12": "bookworm", "debian13": "trixie"}


def os_release(path="/etc/os-release"):
    """The values in that file: ID, VERSION_CODENAME, PRETTY_NAME and others."""
    facts = {}
    for line in Path(path).read_text().splitlines():
        key, _, value = line.partition("=")
        facts[key] = value.strip('"')
    return facts


def codename():
    """This machine's Debian release, such as "bookworm". Raises Unavailable elsewhere."""
    facts = os_release()
    name = facts.get("VERSION_CODENAME", "")
    if facts.get("ID") != "debian" or name not in CODENAMES.values():
        raise Unavailable("this runs on Debian 12 (bookworm) or Debian 13 (trixie); "
                          f"here is {facts.get('PRETTY_NAME', 'something else')}")
    return name


def apt_codename():
    """This machine's release in the archive of its distribution, Debian or Ubuntu. Raises Unavailable elsewhere."""
    facts = os_release()
    if facts.get("ID") not in ("debian", "ubuntu") or not facts.get("VERSION_CODENAME"):
        raise Unavailable(f"this is for Debian and Ubuntu; here is {facts.get('PRETTY_NAME', 'something else')}")
    return facts["VERSION_CODENAME"]


def host_server():
    """The name of the server environment of this machine's own release."""
    here = codename()
    return next(name for name, code in CODENAMES.items() if code == here)


def is_root():
    return os.geteuid() == 0


def cache_dir():
    """Downloads, roots and unpacked servers; shared by checkouts when TIDESDB_CACHE_DIR is set."""
    path = Path(os.environ.get("TIDESDB_CACHE_DIR") or TREE / "var" / "cache").resolve()
    path.mkdir(parents=True, exist_ok=True)
    return path


def build_lock(directory):
    """Holds a build directory's lock: two builds there at once would write the same files.

    Yields the lock's file, for shell.run: compilers that outlive a killed build hold it until they end.
    """
    Path(directory).mkdir(parents=True, exist_ok=True)
    return _lock(Path(directory) / ".lock", f"another build in {directory}")


def cache_lock(name):
    """Holds the cache's lock of that name, so that two runs do not make the same thing at once. Yields the lock's file."""
    return _lock(cache_dir() / f".{name}.lock", f"another run, which makes {name}")


@contextmanager
def _lock(path, other):
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"  waiting for {other}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file
