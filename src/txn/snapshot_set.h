// The sequences that readers have open: compaction must keep their versions.
//
// Threads: any number at once.
// Invariants:
//   1. A sequence handed out by Acquire is in every later List until it is released.
//   2. List and Acquire are ordered: a sequence acquired after a List is at least that List's visible
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

  // Registers and returns the newest visible sequence, or `at_least`. Call Release once for each
  // call.
  // REQUIRES: everything up to `at_least` is inserted.
  SequenceNumber Acquire(SequenceNumber at_least = 0);
  void Release(SequenceNumber sequence);

  // Returns every open snapshot once, ascending, and at the end the newest visible sequence. Later
  // readers start there, and anything newer is kept, so newer snapshots are left out.
  // An older version may be dropped if the first of these sequences that sees it also sees the next
  // newer version of its key.
  std::vector<SequenceNumber> List() const;
  // The first of List().
  SequenceNumber Oldest() const;
  // The number of open snapshots; several at one sequence count separately.
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
