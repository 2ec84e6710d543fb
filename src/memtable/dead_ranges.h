// Ranges of a family's keys without living keys, so that scans jump over deleted keys instead of
// walking them again, for example at the head of a queue.
//
// A range means: no snapshot >= `since` sees a key in [first, last], as long as nothing is put
// there. One scan alone cannot know this, because a put may arrive behind it. So it takes two
// scans: the first announces the range that it walked, and a later one that walks it again confirms
// it. Meanwhile every put checks the announcements. Ranges belong to the memtable that takes
// writes. Readers with a newer memtable in front of it cannot use them: that memtable may hold puts
// into the range. A new memtable begins with those that were of use in the one before.
//
// Threads: any.
// Owns: copies of keys.
// Invariants:
//   1. An Add inserts its version, then raises `adds` (acquire and release), then calls Wanted() and
//      OnPut, all before its commit is visible.
//   2. Observe() raises `adds` too. If the Add came first, all reads after Observe() find its
//      version; if it comes later, it sees everything announced before Observe().
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
  // The number of announcements that a scan may confirm: those from before it began.
  using Ticket = uint64_t;

  // The number of ranges, and of announcements, that are kept: the latest. Each put checks all.
  static constexpr size_t kRangesMax = 8;

  // `adds` outlives this object.
  explicit DeadRanges(std::atomic<uint64_t>* adds) : adds_(adds) {}
  DeadRanges(const DeadRanges&) = delete;
  DeadRanges& operator=(const DeadRanges&) = delete;

  // For scans.

  // Call it before the scan obtains its sources.
  Ticket Observe() EXCLUDES(mutex_);
  // The range that a reader with this snapshot may jump over from `key`. False if there is none.
  bool Find(Slice key, SequenceNumber snapshot, std::string* first, std::string* last)
      EXCLUDES(mutex_);
  // All keys in [first, last] were dead for `snapshot`, and none had a newer version.
  void Report(Slice first, Slice last, SequenceNumber snapshot, Ticket ticket) EXCLUDES(mutex_);

  // For the change of memtables.

  // Takes over the ranges that scans have confirmed or found in the memtable before. REQUIRES: that
  // one takes no more adds, and no other thread has this one.
  void Inherit(const DeadRanges& older) EXCLUDES(mutex_);
  // There are no ranges from now on: keys come in that Add does not see. Scans from before may
  // still report.
  void Close() EXCLUDES(mutex_);

  // For Add.

  // Whether OnPut has anything to check.
  bool Wanted() const { return wanted_.load(std::memory_order_acquire); }
  void OnPut(Slice key) EXCLUDES(mutex_);

 private:
  struct Range {
    std::string first;
    std::string last;
    SequenceNumber since = 0;  // Of confirmed ranges.
    Ticket number = 0;         // Of announced ones, ascending from 1.
    // Of confirmed ones: not since it was inherited. Each put pays for a range.
    bool unused = false;

    bool Has(Slice key) const { return key >= first && key <= last; }
    bool Meets(Slice from, Slice to) const { return from <= last && to >= first; }
  };

  // Merges all confirmed ranges that it touches into it.
  void Confirm(Range range) REQUIRES(mutex_);
  // Drops the oldest if there are too many.
  static void AddTo(std::vector<Range>* ranges, Range range);

  std::atomic<uint64_t>* const adds_;
  std::atomic<bool> wanted_ = false;  // There are confirmed or announced ranges.
  mutable Mutex mutex_;
  std::vector<Range> announced_ GUARDED_BY(mutex_);
  std::vector<Range> confirmed_ GUARDED_BY(mutex_);  // Disjoint.
  Ticket last_number_ GUARDED_BY(mutex_) = 0;
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace tidesdb
