// Row locks, range locks and spilled write sets as one: what a transaction asks for a lock.
//
// A row lock is granted in two steps: the row table grants it; then, where ranges or spilled write
// sets of others exist at all, they are looked at. If one is in the way, the row is given back
// first (so that whoever wants it meanwhile does not wait for a waiter), and asked for again after
// the other transaction's end. The order of arrival holds among those who wait for a row; it is
// not kept over the wait for an end.
//
// A range lock first stands in the way of new row locks, then takes, and gives back at once, each
// row lock that others held in it, so it waits in their queues as everybody does; then it looks for
// spilled keys.
//
// Every wait is in one WaitGraph. The one whose wait would close a cycle is refused with kDeadlock:
// it is the one that knows, at a place where its caller can roll back, and no other need be
// disturbed.
//
// Threads: any number; each LockOwner by its own thread.
#pragma once

#include <string>

#include "base/clock.h"
#include "lock/lock_table.h"
#include "lock/range_locks.h"
#include "lock/spill_registry.h"
#include "lock/wait_graph.h"

namespace tidesdb {

class LockManager {
 public:
  explicit LockManager(Clock* clock)
      : clock_(clock), graph_(clock), rows_(&graph_), ranges_(&graph_), spills_(&graph_) {}

  // Any wait ends `wait_us` after the call (0: no wait). Errors, after which nothing has changed:
  // kTimedOut, kDeadlock, kInterrupted; kIoError and kCorruption from another's spilled run.
  Status LockRow(LockOwner* owner, FamilyId family, Slice key, LockMode mode, uint64_t wait_us,
                 LockGrant* grant);
  // As LockRow. REQUIRES: start < end, or end is empty.
  Status LockRange(LockOwner* owner, FamilyId family, Slice start, Slice end, LockMode mode,
                   uint64_t wait_us);

  // Gives the key's last lock back, unless a write depends on it.
  void UnlockLast(LockOwner* owner, FamilyId family, Slice key);
  // Takes back what LockRow granted.
  void UndoRow(LockOwner* owner, const LockGrant& grant) { rows_.Undo(owner, grant); }
  void ReleaseRow(LockOwner* owner, HeldLock* lock) { rows_.Release(owner, lock); }

  // From now on the keys are locked by being in `keys`: their row locks may be released.
  void PublishSpill(LockOwner* owner, std::shared_ptr<const SpilledKeys> keys) {
    spills_.Publish(owner, std::move(keys));
  }

  // The transaction's end, after its commit is visible.
  void ReleaseAll(LockOwner* owner);

  uint64_t LocksHeld() const { return rows_.LocksHeld() + ranges_.Count(); }
  uint64_t MemoryBytes() const { return rows_.MemoryBytes(); }
  WaitStats GetStats() const { return graph_.GetStats(); }
  std::string LastDeadlock() const { return graph_.LastDeadlock(); }
  LockTable& TestingRows() { return rows_; }

 private:
  uint64_t DeadlineOf(uint64_t wait_us) const;
  // After a row was granted. Returns false when something was in the way: the row was given back
  // and the wait is over, so ask again.
  Result<bool> PassRanges(LockOwner* owner, FamilyId family, Slice key, LockMode mode,
                          uint64_t deadline_us, const LockGrant& grant);
  Result<bool> PassSpills(LockOwner* owner, FamilyId family, Slice key, uint64_t deadline_us,
                          const LockGrant& grant);
  Status InstallRange(LockOwner* owner, FamilyId family, Slice start, Slice end, LockMode mode,
                      uint64_t deadline_us);
  // Waits until no other transaction holds a row of the pending range.
  Status WaitOutRows(LockOwner* owner, FamilyId family, Slice start, Slice end, LockMode mode,
                     uint64_t deadline_us);

  Clock* const clock_;
  WaitGraph graph_;
  LockTable rows_;
  RangeLocks ranges_;
  SpillRegistry spills_;
};

}  // namespace tidesdb
