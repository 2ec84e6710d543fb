// Numbers about a database: taken at one moment, counters since open.
#pragma once

#include <cstdint>
#include <vector>

namespace tidesdb {

struct RangeEstimate {
  // A key counts in each file that has it, and in memory; less the files' tombstones.
  uint64_t keys = 0;
  uint64_t bytes = 0;
  uint64_t tombstones = 0;  // Those in memory are counted as keys too.
};

struct LevelStats {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
  uint64_t tombstones = 0;
};

struct FamilyStats {
  std::vector<LevelStats> levels;
  uint64_t estimated_keys = 0;  // Less tombstones; a key counts in each file that has it.
  uint64_t table_bytes = 0;     // On disk.
};

struct DbStats {
  uint64_t families = 0;
  uint64_t last_sequence = 0;  // Newest visible commit.
  uint64_t memory_max_bytes = 0;
  uint64_t memory_used_bytes = 0;
  uint64_t memtable_bytes = 0;  // Active and waiting for flush.
  uint64_t immutable_memtables = 0;
  uint64_t transaction_bytes = 0;
  uint64_t table_files = 0;
  uint64_t table_bytes = 0;
  uint64_t cache_bytes = 0;
  uint64_t cache_entries = 0;
  uint64_t cache_hits = 0;
  uint64_t cache_misses = 0;
  uint64_t active_transactions = 0;
  uint64_t locks_held = 0;
  uint64_t lock_waits = 0;
  uint64_t lock_wait_us = 0;
  uint64_t lock_timeouts = 0;
  uint64_t deadlocks = 0;
  uint64_t conflicts = 0;
  uint64_t commits = 0;
  uint64_t rollbacks = 0;
  uint64_t wal_bytes_written = 0;
  uint64_t wal_syncs = 0;
  uint64_t user_bytes_written = 0;
  uint64_t flushes = 0;
  uint64_t flush_bytes_written = 0;
  uint64_t compactions = 0;
  uint64_t compaction_bytes_read = 0;
  uint64_t compaction_bytes_written = 0;
  uint64_t spills = 0;
  uint64_t spill_bytes_written = 0;
  uint64_t write_delays = 0;
  uint64_t write_delay_us = 0;
  uint64_t compaction_debt_bytes = 0;
  bool read_only = false;  // After a fatal error; StatusText() says which.
};

}  // namespace tidesdb
