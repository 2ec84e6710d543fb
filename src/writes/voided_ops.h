// Which operation numbers were rolled back after their operations had been written to a run.
//
// Threads: one at a time.
// Invariants: the intervals (low, high] are disjoint and ascend.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"

namespace tidesdb {

class VoidedOps {
 public:
  // Voids all numbers in (low, high]. REQUIRES: high is the greatest number used so far.
  void Add(uint64_t low, uint64_t high) {
    DCHECK(low < high);
    // What was voided above low is inside.
    while (!intervals_.empty() && intervals_.back().low >= low) intervals_.pop_back();
    if (!intervals_.empty() && intervals_.back().high >= low) {
      intervals_.back().high = high;  // Low itself is void already.
    } else {
      intervals_.push_back({low, high});
    }
  }

  // The greatest number <= `number` that is not voided; 0: none.
  uint64_t LiveAtMost(uint64_t number) const {
    for (size_t i = intervals_.size(); i-- > 0;) {
      if (number > intervals_[i].high) return number;
      if (number > intervals_[i].low) number = intervals_[i].low;
    }
    return number;
  }

  // Whether all of [low, high] is voided.
  bool Covers(uint64_t low, uint64_t high) const {
    for (const Interval& interval : intervals_) {
      if (low > interval.low && high <= interval.high) return true;
    }
    return false;
  }

  void Clear() { intervals_.clear(); }
  bool empty() const { return intervals_.empty(); }

 private:
  struct Interval {
    uint64_t low;
    uint64_t high;
  };
  std::vector<Interval> intervals_;
};

}  // namespace tidesdb
