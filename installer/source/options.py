"""The options of install.sh for a server from source; pure."""

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

from installer.shell import TREE

PREFIX = Path("/usr/local/mariadb")

# Each of these asks for a server from source; the others also apply without one.
_CHOOSING = ("mariadb_version", "mariadb_prefix", "list_engines")
_ONLY_HERE = ("skip_engines", "port")


@dataclass(frozen=True)
class Paths:
    """Paths: the server is below its prefix, everything of its build below the build directory."""
    prefix: Path
    build: Path

    @property
    def data(self):
        return self.prefix / "data"

    @property
    def socket(self):
        return self.prefix / "run" / "mysqld.sock"

    @property
    def config(self):
        return self.prefix / "etc" / "my.cnf"

    @property
    def control(self):
        return self.prefix / "bin" / "tidesdb-server"

    @property
    def sources(self):
        return self.build / "sources"


def add_to(parser):
    group = parser.add_argument_group("a server from source", "Any of the first three also compiles the server and "
                                      "installs it in its own directory and service; a distribution's server "
                                      "stays untouched.")
    group.add_argument("--mariadb-version", type=_version, metavar="VERSION",
                       help="such as 11.8.6, mariadb-11.8.6, or 11.8 for the archive's newest 11.8")
    group.add_argument("--mariadb-prefix", type=_prefix, metavar="DIR",
                       help=f"where to install the server, with its data ({PREFIX})")
    group.add_argument("--list-engines", action="store_true",
                       help="list the engines for --skip-engines, and end; fetches and unpacks the sources")
    group.add_argument("--skip-engines", type=_names, metavar="LIST",
                       help="storage engines to leave out, separated by commas; none: build all, and name those that "
                            "cannot be built (default: unchanged; at first those that Debian has in separate packages)")
    group.add_argument("--port", type=_port, metavar="N", help="of the server (at first a free one, from 3306 on)")


def wanted(args):
    """Do the options ask for a server from source?"""
    return any(getattr(args, name) for name in _CHOOSING)


def problem(args):
    """What is wrong with the combination of options, or None."""
    alone = [name for name in _ONLY_HERE if getattr(args, name) is not None]
    if alone and not wanted(args):
        return f"--{alone[0].replace('_', '-')} is for a server from source: give its version with --mariadb-version"
    if args.uninstall and (args.mariadb_version or args.list_engines or alone):
        return "of these options, --uninstall goes only with --mariadb-prefix"
    build = paths(args, "").build
    # It is in the compilers' flags, and the rules of a server's build do not quote these.
    if wanted(args) and not args.uninstall and not re.fullmatch(r"[\w./+@,=~-]+", str(build)):
        return f"cannot build a server in {build}, because the path has blanks or the like: give another --build-dir"
    return None


def paths(args, version):
    build = args.build_dir.resolve() if args.build_dir else TREE / "build" / f"server-{version}"
    return Paths(args.mariadb_prefix or PREFIX, build)


def _version(text):
    found = re.fullmatch(r"(?:mariadb-)?(\d+\.\d+(?:\.\d+)?)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"not a version of MariaDB, such as 11.8.6 or mariadb-11.8.6: {text}")
    return found.group(1)


def _prefix(text):
    path = Path(text)
    if not path.is_absolute() or ".." in path.parts or len(path.parts) < 3 or not re.fullmatch(r"[\w./+-]+", text):
        raise argparse.ArgumentTypeError(f"not an absolute path with at least two names and no blanks: {text}")
    return path


def _names(text):
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    return [] if names == ["none"] else names


def _port(text):
    if not re.fullmatch(r"\d{1,5}", text) or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"not a port: {text}")
    return int(text)
