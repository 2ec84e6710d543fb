// Iterates over the files of one sorted level; opens each file when it is reached.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "format/internal_iter.h"
#include "version/version.h"

namespace tidesdb {

enum class Readers : uint8_t {
  kShared,     // Of the cache of open files.
  kOnce,       // Not kept: for a compaction, which reads each file once.
  kTemporary,  // As kOnce, through the system's page cache, where a temporary file still is.
};

struct LevelIterOptions {
  // Files outside of [lower, upper) are never opened; empty: no bound. The bytes outlive the
  // iterator.
  Slice lower;
  Slice upper;
  bool fill_cache = true;
  Readers readers = Readers::kShared;
};

// `files`: ascending by key, disjoint. They, their owner and `tables` outlive the iterator.
std::unique_ptr<InternalIterator> NewLevelIterator(std::span<const FileRef> files,
                                                   TableCache* tables,
                                                   const LevelIterOptions& options);

// Whether a file with these key bounds can contain a key of [lower, upper).
bool FileMeetsRange(const FileMeta& file, Slice lower, Slice upper);

}  // namespace tidesdb
