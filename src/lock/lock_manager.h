// Row locks, range locks and spilled write sets as one: what a transaction asks for a lock.
//
// A row lock is granted in two steps: the row table grants it; then, where spilled write sets of
// others exist at all, they are looked at. If one is in the way, the row is given back first (so
// that whoever wants it meanwhile does not wait for a waiter), and asked for again after the other
// transaction's end. The order of arrival holds among those who wait for a row; it is not kept over
// the wait for an end.
//
// A range lock holds off others' writes: a write is staged first and then passes the ranges
// (PassRanges); a range is installed first and then waits for the writers that have staged or
// spilled something in it. Rows in the range that are to stay as they are, and not only to stay
// alone, are locked one by one besides, or the range holds off deletions too. Of such a range each
// row is as if it was locked: who asks for it exclusively waits for the range's end before it holds
// the row, so that the range's owner may still have it; and who has it is waited for by a scan that
// comes to it (LockRangeWithRow).
//
// A claim takes a whole family, to fill it without row locks: it is installed first, so that every
// lock that is asked for from then on meets it, and then nobody else may be found with a row, a
// range or a write in it.
//
// Every wait is in one WaitGraph. The one whose wait would close a cycle is refused with kDeadlock:
// it is the one that knows, at a place where its caller can roll back, and no other need be
// disturbed.
//
// Threads: any number; each LockOwner by its own thread.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "lock/lock_table.h"
#include "lock/range_locks.h"
#include "lock/spill_registry.h"
#include "lock/wait_graph.h"
#include "lock/writer_registry.h"

namespace tidesdb {

class LockManager {
 public:
  explicit LockManager(Clock* clock)
      : clock_(clock),
        graph_(clock),
        rows_(&graph_),
        ranges_(&graph_),
        spills_(&graph_),
        writers_(&graph_) {}

  // Any wait ends `wait_us` after the call (0: no wait). Errors, after which nothing has changed:
  // kTimedOut, kDeadlock, kInterrupted; kIoError and kCorruption from another's spilled run.
  Status LockRow(LockOwner* owner, FamilyId family, Slice key, LockMode mode, uint64_t wait_us,
                 LockGrant* grant);
  // As LockRow. REQUIRES: start < end, or end is empty.
  Status LockRange(LockOwner* owner, FamilyId family, Slice start, Slice end, RangeHold hold,
                   uint64_t wait_us);
  // For a scan that comes to a row, the only key in the range: LockRange with kWrites, and nobody
  // else has the row exclusively when it begins to be held. The row itself is not locked.
  Status LockRangeWithRow(LockOwner* owner, FamilyId family, Slice start, Slice end, Slice row,
                          uint64_t wait_us);
  // Until the owner's end nobody else locks or writes anything in the family. Never waits. Errors:
  // kTimedOut: somebody has.
  Status Claim(LockOwner* owner, FamilyId family);
  bool HasClaim(LockOwner* owner, FamilyId family) { return ranges_.HasClaim(owner, family); }
  // Waits for the writers of others that have put something into the range, and locks nothing.
  // Errors as LockRow.
  Status AwaitWriters(LockOwner* owner, FamilyId family, Slice start, Slice end, uint64_t wait_us);

  // Before the first write is staged: ranges that are locked later will see it.
  void AddWriter(LockOwner* owner, const StagedKeys* keys) { writers_.Add(owner, keys); }
  // After a write was staged: whether ranges may be in its way, then waiting for those that are.
  bool RangesMayBlock(FamilyId family) const { return ranges_.MayBlock(family); }
  Status PassRanges(LockOwner* owner, FamilyId family, Slice key, bool put, uint64_t wait_us);

  // Gives the key's last lock back, unless a write depends on it.
  void UnlockLast(LockOwner* owner, FamilyId family, Slice key);
  // Takes back what LockRow granted.
  void UndoRow(LockOwner* owner, const LockGrant& grant) { rows_.Undo(owner, grant); }
  void ReleaseRow(LockOwner* owner, HeldLock* lock) { rows_.Release(owner, lock); }

  // From now on the keys are locked by being in `keys`: their row locks may be released.
  void PublishSpill(LockOwner* owner, std::shared_ptr<const SpilledKeys> keys) {
    spills_.Publish(owner, std::move(keys));
  }

  // Gives back the rows and ranges that were locked in this epoch of the owner and later. REQUIRES:
  // what was written under them is undone.
  void ReleaseSince(LockOwner* owner, uint32_t epoch);
  // The transaction's end, after its commit is visible.
  void ReleaseAll(LockOwner* owner);

  uint64_t LocksHeld() const { return rows_.LocksHeld() + ranges_.Count(); }
  uint64_t MemoryBytes() const { return rows_.MemoryBytes(); }
  void SetListener(LockOwner* owner, LockWaitListener* listener) {
    graph_.SetListener(owner, listener);
  }

  WaitStats GetStats() const { return graph_.GetStats(); }
  std::string LastDeadlock() const { return graph_.LastDeadlock(); }
  std::vector<LockWaitInfo> GetWaits() const { return graph_.GetWaits(); }
  std::vector<DeadlockInfo> GetDeadlocks() const { return graph_.GetDeadlocks(); }
  // At most so many of what is held.
  std::vector<LockInfo> GetLocks(size_t locks_max) const;
  LockTable& TestingRows() { return rows_; }

 private:
  uint64_t DeadlineOf(uint64_t wait_us) const;
  Status LockRowUntil(LockOwner* owner, FamilyId family, Slice key, LockMode mode,
                      uint64_t deadline_us, LockGrant* grant);
  Status LockRangeUntil(LockOwner* owner, FamilyId family, Slice start, Slice end, RangeHold hold,
                        uint64_t deadline_us);
  // After a row was granted. Returns false when something was in the way: the row was given back
  // and the wait is over, so ask again.
  Result<bool> PassSpills(LockOwner* owner, FamilyId family, Slice key, uint64_t deadline_us,
                          const LockGrant& grant);
  // The same for ranges that hold writes off, and claims.
  Result<bool> PassHeldRanges(LockOwner* owner, FamilyId family, Slice key, LockMode mode,
                              uint64_t deadline_us, const LockGrant& grant);
  // Until no other transaction has staged or spilled a write in the range. *around: where nothing
  // was found; has no meaning when a spill was looked through: returns false then.
  Result<bool> WaitOutWriters(LockOwner* owner, FamilyId family, Slice start, Slice end,
                              RangeHold hold, uint64_t deadline_us, WriterRegistry::Found* around);

  Clock* const clock_;
  WaitGraph graph_;
  LockTable rows_;
  RangeLocks ranges_;
  SpillRegistry spills_;
  WriterRegistry writers_;
};

}  // namespace tidesdb
