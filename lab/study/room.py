"""Whether a disk has room for what a study is about to write, looked at before it begins."""

import shutil
from pathlib import Path

from installer.shell import Failed

# Of a private server, one of any engine: about what its data takes, with logs and what grows meanwhile.
SERVER = 400 << 20
SYSBENCH_ROW, IIBENCH_ROW = 400, 600
WAREHOUSE = 200_000_000  # 200 GB for a thousand.


def require(directory, needs, smaller):
    """Raises Failed when there is less room than that. smaller: in words, what makes it less, or goes elsewhere."""
    place = Path(directory).absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < needs:
        raise Failed(f"{directory}: has {free / 1e9:.1f} GB free, and the servers' data takes about {needs / 1e9:.1f} GB; "
                     f"{smaller}")
