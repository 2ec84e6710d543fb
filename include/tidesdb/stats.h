// Numbers about a database: taken at one moment, counters since open.
//
// Bytes are bytes, times are microseconds. The numbers of one call are each right, but taken one
// after the other while work goes on: sums over them may be off by what happened meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidesdb/stats_table.h"

namespace tidesdb {

// How near Db::EstimateRange looks at the ends of a range that a file holds.
enum class EstimateBy : uint8_t {
  kBlocks,  // Reads index blocks, no data blocks: inside of a block, keys are evenly spread numbers.
  kEntries,  // Of short ranges, the data blocks at both ends too.
};

// Db::EstimateRange. For choosing a plan: exact only where the range is empty.
struct RangeEstimate {
  // A key counts in each file that has it, and in memory; less the files' tombstones.
  uint64_t keys = 0;
  uint64_t bytes = 0;       // Of table files, compressed; memtables are not in it.
  uint64_t tombstones = 0;  // Those in memory are counted as keys too.
};

// What a transaction waits for.
enum class WaitFor : uint8_t {
  kRow,    // The lock of a key.
  kRange,  // To write a key that is in a range which the other has locked.
  kWrite,  // To lock a key or a range in which the other has written.
};

// One transaction that waits for another's end. Who waits for several is there once for each.
struct LockWaitInfo {
  // Ids, and TransactionOptions::tag, of who waits and of who is in the way.
  uint64_t waiting = 0;
  uint64_t waiting_tag = 0;
  uint64_t blocking = 0;
  uint64_t blocking_tag = 0;
  WaitFor what = WaitFor::kRow;
  bool exclusive = true;  // Of kRow: how it is wanted.
  uint32_t family = 0;    // The id of the family of `key`.
  std::string key;        // That is waited for; of a range, its start.
  uint64_t wait_us = 0;   // So far; in a deadlock 0 for the one that was refused.
};

// Waits that would have closed a cycle, and the last of them was refused.
struct DeadlockInfo {
  uint64_t number = 0;              // From 1 since open.
  uint64_t age_us = 0;              // How long ago it was.
  std::vector<LockWaitInfo> cycle;  // Each is blocked by who waits before it; the last was refused.
};

// A lock that a transaction holds: of one key, or of a range of keys.
struct LockInfo {
  uint64_t transaction = 0;  // Its id, and TransactionOptions::tag.
  uint64_t tag = 0;
  uint32_t family = 0;
  bool range = false;
  bool exclusive = true;  // Of a key. A range shares with other ranges and holds off writes.
  std::string key;        // Of a range, its start.
  std::string end;        // Of a range; empty: no end. The end is not in it.
};

// A compaction that has ended.
struct CompactionInfo {
  uint64_t number = 0;  // From 1 since open.
  uint32_t family = 0;  // Its id.
  uint64_t age_us = 0;  // How long ago it ended.
  uint64_t run_us = 0;  // How long it took.
  int level_from = 0;   // The higher one of its inputs.
  int level_to = 0;
  uint64_t files_read = 0;
  uint64_t files_written = 0;  // 0: they were moved, or nothing was left.
  uint64_t bytes_read = 0;     // On disk.
  uint64_t bytes_written = 0;
  std::string error;  // Empty: it was done.
};

// What writers wait for when background work is behind.
struct StallInfo {
  const char* cause = "";  // A name for people, valid for ever.
  uint64_t stalls = 0;     // Commit groups that waited.
  uint64_t stall_us = 0;   // Their time in all.
  uint64_t longest_us = 0;
};

// One level of a family's tree: level 0 takes flushes, the last one holds most of the data.
struct LevelStats {
  uint64_t files = 0;
  uint64_t bytes = 0;       // On disk.
  uint64_t entries = 0;     // Versions and tombstones.
  uint64_t tombstones = 0;  // Of these.
  double densest = 0;       // The largest part of a file's entries that are tombstones.
};

// Db::GetFamilyStats.
struct FamilyStats {
  std::vector<LevelStats> levels;  // From level 0; empty for a family that may not be used.
  uint64_t estimated_keys = 0;     // Less tombstones; a key counts in each file that has it.
  uint64_t table_bytes = 0;        // On disk.
};

// Db::GetStats: a field for each line of stats_table.h, which says what it means. Zeros of a database
// that is closed.
struct DbStats {
#define TIDESDB_COUNTER(id, field, shown, meaning) uint64_t field = 0;
#define TIDESDB_NUMBER(type, field, shown, value, meaning) type field = {};
#define TIDESDB_ALIAS(shown, field, meaning)
  TIDESDB_STATISTICS(TIDESDB_COUNTER, TIDESDB_NUMBER, TIDESDB_ALIAS)
#undef TIDESDB_COUNTER
#undef TIDESDB_NUMBER
#undef TIDESDB_ALIAS
};

}  // namespace tidesdb
