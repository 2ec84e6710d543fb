"""The command line of install.sh; pure."""

import argparse
import os
import re
from pathlib import Path

from installer.source import options as source

ALLOCATORS = ["system", "jemalloc", "mimalloc", "tcmalloc"]

_DESCRIPTION = """Builds TidesDB for this machine's MariaDB (Debian's or Ubuntu's package; installs it if there is
none), puts ha_tidesdb.so into its plugin directory and a few lines into its configuration, restarts the
server and checks that ENGINE=TidesDB works. Run again, it does only what is missing."""

_EPILOG = """What was done is kept in /var/lib/tidesdb-install/record.json. No file is overwritten without a copy in
/var/lib/tidesdb-install/copies/. The server's version is never changed: when it is upgraded, it starts
without the engine until ./install.sh has built for the new version."""

# Options of the described system that have nothing to do here, with what to say.
_REFUSED = {"s3": "object stores are not there yet",
            "tidesdb_version": "this source tree is what is installed; check out another one for another version"}


def parser():
    made = argparse.ArgumentParser(prog="install.sh", description=_DESCRIPTION, epilog=_EPILOG,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--allocator", choices=ALLOCATORS,
                      help="memory allocator of the whole server process (default: as it is)")
    made.add_argument("--pgo", action=argparse.BooleanOptionalAction,
                      help="engine and plugin optimised by a profile: built instrumented, trained on private servers "
                           "(mysql-test-run, TPROC-C, sysbench, iibench), rebuilt, checked, and the gain measured; once "
                           "for each source about 20 minutes on two cores, two hours with --mariadb-version (default: as "
                           "it is)")
    made.add_argument("--mariadb-source", type=_path, metavar="TARBALL",
                      help="the server's sources, of exactly its version, where the archive has them not")
    made.add_argument("--tidesdb-prefix", type=_path, metavar="DIR",
                      help="also puts libtidesdb.a, its headers and what pkg-config and CMake read there, for programs "
                           "of your own (default: as it is)")
    made.add_argument("--build-dir", type=_path, metavar="DIR",
                      help="where to build (here, build/install-VERSION or build/server-VERSION)")
    made.add_argument("--jobs", type=_count, metavar="N", default=os.cpu_count() or 1,
                      help="compilers at once (%(default)s)")
    made.add_argument("--rebuild-plugin", action="store_true", help="build from nothing, put it in again, restart; "
                      "with --pgo train anew")
    made.add_argument("--skip-deps", action="store_true", help="install no packages; say which are missing")
    made.add_argument("--skip-tidesdb", action="store_true", help="accepted: the engine is inside the plugin")
    made.add_argument("--no-restart", action="store_true",
                      help="leave the server alone; the next restart makes it all effective")
    made.add_argument("--uninstall", action="store_true", help="undo what was done; tables stay on disk")
    source.add_to(made)
    made.add_argument("--tidesdb-version", help=argparse.SUPPRESS)
    made.add_argument("--s3", action="store_true", help=argparse.SUPPRESS)
    return made


def parse(argv):
    """The options. Ends the program with a message when they are not right."""
    made = parser()
    args = made.parse_args(argv)
    for name, why in _REFUSED.items():
        if getattr(args, name):
            made.error(f"--{name.replace('_', '-')}: {why}")
    if args.uninstall:
        making = ("allocator", "pgo", "tidesdb_prefix", "mariadb_source", "rebuild_plugin")
        others = [name for name in making if getattr(args, name)]
        if others:
            made.error(f"--uninstall goes with no --{others[0].replace('_', '-')}")
    wrong = source.problem(args)
    if wrong:
        made.error(wrong)
    return args


def _path(text):
    """From where install.sh was called; it runs in its tree, so that nothing else is imported as root."""
    return Path(os.environ.get("TIDESDB_CALLED_FROM", os.getcwd())) / text


def _count(text):
    if not re.fullmatch(r"[1-9]\d{0,3}", text):
        raise argparse.ArgumentTypeError(f"not a number from 1 to 9999: {text}")
    return int(text)
