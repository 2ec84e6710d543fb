"""Where a server from source is built and put: whose directory that is, and the room that it takes."""

import os

from installer.shell import TREE, Failed
from installer.steps import targets

STAMP = ".tidesdb-build"
_STAMP_TEXT = "A build directory of TidesDB's install.sh --mariadb-version: it removes here what it builds anew.\n"

# A tree, its stage and its plugin's build, with room for links.
TREE_BYTES = 3 << 30
SOURCES_BYTES = 1 << 30
# The server's files beside those that they replace, and its first data.
PREFIX_BYTES = 1 << 30


def claim(build, ours=TREE / "build"):
    """Makes a build directory that has no sources yet, or takes it up. Raises Failed when it is something else.

    Much is removed in it, by names that others use too: download, library, plain. So one that is not empty wants our
    mark, or the place of the usual one, below ours: earlier versions left no mark before the sources were there.
    """
    targets.check(build, SOURCES_BYTES, "--build-dir")
    stamp = build / STAMP
    if stamp.exists():
        return
    if build.exists() and not build.is_relative_to(ours) and set(os.listdir(build)) - {"lost+found"}:
        raise Failed(f"{build} holds something that is no build of install.sh's; say an empty or a new --build-dir")
    build.mkdir(parents=True, exist_ok=True)
    stamp.write_text(_STAMP_TEXT)


def needs(paths, trees, replaced):
    """What targets.check_all() takes. trees: those that the run wants, by name.

    replaced: is the installed server another one than what comes? Else it may be all there.
    """
    fresh = sum(not (paths.build / name / "build.ninja").exists() for name in trees)
    sources = 0 if paths.sources.exists() else SOURCES_BYTES
    return [(paths.build, fresh * TREE_BYTES + sources, "--build-dir"),
            (paths.prefix, PREFIX_BYTES if replaced or fresh else 0, "--mariadb-prefix")]
