// Whether merging a family's young sources would pay, judged by what its scans pay without it.
//
// A scan that changes to a memtable or a file of level 0 pays for that. Once this has cost as much
// as a merge would, and most of it was for entries from before the period in which it was paid, a
// merge at the period's start would have saved that, and it will go on: then the merge is due. If
// not, keys are written again as fast as they are read, and a merge would not last: a new period
// begins. That is judged for each quarter of the cost. Until a merge that is due has ended, nothing
// counts.
//
// Threads: any.
#pragma once

#include <atomic>

#include "base/mutex.h"
#include "format/internal_iter.h"

namespace tidesdb {

class ScanWatch {
 public:
  // A run costs as much as a compaction of this many bytes.
  static constexpr uint64_t kBytesARun = 40;
  // A small merge has costs of its own.
  static constexpr uint64_t kMergeBytesMin = 32 << 20;

  // Runs of entries up to this sequence are old.
  SequenceNumber since() const { return since_.load(std::memory_order_relaxed); }

  // Scans have met these runs. `merge_bytes`: what a merge would read. `newest`: the newest
  // sequence. Returns whether a merge is due; the caller then calls EndMerge once it has ended.
  bool Add(YoungRuns runs, uint64_t merge_bytes, SequenceNumber newest) EXCLUDES(mu_);
  // A new period begins. Harmless without a merge.
  void EndMerge(SequenceNumber newest) EXCLUDES(mu_);

 private:
  void BeginPeriod(SequenceNumber newest) REQUIRES(mu_);

  std::atomic<SequenceNumber> since_ = 0;  // Relaxed: it publishes nothing.
  Mutex mu_;
  YoungRuns runs_ GUARDED_BY(mu_);     // Of this quarter.
  uint64_t paid_ GUARDED_BY(mu_) = 0;  // All runs of the quarters of this period before it.
  bool merging_ GUARDED_BY(mu_) = false;
};

}  // namespace tidesdb
