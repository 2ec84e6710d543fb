// The one table of the status variables Tidesdb_*: their order, values, and what docs/variables.md says of them.
//
// X(name, type, value, "meaning"). type: Number, Signed, Ratio or Flag. value: an expression over `from`, a
// DbStats. After a change: python3 -m tools.variables.
#pragma once

// clang-format off
#define TIDESDB_STATUS_VARIABLES(X) \
  X(version_hex, Number, kVersionNumber, "the plugin's version, a byte for each part") \
  X(column_families, Number, from.families, "one for each table, each secondary index, and long values") \
  X(global_sequence, Number, from.last_sequence, "the newest commit that readers see") \
  X(memtable_bytes, Number, from.memtable_bytes, "memory of memtables, those that wait for flush too") \
  X(unified_memtable_bytes, Number, from.active_memtable_bytes, "of these, the one that takes writes") \
  X(txn_memory_bytes, Number, from.transaction_bytes, "memory of open transactions: writes and locks") \
  X(memory_limit, Number, from.memory_max_bytes, "the memory budget (`tidesdb_max_memory_usage`, or what was chosen)") \
  X(memory_used, Number, from.memory_used_bytes, "of the budget: memtables, transactions, cache and open tables") \
  X(memory_pressure, Number, MemoryPressure(from), "0: below 70 % of the budget, 1: below 85 %, 2: below 95 %, 3: above") \
  X(total_sstables, Number, from.table_files, "table files") \
  X(open_sstables, Number, from.open_files, "table files held open") \
  X(data_size_bytes, Number, from.table_bytes, "bytes of table files on disk") \
  X(total_tombstones, Number, from.tombstones, "deletions that table files hold") \
  X(tombstone_ratio, Ratio, TombstoneRatio(from), "their part of all entries, 0 to 1") \
  X(max_sst_tombstone_density, Ratio, from.densest, "the same of the table file where it is largest") \
  X(max_sst_tombstone_density_level, Signed, from.densest_level, "the level of that file; -1: none has a deletion") \
  X(immutable_memtables, Number, from.immutable_memtables, "memtables that wait for flush") \
  X(unified_immutable_count, Number, from.immutable_memtables, "the same, by the described system's name") \
  X(flush_queue, Number, from.immutable_memtables, "the same: memtables that wait for flush or are in one") \
  X(flush_pending, Number, from.immutable_memtables, "the same") \
  X(compaction_queue, Number, from.compactions_wanted, "families that want a compaction") \
  X(compactions_running, Number, from.compactions_running, "compactions under way") \
  X(cache_partitions, Number, from.cache_partitions, "parts of the block cache with a mutex each") \
  X(cache_entries, Number, from.cache_entries, "blocks in the block cache") \
  X(cache_bytes, Number, from.cache_bytes, "what they take") \
  X(cache_hits, Number, from.cache_hits, "blocks that were found in the cache") \
  X(cache_misses, Number, from.cache_misses, "blocks that were read from a file") \
  X(cache_hit_rate, Ratio, HitRate(from), "hits over hits and misses, 0 to 1") \
  X(backpressure_waits, Number, from.write_delays, "commits that were slowed down while background work was behind") \
  X(backpressure_wait_us, Number, from.write_delay_us, "their time in all, in microseconds") \
  X(lock_waits, Number, from.lock_waits, "waits for locks of rows and ranges, counted when they begin") \
  X(lock_wait_us, Number, from.lock_wait_us, "their time in all, in microseconds") \
  X(lock_deadlocks, Number, from.deadlocks, "waits that ended as a deadlock (error 1213)") \
  X(lock_timeouts, Number, from.lock_timeouts, "waits that took too long (error 1205)") \
  X(lock_held, Number, from.locks_held, "row locks held now") \
  X(lock_entries, Number, from.locks_held, "the same, by the described system's name") \
  X(conflicts, Number, from.conflicts, "rows that changed since the snapshot (error 1020), failed optimistic commits") \
  X(active_transactions, Number, from.active_transactions, "open transactions") \
  X(commits, Number, from.commits, "commits with writes") \
  X(rollbacks, Number, from.rollbacks, "rollbacks") \
  X(uwal_bytes_written, Number, from.wal_bytes_written, "bytes written to the log") \
  X(wal_bytes_written, Number, from.wal_bytes_written, "the same, by the described system's name") \
  X(unified_wal_generation, Number, from.wal_segment, "the number of the log file that takes records") \
  X(wal_syncs, Number, from.wal_syncs, "syncs of the log; group commit has fewer than commits") \
  X(flush_bytes_written, Number, from.flush_bytes_written, "bytes of table files written by flushes") \
  X(compaction_bytes_written, Number, from.compaction_bytes_written, "bytes written by compactions") \
  X(compaction_bytes_read, Number, from.compaction_bytes_read, "bytes read by compactions") \
  X(user_bytes_written, Number, from.user_bytes_written, "keys and values of commits, for write amplification") \
  X(flush_count, Number, from.flushes, "flushes") \
  X(compaction_count, Number, from.compactions, "compactions") \
  X(compaction_debt_bytes, Number, from.compaction_debt_bytes, "what compaction has yet to move") \
  X(spills, Number, from.spills, "sorted runs that large transactions have put on disk") \
  X(spill_bytes_written, Number, from.spill_bytes_written, "those runs, and the table files made of them") \
  X(dead_keys_walked, Number, from.dead_keys_walked, "deleted keys that scans had to step over") \
  X(read_only, Flag, from.read_only, "ON after a fatal error: nothing is written any more") \
  X(profile_guided, Flag, kProfileGuided, "ON in a plugin that was built by a profile")
// clang-format on
