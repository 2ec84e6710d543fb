"""The lines that install.sh adds to the server's configuration; pure but for reading the machine's memory."""

import os
from pathlib import Path

MIB = 1 << 20

# What our files begin with, by which they are known where the record is lost.
MARK = "# From TidesDB's install.sh"


def memory_bytes(limits=("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")):
    """The machine's memory, or its cgroup's limit when that is less."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in map(Path, limits):
        if path.exists() and path.read_text().strip().isdigit():
            found = min(found, int(path.read_text()))
    return found


def memtable_mib(memory):
    """The memtable for a server with that much memory, InnoDB's small default pool beside it.

    The engine's whole budget is half of the memory (docs/design/0012-memory.md). The memtable as by default, less
    where two would not fit into a quarter of the budget.
    """
    return _rounded(min(128 * MIB, memory // 2 // 8)) // MIB


def _rounded(size):
    """Down to what people would write."""
    step = 32 * MIB if size >= 64 * MIB else MIB
    return size // step * step


def server_config(memory):
    return f"""{MARK}; --uninstall removes it. What you change here stays.
[mysqld]
plugin_load_add = ha_tidesdb

# loose_: after an upgrade to a version that the plugin is not built for, the server starts without it.
# Half of the machine's memory at most is used (tidesdb_max_memory_usage); of that, for decoded blocks, all that
# nothing else needs:
loose_tidesdb_block_cache_size = 0
# Writes are collected in as much before they go to table files:
loose_tidesdb_unified_memtable_write_buffer_size = {memtable_mib(memory)}M
# A COMMIT that was answered survives a power cut (INTERVAL and NONE give the last ones away for speed):
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
