#include "db/compaction_history.h"

#include <utility>

namespace tidesdb {

void CompactionHistory::Add(CompactionInfo one, uint64_t now_us) {
  MutexLock lock(mu_);
  one.number = ++ended_;
  one.age_us = now_us;
  kept_.push_front(std::move(one));
  if (kept_.size() > kKept) kept_.pop_back();
}

std::vector<CompactionInfo> CompactionHistory::List(uint64_t now_us) const {
  MutexLock lock(mu_);
  std::vector<CompactionInfo> list(kept_.begin(), kept_.end());
  for (CompactionInfo& one : list) one.age_us = now_us - one.age_us;
  return list;
}

}  // namespace tidesdb
