// Ranges of a family's keys in which nothing lives, so that scans jump over what was deleted
// there instead of walking it again: the head of a queue, say.
//
// A range says: no snapshot >= `since` sees a key in [first, last], as long as nothing is put
// there. A scan cannot say so by itself, as a put may land behind it. So it takes two: the first
// announces what it walked, and a later one that walks it again, while every put looks for
// announcements, confirms it. Ranges belong to the memtable that takes writes, and are of no use to
// readers with another one in front of it: whatever they do not see of older sources they do not
// see at all.
//
// Threads: any.
// Owns: copies of keys.
// Invariants:
//   1. An Add puts its version in place, then raises `adds` (acquire and release), then asks
//      Wanted() and calls OnPut, all before its commit is visible.
//   2. Observe() raises `adds` too. So either the Add came first, and all reading after Observe()
//      finds its version; or it comes later, and sees all that was announced before Observe().
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "format/internal_key.h"

namespace tidesdb {

class DeadRanges {
 public:
  // Counts the announcements that a scan may confirm: those from before it began.
  using Ticket = uint64_t;

  // Ranges kept, and announcements; the latest. Each put looks at all of them.
  static constexpr size_t kRangesMax = 8;

  // `adds` outlives this.
  explicit DeadRanges(std::atomic<uint64_t>* adds) : adds_(adds) {}
  DeadRanges(const DeadRanges&) = delete;
  DeadRanges& operator=(const DeadRanges&) = delete;

  // For scans.

  // To be called before what the scan reads from is obtained.
  Ticket Observe() EXCLUDES(mutex_);
  // The range that a reader with this snapshot may jump over from `key`. False: none.
  bool Find(Slice key, SequenceNumber snapshot, std::string* first, std::string* last) const
      EXCLUDES(mutex_);
  // All keys in [first, last] were dead to `snapshot`, and none of them had a version newer than
  // that.
  void Report(Slice first, Slice last, SequenceNumber snapshot, Ticket ticket) EXCLUDES(mutex_);

  // For Add.

  // Whether OnPut has anything to look at.
  bool Wanted() const { return wanted_.load(std::memory_order_acquire); }
  void OnPut(Slice key) EXCLUDES(mutex_);

 private:
  struct Range {
    std::string first;
    std::string last;
    SequenceNumber since = 0;  // Of confirmed ranges.
    Ticket number = 0;         // Of announced ones, ascending from 1.

    bool Has(Slice key) const { return key >= first && key <= last; }
    bool Meets(Slice from, Slice to) const { return from <= last && to >= first; }
  };

  // Takes in all confirmed ranges that it meets.
  void Confirm(Range range) REQUIRES(mutex_);
  // The oldest makes room.
  static void AddTo(std::vector<Range>* ranges, Range range);

  std::atomic<uint64_t>* const adds_;
  std::atomic<bool> wanted_ = false;  // There are ranges of either kind.
  mutable Mutex mutex_;
  std::vector<Range> announced_ GUARDED_BY(mutex_);
  std::vector<Range> confirmed_ GUARDED_BY(mutex_);  // Disjoint.
  Ticket last_number_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tidesdb
