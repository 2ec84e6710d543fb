// Row locks, range locks and spilled write sets together: the interface of a transaction for locks.
//
// A row lock is granted in two steps. First the row table grants it. Then, if there are any spilled
// write sets of others, they are checked. If one is in the way, the row is released first, so that
// others who want it do not wait for a waiter, and requested again after the other transaction's
// end. Requests for a row keep their order of arrival, but not across the wait for an end.
//
// A range lock blocks writes of others. A write is staged first and then passes the ranges
// (PassRanges). A range is installed first and then waits for writers that have staged or spilled
// something in it. A range that blocks only puts admits no new rows. To keep its rows unchanged
// too, lock them one by one, or let the range block deletions as well: then every row in it counts
// as locked. A request for a row's exclusive lock waits for the range's end before it holds the
// row, so that the range's owner can still get it. A scan that reaches a row waits for its
// exclusive holder (LockRangeWithRow).
//
// A claim takes a whole family, to fill it without row locks. It is installed first, so that every
// later lock request meets it; then no other transaction may have a row, a range or a write in the
// family.
//
// Every wait is in one WaitGraph. If a wait would close a cycle, it fails with kDeadlock: its
// caller is at a place where it can roll back, and no other transaction need be disturbed.
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
#include "lock/wait_limit.h"
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

  // All waits together last `wait_us` (0: no wait).
  // Errors, nothing has changed: kTimedOut, kDeadlock, kInterrupted; kIoError and kCorruption from
  // another's spilled run.
  Status LockRow(LockOwner* owner, FamilyId family, Slice key, LockMode mode, uint64_t wait_us,
                 LockGrant* grant);
  // As LockRow. REQUIRES: start < end, or end is empty.
  Status LockRange(LockOwner* owner, FamilyId family, Slice start, Slice end, RangeHold hold,
                   uint64_t wait_us);
  // For a scan that reaches a row, the only key in the range: LockRange with kWrites, and no other
  // transaction has the row exclusively when the range lock begins. The row itself is not locked.
  Status LockRangeWithRow(LockOwner* owner, FamilyId family, Slice start, Slice end, Slice row,
                          uint64_t wait_us);
  // Until the owner's end, others can neither lock nor write anything in the family. Never waits.
  // Errors: kTimedOut (another transaction has something in it).
  Status Claim(LockOwner* owner, FamilyId family);
  bool HasClaim(LockOwner* owner, FamilyId family) { return ranges_.HasClaim(owner, family); }
  // Waits for other writers with something in the range, and locks nothing.
  // Errors: as LockRow.
  Status AwaitWriters(LockOwner* owner, FamilyId family, Slice start, Slice end, uint64_t wait_us);

  // Call before the first write is staged: later range locks will see it.
  void AddWriter(LockOwner* owner, const StagedKeys* keys) { writers_.Add(owner, keys); }
  // After a write was staged: whether ranges may be in its way; then waits for those that are.
  bool RangesMayBlock(FamilyId family) const { return ranges_.MayBlock(family); }
  Status PassRanges(LockOwner* owner, FamilyId family, Slice key, bool put, uint64_t wait_us);

  // Releases the key's last lock, unless a write depends on it.
  void UnlockLast(LockOwner* owner, FamilyId family, Slice key);
  // Undoes LockRow.
  void UndoRow(LockOwner* owner, const LockGrant& grant) { rows_.Undo(owner, grant); }
  void ReleaseRow(LockOwner* owner, HeldLock* lock) { rows_.Release(owner, lock); }

  // From now on `keys` itself locks its keys: their row locks may be released.
  void PublishSpill(LockOwner* owner, std::shared_ptr<const SpilledKeys> keys) {
    spills_.Publish(owner, std::move(keys));
  }

  // Releases the rows and ranges that were locked in this epoch of the owner or later.
  // REQUIRES: the writes under them are undone.
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
  // At most `locks_max` locks.
  std::vector<LockInfo> GetLocks(size_t locks_max) const;
  LockTable& TestingRows() { return rows_; }

 private:
  Status LockRowUntil(LockOwner* owner, FamilyId family, Slice key, LockMode mode, WaitLimit* limit,
                      LockGrant* grant);
  Status LockRangeUntil(LockOwner* owner, FamilyId family, Slice start, Slice end, RangeHold hold,
                        WaitLimit* limit);
  // Call after a row was granted. False: something was in the way, the row was released and the
  // wait is over, so ask again.
  Result<bool> PassSpills(LockOwner* owner, FamilyId family, Slice key, WaitLimit* limit,
                          const LockGrant& grant);
  // The same for ranges that block writes, and for claims.
  Result<bool> PassHeldRanges(LockOwner* owner, FamilyId family, Slice key, LockMode mode,
                              WaitLimit* limit, const LockGrant& grant);
  // Waits until no other transaction has staged or spilled a write in the range. *around: where
  // nothing was found. If a spill was searched it returns false, and *around has no meaning.
  Result<bool> WaitOutWriters(LockOwner* owner, FamilyId family, Slice start, Slice end,
                              RangeHold hold, WaitLimit* limit, WriterRegistry::Found* around);

  Clock* const clock_;
  WaitGraph graph_;
  LockTable rows_;
  RangeLocks ranges_;
  SpillRegistry spills_;
  WriterRegistry writers_;
};

}  // namespace tidesdb
