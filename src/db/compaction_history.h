// The last compactions, for status texts.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/mutex.h"
#include "tidesdb/stats.h"

namespace tidesdb {

class CompactionHistory {
 public:
  static constexpr size_t kKept = 256;

  // Adds a compaction that ended at now_us, and numbers it.
  void Add(CompactionInfo one, uint64_t now_us) EXCLUDES(mu_);
  // The newest first.
  std::vector<CompactionInfo> List(uint64_t now_us) const EXCLUDES(mu_);

 private:
  mutable Mutex mu_;
  uint64_t ended_ GUARDED_BY(mu_) = 0;
  std::deque<CompactionInfo> kept_ GUARDED_BY(mu_);  // Newest first; age_us is when it ended.
};

}  // namespace tidesdb
