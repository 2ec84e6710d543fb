// One piece of background work on a family's table files, as picked; constant while it runs.
#pragma once

#include <string>
#include <vector>

#include "version/version.h"

namespace tidesdb {

enum class CompactionKind : uint8_t {
  kMerge,  // Reads the inputs, writes new files.
  kMove,   // The inputs change their level; no data is read or written.
  kDrop,   // The inputs hold only tombstones that hide nothing; they are dropped.
};

enum class CompactionReason : uint8_t {
  kLevel0Runs,   // Too many runs in level 0.
  kLevelSize,    // A level exceeds its target.
  kDeadEntries,  // Files with mostly dead entries.
  kManual,       // Db::Compact or RequestCompaction.
  kScans,        // Scans had to merge memtables and level 0 with the rest, again and again.
};

const char* CompactionKindName(CompactionKind kind);
const char* CompactionReasonName(CompactionReason reason);

struct Compaction {
  struct Input {
    int level = 0;
    FileList files;  // In the level's order.
  };

  CompactionKind kind = CompactionKind::kMerge;
  CompactionReason reason = CompactionReason::kLevelSize;
  VersionRef version;         // The version it was picked from; keeps the inputs on disk.
  std::vector<Input> inputs;  // By level, ascending; levels without files are omitted.
  int output_level = 0;
  bool keep_tombstones = false;  // Older entries will come.
  // The next deeper level's files under the output, ascending: output files are cut so that each
  // covers few of them.
  FileList grandparents;
  std::string key_min;  // Of all inputs.
  std::string key_max;

  uint64_t InputBytes() const;
  size_t InputFiles() const;
  // "L1[12 13] + L2[7] -> L2 merge (level size)".
  std::string Describe() const;
};

}  // namespace tidesdb
