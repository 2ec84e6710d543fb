#include "db/scan_watch.h"

#include <algorithm>
#include <utility>

namespace tidesdb {

bool ScanWatch::Add(YoungRuns runs, uint64_t merge_bytes, SequenceNumber newest) {
  MutexLock lock(mu_);
  if (merging_) return false;
  runs_ += runs;
  const uint64_t price = std::max(merge_bytes, kMergeBytesMin) / kBytesARun;
  if (runs_.all < price / 4) return false;
  const YoungRuns quarter = std::exchange(runs_, {});
  paid_ += quarter.all;
  if (quarter.old < quarter.all / 4 * 3) {
    BeginPeriod(newest);
  } else if (paid_ >= price) {
    BeginPeriod(newest);
    merging_ = true;
  }
  return merging_;
}

void ScanWatch::EndMerge(SequenceNumber newest) {
  MutexLock lock(mu_);
  if (!std::exchange(merging_, false)) return;
  runs_ = {};
  BeginPeriod(newest);
}

void ScanWatch::BeginPeriod(SequenceNumber newest) {
  paid_ = 0;
  since_.store(newest, std::memory_order_relaxed);
}

}  // namespace tidesdb
