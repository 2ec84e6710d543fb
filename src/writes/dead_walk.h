// What a scan walks over that is dead: told to the memtable when it was long, for others to jump.
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

  // Knows of no ranges and tells nobody.
  DeadWalk() = default;
  // `ranges` may be null, and else lives as long as this; `snapshot` is the scan's.
  DeadWalk(DeadRanges* ranges, DeadRanges::Ticket ticket, SequenceNumber snapshot)
      : ranges_(ranges), ticket_(ticket), snapshot_(snapshot) {}

  // The scan stands on a dead key, and sees its newest version. True: so are all in [*first,
  // *last], and it need not walk over them.
  bool Step(Slice key, std::string* first, std::string* last) {
    if (ranges_ == nullptr) return false;
    Extend(key, key);
    if (steps_++ % kStepsAsk != 0 || !ranges_->Find(key, snapshot_, first, last)) return false;
    Extend(*first, *last);
    return true;
  }

  // What comes next is not dead, or not known.
  void End() {
    if (steps_ >= kStepsMin) ranges_->Report(first_, last_, snapshot_, ticket_);
    steps_ = 0;
  }
  void Forget() { steps_ = 0; }

 private:
  // Ranges are asked for at the first dead key and then each so many.
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
