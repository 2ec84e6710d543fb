// The one table of the numbers about a database: what each is called, what it means, where it comes from.
//
// A line makes all of these, so no other list is needed:
//   - a field of DbStats (stats.h),
//   - a line of Db::StatusText,
//   - MariaDB's status variable Tidesdb_<shown> and its row in INFORMATION_SCHEMA.TIDESDB_METRICS,
//   - a line of docs/variables.md: python3 -m tools.variables writes it.
// A new counter is a line here, and Metrics::Add(Counter::kIdentifier) where it happens.
//
// COUNTER(Identifier, field, shown, "meaning"): since open, kept by src/base/metrics.h.
// NUMBER(type, field, shown, value, "meaning"): value computes it from the names that DbImpl::GetStats
//   (src/db/db_stats.cc) has for its parts; `stats` has the fields above it.
// ALIAS(shown, field, "meaning"): a second name of the status variable, as in the described system.
#pragma once

#include <cstdint>

// clang-format off
#define TIDESDB_STATISTICS(COUNTER, NUMBER, ALIAS) \
  /* --- What there is --- */ \
  NUMBER(uint64_t, families, column_families, tables.families, \
         "column families: one per table, per secondary index, and per table's long values") \
  NUMBER(uint64_t, last_sequence, global_sequence, txns_->VisibleSequence(), "the newest commit that readers see") \
  /* --- Memory now --- */ \
  NUMBER(uint64_t, memtable_bytes, memtable_bytes, memtables.MemoryBytes(), \
         "memory of memtables, including those that wait for flush") \
  NUMBER(uint64_t, active_memtable_bytes, unified_memtable_bytes, memtables.ActiveBytes(), \
         "memory of the active memtable") \
  NUMBER(uint64_t, transaction_bytes, txn_memory_bytes, txns.memory_bytes, \
         "memory of open transactions: writes and locks") \
  NUMBER(uint64_t, memory_max_bytes, memory_limit, options_.memory_max_bytes, \
         "the memory budget (`tidesdb_max_memory_usage`, or the automatic value)") \
  NUMBER(uint64_t, memory_used_bytes, memory_used, \
         stats.memtable_bytes + SpareHugePageBytes() + txns.memory_bytes + cache.bytes + tree_->tables().MemoryBytes(), \
         "used part of the budget: memtables and what is kept for the next, transactions, cache and open tables") \
  NUMBER(uint64_t, memory_pressure, memory_pressure, MemoryPressure(stats.memory_used_bytes, stats.memory_max_bytes), \
         "0: below 70 % of the budget, 1: below 85 %, 2: below 95 %, 3: above") \
  /* --- Table files --- */ \
  NUMBER(uint64_t, table_files, total_sstables, tables.files, "table files") \
  NUMBER(uint64_t, open_files, open_sstables, tree_->tables().OpenFiles(), "table files held open") \
  NUMBER(uint64_t, table_bytes, data_size_bytes, tables.bytes, "bytes of table files on disk") \
  NUMBER(uint64_t, table_entries, total_entries, tables.entries, "versions and deletions in table files") \
  NUMBER(uint64_t, tombstones, total_tombstones, tables.tombstones, "deletions in table files") \
  NUMBER(double, tombstone_ratio, tombstone_ratio, Ratio(tables.tombstones, tables.entries), \
         "share of deletions in all entries, 0 to 1") \
  NUMBER(double, densest, max_sst_tombstone_density, tables.densest, "the highest share of deletions in any table file") \
  NUMBER(int64_t, densest_level, max_sst_tombstone_density_level, tables.densest_level, \
         "the level of that file; -1 if no file has a deletion") \
  /* --- Background work now --- */ \
  NUMBER(uint64_t, immutable_memtables, immutable_memtables, memtables.ImmutableCount(), \
         "memtables that wait for flush") \
  ALIAS(unified_immutable_count, immutable_memtables, "the same, under the described system's name") \
  ALIAS(flush_queue, immutable_memtables, "the same: memtables that wait for flush or are being flushed") \
  ALIAS(flush_pending, immutable_memtables, "the same") \
  NUMBER(uint64_t, compactions_wanted, compaction_queue, pressure.wanted, "families that need a compaction") \
  NUMBER(uint64_t, compactions_running, compactions_running, pressure.running, "compactions that run now") \
  /* --- Block cache --- */ \
  NUMBER(uint64_t, cache_partitions, cache_partitions, cache.partitions, \
         "parts of the block cache, each with its own mutex") \
  NUMBER(uint64_t, cache_entries, cache_entries, cache.entries, "blocks in the block cache") \
  NUMBER(uint64_t, cache_bytes, cache_bytes, cache.bytes, "bytes in the block cache") \
  NUMBER(uint64_t, cache_hits, cache_hits, cache.hits, "blocks found in the cache") \
  NUMBER(uint64_t, cache_misses, cache_misses, cache.misses, "blocks read from a file") \
  NUMBER(double, cache_hit_rate, cache_hit_rate, Ratio(cache.hits, cache.hits + cache.misses), \
         "hits over hits and misses, 0 to 1") \
  /* --- Waits --- */ \
  NUMBER(uint64_t, write_delays, backpressure_waits, delays.delays, \
         "commits slowed down because background work was behind") \
  NUMBER(uint64_t, write_delay_us, backpressure_wait_us, delays.delay_us, "total time of these waits, in microseconds") \
  NUMBER(uint64_t, lock_waits, lock_waits, txns.lock_waits, \
         "waits for row and range locks, counted when they begin") \
  NUMBER(uint64_t, lock_wait_us, lock_wait_us, txns.lock_wait_us, "total time of these waits, in microseconds") \
  NUMBER(uint64_t, deadlocks, lock_deadlocks, txns.deadlocks, "waits that ended with a deadlock (error 1213)") \
  NUMBER(uint64_t, lock_timeouts, lock_timeouts, txns.lock_timeouts, "waits that timed out (error 1205)") \
  NUMBER(uint64_t, locks_held, lock_held, txns.locks_held, "row locks held now") \
  ALIAS(lock_entries, locks_held, "the same, under the described system's name") \
  /* --- Transactions --- */ \
  COUNTER(Conflicts, conflicts, conflicts, \
          "rows that changed since the snapshot (error 1020), failed optimistic commits") \
  NUMBER(uint64_t, active_transactions, active_transactions, txns.active_transactions, "open transactions") \
  NUMBER(uint64_t, commits, commits, txns.commits, "commits with writes") \
  COUNTER(Rollbacks, rollbacks, rollbacks, "rollbacks") \
  /* --- Writing --- */ \
  ALIAS(uwal_bytes_written, wal_bytes_written, "bytes written to the log") \
  COUNTER(WalBytesWritten, wal_bytes_written, wal_bytes_written, "the same, under the described system's name") \
  NUMBER(uint64_t, wal_segment, unified_wal_generation, wal_->current_segment(), \
         "the number of the log file in use") \
  COUNTER(WalSyncs, wal_syncs, wal_syncs, "syncs of the log; with group commit, fewer than commits") \
  COUNTER(FlushBytesWritten, flush_bytes_written, flush_bytes_written, "bytes of table files written by flushes") \
  COUNTER(CompactionBytesWritten, compaction_bytes_written, compaction_bytes_written, "bytes written by compactions") \
  COUNTER(CompactionBytesRead, compaction_bytes_read, compaction_bytes_read, "bytes read by compactions") \
  COUNTER(UserBytesWritten, user_bytes_written, user_bytes_written, \
          "keys and values of commits, for write amplification") \
  COUNTER(Flushes, flushes, flush_count, "flushes") \
  COUNTER(Compactions, compactions, compaction_count, "compactions") \
  NUMBER(uint64_t, compaction_debt_bytes, compaction_debt_bytes, pressure.debt_bytes, \
         "bytes that compaction still has to move") \
  COUNTER(Spills, spills, spills, "sorted runs that large transactions wrote to disk") \
  COUNTER(SpillBytesWritten, spill_bytes_written, spill_bytes_written, \
          "bytes of those runs and of the table files made from them") \
  COUNTER(Loads, loads, loads, \
          "families filled by sorted table files: ADD INDEX, the copy of ALTER TABLE, bulk inserts into an empty table") \
  COUNTER(DeadKeysWalked, dead_keys_walked, dead_keys_walked, "deleted keys that scans stepped over") \
  COUNTER(YoungRuns, young_runs, scan_young_runs, \
          "how often scans changed to a memtable or a file of level 0; many make the engine merge those") \
  NUMBER(bool, read_only, read_only, errors_->fatal(), "ON after a fatal error: all writes are refused")
// clang-format on
