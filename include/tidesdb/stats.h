// Numbers about a database: values of one moment, and counters since open.
//
// Bytes are bytes, times are microseconds. Each number is right, but they are read one after the other while work
// continues: sums over them may be slightly off.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidesdb/stats_table.h"

namespace tidesdb {

// How closely Db::EstimateRange looks at the ends of a range within a file.
enum class EstimateBy : uint8_t {
  kBlocks,   // Reads index blocks only; assumes that keys are spread evenly within a block.
  kEntries,  // For short ranges also reads the data blocks at both ends.
};

// Result of Db::EstimateRange, for choosing a plan. Exact only if the range is empty.
struct RangeEstimate {
  // A key counts once for each file that has it and once for memory, minus the files' tombstones.
  uint64_t keys = 0;
  uint64_t bytes = 0;       // Of table files, compressed; without memtables.
  uint64_t tombstones = 0;  // Tombstones in memory also count as keys.
};

// What a transaction waits for.
enum class WaitFor : uint8_t {
  kRow,    // The lock of a key.
  kRange,  // To write a key in a range that the other has locked.
  kWrite,  // To lock a key or a range that the other has written to.
};

// One transaction that waits for the end of another. One that waits for several has an entry for each.
struct LockWaitInfo {
  // Id and TransactionOptions::tag of the waiting transaction and of the one that blocks it.
  uint64_t waiting = 0;
  uint64_t waiting_tag = 0;
  uint64_t blocking = 0;
  uint64_t blocking_tag = 0;
  WaitFor what = WaitFor::kRow;
  bool exclusive = true;  // Of kRow: the wanted mode.
  uint32_t family = 0;    // The id of the family of `key`.
  std::string key;        // The wanted key; of a range, its start.
  uint64_t wait_us = 0;   // So far; in a deadlock 0 for the refused wait.
};

// Waits that would have closed a cycle; the last one was refused.
struct DeadlockInfo {
  uint64_t number = 0;              // From 1 since open.
  uint64_t age_us = 0;              // How long ago it was.
  std::vector<LockWaitInfo> cycle;  // The one before it blocks each; the last was refused.
};

// A lock that a transaction holds: of one key, or of a range of keys.
struct LockInfo {
  uint64_t transaction = 0;  // Its id, and TransactionOptions::tag.
  uint64_t tag = 0;
  uint32_t family = 0;
  bool range = false;
  bool exclusive = true;  // Of a key. Ranges are shared with other ranges and block writes.
  std::string key;        // Of a range, its start.
  std::string end;        // Of a range, exclusive; empty: no end.
};

// A compaction that has ended.
struct CompactionInfo {
  uint64_t number = 0;  // From 1 since open.
  uint32_t family = 0;  // Its id.
  uint64_t age_us = 0;  // How long ago it ended.
  uint64_t run_us = 0;  // How long it took.
  int level_from = 0;   // The higher level of its inputs.
  int level_to = 0;
  uint64_t files_read = 0;
  uint64_t files_written = 0;  // 0: files were only moved, or nothing was left.
  uint64_t bytes_read = 0;     // On disk.
  uint64_t bytes_written = 0;
  std::string error;  // Empty if it succeeded.
};

// What writers wait for when background work is behind.
struct StallInfo {
  const char* cause = "";  // A name for people, valid forever.
  uint64_t stalls = 0;     // Commit groups that waited.
  uint64_t stall_us = 0;   // Their total time.
  uint64_t longest_us = 0;
};

// One level of a family's tree: level 0 takes flushes, the last one holds most of the data.
struct LevelStats {
  uint64_t files = 0;
  uint64_t bytes = 0;       // On disk.
  uint64_t entries = 0;     // Versions and tombstones.
  uint64_t tombstones = 0;  // Of these.
  double densest = 0;       // The largest share of tombstones in a file's entries.
};

// Db::GetFamilyStats.
struct FamilyStats {
  std::vector<LevelStats> levels;  // From level 0; empty for an unusable family.
  uint64_t estimated_keys = 0;     // Minus tombstones; a key counts once for each file that has it.
  uint64_t table_bytes = 0;        // On disk.
};

// Result of Db::GetStats: a field for each line of stats_table.h, which says what it means. All zeros if the
// database is closed.
struct DbStats {
#define TIDESDB_COUNTER(id, field, shown, meaning) uint64_t field = 0;
#define TIDESDB_NUMBER(type, field, shown, value, meaning) type field = {};
#define TIDESDB_ALIAS(shown, field, meaning)
  TIDESDB_STATISTICS(TIDESDB_COUNTER, TIDESDB_NUMBER, TIDESDB_ALIAS)
#undef TIDESDB_COUNTER
#undef TIDESDB_NUMBER
#undef TIDESDB_ALIAS
};

// The number of blocks that point lookups of the calling thread have not found in a block cache, in all databases and
// since the thread's start. The difference between two calls tells whether the reads between them waited for files.
uint64_t ThreadBlocksRead();

}  // namespace tidesdb
