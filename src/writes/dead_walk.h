// The dead keys that a scan walks over: long walks are reported to the memtable, so that others
// jump.
//
// Threads: one at a time.
// Owns: nothing.
#pragma once

#include <string>

#include "memtable/dead_ranges.h"

namespace tidesdb {

class DeadWalk {
 public:
  // Shorter walks are not worth remembering.
  static constexpr uint64_t kStepsMin = 32;

  // Has no ranges and reports nothing.
  DeadWalk() = default;
  // `ranges` may be null, or outlives this object; `snapshot` is the scan's.
  DeadWalk(DeadRanges* ranges, DeadRanges::Ticket ticket, SequenceNumber snapshot)
      : ranges_(ranges), ticket_(ticket), snapshot_(snapshot) {}

  // The scan is on a dead key, and sees its newest version. True: all of [*first, *last] is dead
  // too, and the scan may skip it.
  bool Step(Slice key, std::string* first, std::string* last) {
    if (ranges_ == nullptr) return false;
    Extend(key, key);
    if (steps_++ % kStepsAsk != 0 || !ranges_->Find(key, snapshot_, first, last)) return false;
    Extend(*first, *last);
    return true;
  }

  // The next key is not dead, or unknown.
  void End() {
    if (steps_ >= kStepsMin) ranges_->Report(first_, last_, snapshot_, ticket_);
    steps_ = 0;
  }
  void Forget() { steps_ = 0; }

 private:
  // Ranges are queried at the first dead key, then at every such number of keys.
  static constexpr uint64_t kStepsAsk = 16;

  void Extend(Slice from, Slice to) {
    if (steps_ == 0 || from < first_) first_.assign(from.data(), from.size());
    if (steps_ == 0 || to > last_) last_.assign(to.data(), to.size());
  }

  DeadRanges* ranges_ = nullptr;
  DeadRanges::Ticket ticket_ = 0;
  SequenceNumber snapshot_ = 0;
  uint64_t steps_ = 0;  // Since the last End or Forget.
  std::string first_;
  std::string last_;
};

}  // namespace tidesdb
