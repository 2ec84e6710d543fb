"""Where a server from source is built and put: the directory's owner, and the room it needs."""

import os

from installer.shell import TREE, Failed
from installer.steps import targets

STAMP = ".tidesdb-build"
_STAMP_TEXT = "A build directory of TidesDB's install.sh --mariadb-version, which removes and rebuilds files here.\n"

# A tree, its stage and its plugin's build, with space for links.
TREE_BYTES = 3 << 30
SOURCES_BYTES = 1 << 30
# The server's files beside those they replace, and its first data.
PREFIX_BYTES = 1 << 30


def claim(build, ours=TREE / "build"):
    """Makes a build directory, or takes over one of ours that has no sources yet. Raises Failed if it is something else.

    install.sh removes much in it, by names that others use too: download, library, plain. So a directory that is not
    empty must have our mark or be in the usual place: earlier versions left no mark before they had the sources.
    """
    targets.check(build, SOURCES_BYTES, "--build-dir")
    stamp = build / STAMP
    if stamp.exists():
        return
    if build.exists() and not build.is_relative_to(ours) and set(os.listdir(build)) - {"lost+found"}:
        raise Failed(f"{build} is not empty and not a build directory of install.sh; give an empty or new --build-dir")
    build.mkdir(parents=True, exist_ok=True)
    stamp.write_text(_STAMP_TEXT)


def needs(paths, trees, replaced):
    """The arguments of targets.check_all(). trees: the trees that the run needs, by name.

    replaced: does the new server differ from the installed one? Otherwise all its files may be there already.
    """
    fresh = sum(not (paths.build / name / "build.ninja").exists() for name in trees)
    sources = 0 if paths.sources.exists() else SOURCES_BYTES
    return [(paths.build, fresh * TREE_BYTES + sources, "--build-dir"),
            (paths.prefix, PREFIX_BYTES if replaced or fresh else 0, "--mariadb-prefix")]
