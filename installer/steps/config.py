"""The lines that install.sh adds to the server's configuration; pure but for reading the machine's memory."""

import os
from pathlib import Path

MIB = 1 << 20

# Our files begin with this, so that they can be recognized if the record is lost.
MARK = "# From TidesDB's install.sh"


def memory_bytes(limits=("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")):
    """The machine's memory, or its cgroup's limit if that is lower."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in map(Path, limits):
        if path.exists() and path.read_text().strip().isdigit():
            found = min(found, int(path.read_text()))
    return found


def memtable_mib(memory):
    """The memtable size for a server with that much memory, beside InnoDB's small default pool.

    The engine's whole budget is half of the memory (docs/design/0012-memory.md). The memtable has its default size, or less
    if two of them would not fit into a quarter of the budget.
    """
    return _rounded(min(128 * MIB, memory // 2 // 8)) // MIB


def _rounded(size):
    """Rounded down to a number that people would write."""
    step = 32 * MIB if size >= 64 * MIB else MIB
    return size // step * step


def server_config(memory):
    return f"""{MARK}; --uninstall removes it. What you change here stays.
[mysqld]
plugin_load_add = ha_tidesdb

# loose_: the server also starts without the plugin, as after an upgrade to a version that the plugin is not built for.
# The engine uses at most half of the machine's memory (tidesdb_max_memory_usage). Decoded blocks may take all of that
# which nothing else needs:
loose_tidesdb_block_cache_size = 0
# Writes collect in memory up to this size before they go to table files:
loose_tidesdb_unified_memtable_write_buffer_size = {memtable_mib(memory)}M
# An answered COMMIT survives a power cut (INTERVAL and NONE trade the last ones for speed):
loose_tidesdb_unified_memtable_sync_mode = FULL
"""


def allocator_config(library):
    """For servers that mysqld_safe starts: Debian's init script, containers."""
    return f"""{MARK} --allocator; --allocator system removes it. Without systemd:
[mysqld_safe]
malloc_lib = {library}
"""


def allocator_unit(library):
    """For servers that systemd starts; it reads no [mysqld_safe]."""
    return f"""{MARK} --allocator; --allocator system removes it.
[Service]
Environment=LD_PRELOAD={library}
"""
