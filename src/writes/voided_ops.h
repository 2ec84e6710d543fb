// The operation numbers that were rolled back after their operations were written to a run.
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
  // Voids all numbers in (low, high]. REQUIRES: high is the highest number used so far.
  void Add(uint64_t low, uint64_t high) {
    DCHECK(low < high);
    // Intervals that were voided above low are inside.
    while (!intervals_.empty() && intervals_.back().low >= low) intervals_.pop_back();
    if (!intervals_.empty() && intervals_.back().high >= low) {
      intervals_.back().high = high;  // Low itself is already void.
    } else {
      intervals_.push_back({low, high});
    }
  }

  // The highest number <= `number` that is not voided; 0: none.
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
