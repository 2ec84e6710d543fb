"""install.sh --tidesdb-prefix: the engine as a library for other programs; recorded, so --uninstall removes it."""

import os
import shutil
from pathlib import Path

from installer import host
from installer.shell import TREE, Step, run
from installer.steps import targets

# No LTO: the plugin is optimised at its own link, but an archive must link with any compiler.
_OPTIONS = ["-DTIDESDB_BUILD_TESTS=OFF", "-DTIDESDB_BUILD_PLUGIN=OFF", "-DTIDESDB_PCH=ON",
            "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF"]

_BYTES = 100 << 20  # Its size, and some more.


def prefix_of(args, record):
    """The prefix asked for, now or in an earlier run; None: no library."""
    if args.tidesdb_prefix:
        return args.tidesdb_prefix.absolute()
    kept = record.facts.get("library")
    return Path(kept["prefix"]) if kept else None


def check(record, prefix):
    """Raises Failed if it cannot be put there."""
    there = record.facts.get("library", {}).get("prefix") == str(prefix)
    targets.check(prefix, 0 if there else _BYTES, "--tidesdb-prefix")


def stage(into, jobs, log, more=()):
    """Compiles it in a directory. Returns a directory with the files for the prefix. more: options for cmake."""
    staged = into / "staged"
    with host.build_lock(into) as lock, Step("Building libtidesdb"):
        shutil.rmtree(staged, ignore_errors=True)
        run(["cmake", "--preset", "release", "-B", into, *_OPTIONS, *more], log=log, cwd=TREE, lock=lock)
        run(["cmake", "--build", into, "-j", jobs, "--target", "tidesdb"], log=log, cwd=TREE, lock=lock)
        run(["cmake", "--install", into, "--prefix", staged], log=log, cwd=TREE, env={"DESTDIR": ""}, lock=lock)
    return staged


def put(record, prefix, staged):
    """Puts all files below prefix, and removes an earlier run's obsolete ones. True if a file changed."""
    changed, files = False, {}
    for root, _, names in os.walk(staged):
        for name in names:
            path = Path(root) / name
            files[str(prefix / path.relative_to(staged))] = path
    earlier = record.facts.get("library", {}).get("files", [])
    # Recorded before the first change, so that after an interruption the next run can finish.
    record.facts["library"] = {"prefix": str(prefix), "files": sorted({*earlier, *files})}
    for path, source in sorted(files.items()):
        changed = record.put(path, source.read_bytes()) or changed
    for path in earlier:
        if path not in files:
            changed = record.remove(path) or changed
    record.facts["library"]["files"] = sorted(files)
    return changed
