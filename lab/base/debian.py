"""Python packages from Debian, under any python3."""

import importlib
import sys
from pathlib import Path

from installer.shell import Failed, output

_DEBIANS = Path("/usr/lib/python3/dist-packages")
_PYTHON = Path("/usr/bin/python3")


def load(module, package):
    """The module. Raises Failed naming the Debian package if it is missing.

    A python3 that is not Debian's does not see Debian's packages. If both have the same version
    (3.11, say), the packages run in it all the same.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if str(_DEBIANS) in sys.path or not _same_version():
            raise Failed(f"{module} is missing: apt-get install {package} ({error})") from error
    sys.path.append(str(_DEBIANS))
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Failed(f"{module} is missing: apt-get install {package} ({error})") from error


def _same_version():
    if not _PYTHON.exists() or not _DEBIANS.is_dir():
        return False
    said = output([_PYTHON, "-c", "import sys; print(*sys.version_info[:2])"]).split()
    return said == [str(part) for part in sys.version_info[:2]]
