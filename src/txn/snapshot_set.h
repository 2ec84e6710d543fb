// The sequences that readers have open: what compaction must keep.
//
// Threads: any number at once.
// Invariants:
//   1. A sequence handed out by Acquire is in every later List until it is released.
//   2. List and Acquire are ordered: whatever is acquired after a List is at least its visible
//      part.
#pragma once

#include <atomic>
#include <vector>

#include "base/mutex.h"
#include "format/internal_key.h"

namespace tidesdb {

class SnapshotSet {
 public:
  // `visible` is the newest published sequence; outlives this.
  explicit SnapshotSet(const std::atomic<SequenceNumber>* visible) : visible_(visible) {}
  SnapshotSet(const SnapshotSet&) = delete;
  SnapshotSet& operator=(const SnapshotSet&) = delete;

  // Registers the newest visible sequence, or `at_least`, and returns it; once for each Release.
  // REQUIRES: all up to `at_least` is inserted.
  SequenceNumber Acquire(SequenceNumber at_least = 0);
  void Release(SequenceNumber sequence);

  // Every open snapshot once, ascending, and at the end the newest visible sequence (readers that
  // come later start there, and what is newer stays, so newer snapshots are left out). A version
  // may be dropped when the next newer version of its key is not newer than the first of these that
  // sees the older one.
  std::vector<SequenceNumber> List() const;
  // The first of List().
  SequenceNumber Oldest() const;
  // Open snapshots, those at one sequence counted each.
  size_t Count() const;

 private:
  struct Open {
    SequenceNumber sequence;
    size_t count;
  };

  const std::atomic<SequenceNumber>* const visible_;
  mutable Mutex mu_;
  std::vector<Open> open_ GUARDED_BY(mu_);  // Ascending.
};

}  // namespace tidesdb
