#include "db/scan_watch.h"

#include <algorithm>
#include <utility>

namespace tidesdb {

bool ScanWatch::Add(YoungRuns runs, uint64_t merge_bytes, SequenceNumber newest) {
  MutexLock lock(mu_);
  if (merging_) return false;
  runs_ += runs;
  if (runs_.all * kBytesARun < std::max(merge_bytes, kMergeBytesMin)) return false;
  const YoungRuns period = std::exchange(runs_, {});
  since_.store(newest, std::memory_order_relaxed);
  merging_ = period.old >= period.all / 4 * 3;
  return merging_;
}

void ScanWatch::EndMerge(SequenceNumber newest) {
  MutexLock lock(mu_);
  if (!std::exchange(merging_, false)) return;
  runs_ = {};
  since_.store(newest, std::memory_order_relaxed);
}

}  // namespace tidesdb
