"""The command line of install.sh; pure."""

import argparse
import os
import re
from pathlib import Path

from installer.source import options as source

ALLOCATORS = ["system", "jemalloc", "mimalloc", "tcmalloc"]

_DESCRIPTION = """Builds TidesDB for this machine's MariaDB (Debian's or Ubuntu's package; installs it if it is
missing). Puts ha_tidesdb.so into the plugin directory and a few lines into the configuration, restarts the
server and checks that ENGINE=TidesDB works. A second run does only what is missing."""

_EPILOG = """/var/lib/tidesdb-install/record.json records all changes. Before it overwrites a file, install.sh copies
it to /var/lib/tidesdb-install/copies/. It never changes the server's version. After an upgrade the server starts
without the engine until you run ./install.sh again to build for the new version."""

# Options of the described system that do not apply here, with the message for each.
_REFUSED = {"s3": "object stores are not supported yet",
            "tidesdb_version": "install.sh installs this source tree; for another version check out that version"}


def parser():
    made = argparse.ArgumentParser(prog="install.sh", description=_DESCRIPTION, epilog=_EPILOG,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--allocator", choices=ALLOCATORS,
                      help="memory allocator of the whole server process (default: unchanged)")
    made.add_argument("--pgo", action=argparse.BooleanOptionalAction,
                      help="optimise engine and plugin by a profile: build instrumented, train on private servers "
                           "(mysql-test-run, TPROC-C, sysbench, iibench), rebuild, check, measure the gain; takes about "
                           "20 minutes on two cores for each new source, two hours with --mariadb-version (default: as "
                           "it is)")
    made.add_argument("--mariadb-source", type=_path, metavar="TARBALL",
                      help="the server's sources, of exactly its version, if the archive lacks them")
    made.add_argument("--tidesdb-prefix", type=_path, metavar="DIR",
                      help="also install libtidesdb.a, its headers and its pkg-config and CMake files there, for your "
                           "own programs (default: unchanged)")
    made.add_argument("--build-dir", type=_path, metavar="DIR",
                      help="where to build (here, build/install-VERSION or build/server-VERSION)")
    made.add_argument("--jobs", type=_count, metavar="N", default=os.cpu_count() or 1,
                      help="number of parallel compilers (%(default)s)")
    made.add_argument("--rebuild-plugin", action="store_true", help="build from scratch, install again, restart; "
                      "with --pgo also train again")
    made.add_argument("--skip-deps", action="store_true", help="install no packages; only name the missing ones")
    made.add_argument("--skip-tidesdb", action="store_true", help="accepted: the engine is inside the plugin")
    made.add_argument("--no-restart", action="store_true",
                      help="do not restart the server; the changes take effect at its next restart")
    made.add_argument("--uninstall", action="store_true", help="undo the installation; tables stay on disk")
    source.add_to(made)
    made.add_argument("--tidesdb-version", help=argparse.SUPPRESS)
    made.add_argument("--s3", action="store_true", help=argparse.SUPPRESS)
    return made


def parse(argv):
    """The options. Ends the program with a message if they are wrong."""
    made = parser()
    args = made.parse_args(argv)
    for name, why in _REFUSED.items():
        if getattr(args, name):
            made.error(f"--{name.replace('_', '-')}: {why}")
    if args.uninstall:
        making = ("allocator", "pgo", "tidesdb_prefix", "mariadb_source", "rebuild_plugin")
        others = [name for name in making if getattr(args, name)]
        if others:
            made.error(f"--uninstall does not go with --{others[0].replace('_', '-')}")
    wrong = source.problem(args)
    if wrong:
        made.error(wrong)
    return args


def _path(text):
    """Resolves a path from where install.sh was called. It runs in its tree, so that root imports nothing else."""
    return Path(os.environ.get("TIDESDB_CALLED_FROM", os.getcwd())) / text


def _count(text):
    if not re.fullmatch(r"[1-9]\d{0,3}", text):
        raise argparse.ArgumentTypeError(f"not a number from 1 to 9999: {text}")
    return int(text)
