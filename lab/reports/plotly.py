"""plotly.js from Debian's python3-plotly: only this file is unpacked into the cache, nothing is installed.

Installing the package would bring some forty others. An installed plotly serves as well.
"""

import re
from pathlib import Path

from installer import apt, host
from installer.shell import TREE, Failed, Step, Unavailable, run

PACKAGE = "python3-plotly"
_INSTALLED = ("/usr/share/python3-plotly/plotly.js",
              "/usr/lib/python3/dist-packages/plotly/package_data/plotly.min.js")
_INSIDE = "./usr/share/python3-plotly/plotly.js"
_LOG = TREE / "var" / "log" / "report.log"


def source():
    """The text of plotly.js. Raises Unavailable if it is neither here nor available."""
    path = next((Path(name) for name in _INSTALLED if Path(name).exists()), None) or _cached()
    return path.read_text(encoding="utf-8")


def version(text):
    """As its first comment says."""
    found = re.search(r"plotly\.js v([\d.]+)", text[:2000])
    return found.group(1) if found else "unknown"


def _cached():
    path = host.cache_dir() / "plotly" / "plotly.js"
    if not path.exists():
        try:
            _unpack(path)
        except (Failed, OSError) as error:
            raise Unavailable(f"the charts of a report need plotly.js: apt-get install {PACKAGE} ({error})") from error
    return path


def _unpack(path):
    archive = apt.Archive(host.codename(), _LOG)
    with host.cache_lock("plotly"), Step("Fetching plotly.js for the report"):
        versions = archive.versions(PACKAGE)
        if not versions:
            archive.update()
            versions = archive.versions(PACKAGE)
        if not versions:
            raise Failed(f"the archive has no {PACKAGE}")
        deb, = archive.download([PACKAGE], versions[0], path.parent / "deb")
        run(["dpkg-deb", "-x", deb, path.parent / "unpacked"], log=_LOG)
        new = path.parent / "unpacked" / _INSIDE
        if not new.exists():
            raise Failed(f"{deb.name} holds no {_INSIDE}")
        new.rename(path)
        run(["rm", "-rf", path.parent / "unpacked", path.parent / "deb"], log=_LOG)
