// The one table of the engine's counters and timers: add a line, and it is counted, summed, named.
#pragma once

// X(Identifier, "name_for_people"): Counter::kIdentifier.
#define TIDESDB_COUNTERS(X)                       \
  X(WalSyncs, "wal_syncs")                        \
  X(WalWriteBytes, "wal_write_bytes")             \
  X(BlockCacheHits, "block_cache_hits")           \
  X(BlockCacheMisses, "block_cache_misses")       \
  X(Flushes, "flushes")                           \
  X(FlushWriteBytes, "flush_write_bytes")         \
  X(Compactions, "compactions")                   \
  X(CompactionReadBytes, "compaction_read_bytes") \
  X(CompactionWriteBytes, "compaction_write_bytes")

// X(Identifier, "name_for_people"): Timer::kIdentifier; microseconds.
#define TIDESDB_TIMERS(X)   \
  X(WalSync, "wal_sync_us") \
  X(Commit, "commit_us")
