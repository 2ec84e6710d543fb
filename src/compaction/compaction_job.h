// Runs a picked merge: reads the inputs, drops versions that nobody can see, writes the output
// files.
#pragma once

#include <atomic>
#include <vector>

#include "compaction/compaction.h"
#include "compaction/job_context.h"

namespace tidesdb {

struct CompactionOutput {
  std::vector<FileRecord> files;  // Synced, with their directory; ascending, disjoint.
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t entries_dropped = 0;
};

// REQUIRES: kind is kMerge. After an error no output is left behind and the inputs are unchanged.
// Errors: kCorruption of an input (names file and offset), kIoError, kNoSpace; kShuttingDown if
// `stop` is set, and those of LsmEnv::Pace.
Result<CompactionOutput> RunMerge(const JobContext& context, const Compaction& compaction,
                                  const std::atomic<bool>* stop);

}  // namespace tidesdb
