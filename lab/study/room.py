"""Checks, before a study begins, that the disk has room for its data."""

import shutil
from pathlib import Path

from installer.shell import Failed

# A private server of any engine: about the size of its data, with logs and growth.
SERVER = 400 << 20
SYSBENCH_ROW, IIBENCH_ROW = 400, 600
WAREHOUSE = 200_000_000  # 200 GB per thousand.


def require(directory, needs, smaller):
    """Raises Failed if there is less room than that. smaller: advice on making it smaller or putting it elsewhere."""
    place = Path(directory).absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < needs:
        raise Failed(f"{directory}: has {free / 1e9:.1f} GB free, and the servers' data takes about {needs / 1e9:.1f} GB; "
                     f"{smaller}")
