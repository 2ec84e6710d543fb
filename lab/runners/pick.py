"""Finds the program that made a file or folder, and reads it as a study."""

import json
from pathlib import Path

from installer.shell import Failed
from lab.study import written
from lab.works import bench, iibench, tpcc


def _of_folder(folder):
    folder = max(folder.glob("raw_*"), default=folder)  # Of sqlbench.sh's several runs the newest.
    if written.is_one(folder):
        return written.read(folder)
    raise Failed(f"{folder}: has no run of lab.compare, sqlbench.sh, pgo_study.sh, hammerdb_runner.sh "
                 "(hammerdb_logs_...), mariadb_engines_runner.sh (results_...) or iibench_runner.sh (iibench_...)")


def _kind(path):
    """The file's own kind; "" for a text without one."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return raw.get("kind", "") if isinstance(raw, dict) else ""


def study(paths):
    """One Study: of one folder that a runner left, or of result files of one generator. Raises Failed."""
    paths = [Path(path) for path in paths]
    folders = [path for path in paths if path.is_dir()]
    if folders and len(paths) > 1:
        raise Failed(f"{folders[0]}: is already a whole run; give one folder, or only result files")
    try:
        return _of_folder(folders[0]) if folders else _of_results(paths)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OSError) as error:
        raise Failed(f"{paths[0]}: is damaged or incomplete: {error!r}") from error


def _of_results(paths):
    kinds = {_kind(path) for path in paths}
    of = bench if bench.KIND in kinds else iibench if "iibench" in kinds else tpcc
    return of.study(paths)
