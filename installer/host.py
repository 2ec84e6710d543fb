"""Facts about this machine: its Debian release, whether we are root, where caches live."""

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path

from installer.shell import TREE, Unavailable

# The server environments by name, and the Debian release each one lives in.
CODENAMES = {"debian12": "bookworm", "debian13": "trixie"}


def codename():
    """This machine's Debian release, such as "bookworm". Raises Unavailable elsewhere."""
    facts = {}
    for line in Path("/etc/os-release").read_text().splitlines():
        key, _, value = line.partition("=")
        facts[key] = value.strip('"')
    name = facts.get("VERSION_CODENAME", "")
    if facts.get("ID") != "debian" or name not in CODENAMES.values():
        raise Unavailable("this runs on Debian 12 (bookworm) or Debian 13 (trixie); "
                          f"here is {facts.get('PRETTY_NAME', 'something else')}")
    return name


def host_server():
    """The name of the server environment that is this machine itself."""
    here = codename()
    return next(name for name, code in CODENAMES.items() if code == here)


def is_root():
    return os.geteuid() == 0


def cache_dir():
    """Downloads, roots and unpacked servers; shared by checkouts when TIDESDB_CACHE_DIR is set."""
    path = Path(os.environ.get("TIDESDB_CACHE_DIR") or TREE / "var" / "cache").resolve()
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def cache_lock(name):
    """Holds the cache's lock of that name, so that two runs do not make the same thing at once."""
    with open(cache_dir() / f".{name}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
