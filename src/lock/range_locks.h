// Locks on key ranges: others' writes of keys in [start, end) wait, also of new keys.
//
// Ranges block writes, not each other: two transactions may hold the same range, and the second one
// to write into it finds the deadlock. A range is locked in steps. Install puts it in the way of
// new writes. Then the caller waits for writes staged before. Then Confirm. Until Confirm the range
// is "pending": new writes wait behind it, except those of a transaction that its owner waits for.
// They pass, and the owner looks at the writers again. A writer that meets a range waits for its
// owner's end.
//
// A claim is a whole family for one transaction: it also blocks ranges and shared row locks.
//
// Threads: any number; each LockOwner by its own thread. In families without ranges a writer pays
//   one atomic load.
// Lock order: mu_, then WaitGraph's.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lock/lock_owner.h"
#include "lock/range_set.h"
#include "lock/wait_graph.h"
#include "lock/writer_registry.h"
#include "tidesdb/status.h"

namespace tidesdb {

class RangeLocks {
 public:
  explicit RangeLocks(WaitGraph* graph) : graph_(graph) {}
  ~RangeLocks();  // REQUIRES: nothing is held.
  RangeLocks(const RangeLocks&) = delete;
  RangeLocks& operator=(const RangeLocks&) = delete;

  // Whether the family can have any range lock. For a caller that has just staged a write: false
  // means that every later range lock will see that write.
  bool MayBlock(FamilyId family) const {
    // Relaxed: the write set's mutex orders this load. The writer takes it to stage, and a range's
    // owner takes it to look for staged writes after its increment.
    return counts_[family % kCountSlots].load(std::memory_order_relaxed) != 0;
  }

  // Whether a claim can exist. For a caller that has just been granted a row: false means that
  // every later claim of the family will see that lock.
  bool MayBeClaimed(FamilyId family) const {
    // Relaxed: the row table's mutexes order it, as the write set's does above.
    return claims_[family % kCountSlots].load(std::memory_order_relaxed) != 0;
  }

  enum class Access : uint8_t {
    kShare,  // A shared row lock: only claims block it.
    kLock,   // For a later write. Blocked like a deletion; later ranges do not see it.
    kDelete,
    kPut,
  };
  // For a staged write or a locked row. True: a range of another transaction is in the way, and the
  // owner's wait for its end has begun (finish it with WaitGraph::FinishEndWait).
  // Errors: kDeadlock; kTimedOut if `may_wait` is false.
  Result<bool> WaitIfBlocked(LockOwner* owner, FamilyId family, Slice key, Access access,
                             bool may_wait) EXCLUDES(mu_);

  // The part of a range that is not held yet and must be searched for staged writes.
  struct Wanted {
    std::string start;
    std::string end;
    uint64_t others_writes = 0;  // Of the family, so far.
  };
  // Returns nothing if the range is held now: it was held before, or nothing can have been staged
  // in it since the last look. Otherwise returns the pending rest. If another owner has claimed the
  // family it does nothing, and *waits is as in WaitIfClaimed.
  // Errors: those of WaitIfClaimed.
  // REQUIRES: start < end; nothing is pending.
  Result<std::optional<Wanted>> Install(LockOwner* owner, FamilyId family, Slice start, Slice end,
                                        RangeHold hold, bool may_wait, bool* waits) EXCLUDES(mu_);
  // Call after a look that found nobody in the way. `around`: null, or where that look found
  // nothing. False: a write has passed since; look again.
  bool Confirm(LockOwner* owner, FamilyId family, const Wanted& wanted,
               const WriterRegistry::Found* around) EXCLUDES(mu_);
  // Drops the pending range. The caller then wakes the owner's end waiters, so that they look
  // again.
  void Withdraw(LockOwner* owner, FamilyId family) EXCLUDES(mu_);
  // As WaitIfBlocked, for a look at a range of keys.
  Result<bool> WaitIfClaimed(LockOwner* owner, FamilyId family, Slice key, bool may_wait)
      EXCLUDES(mu_);
  // The family is the owner's from now on. True: it was not before; the caller must check that no
  // other owner has rows or writes in it, or Unclaim.
  // Errors: kTimedOut (another owner has ranges in it).
  Result<bool> Claim(LockOwner* owner, FamilyId family) EXCLUDES(mu_);
  bool HasClaim(LockOwner* owner, FamilyId family) EXCLUDES(mu_);
  // The caller then wakes the owner's end waiters.
  void Unclaim(LockOwner* owner, FamilyId family) EXCLUDES(mu_);
  // Releases what was taken in this epoch or later. Returns whether there was anything; the caller
  // then wakes the owner's end waiters.
  bool ReleaseSince(LockOwner* owner, uint32_t epoch) EXCLUDES(mu_);
  // The caller then wakes the owner's end waiters.
  void ReleaseAll(LockOwner* owner) EXCLUDES(mu_);

  // Adds held ranges until there are `locks_max`.
  void List(size_t locks_max, std::vector<LockInfo>* locks) const EXCLUDES(mu_);
  size_t Count() const EXCLUDES(mu_);

 private:
  static constexpr size_t kCountSlots = 256;

  struct Pending {
    std::string start;
    std::string end;
    RangeHold hold;
    bool passed = false;  // By a write, before or since the last look at the writers.
  };
  // No other transaction had such a write staged between the two keys when others' number of writes
  // was this: the next pieces of a scan need no look.
  struct Clear {
    bool valid = false;
    RangeHold hold = RangeHold::kPuts;  // The kind of the look.
    uint64_t others_writes = 0;
    WriterRegistry::Found between;
  };
  struct OwnerRanges {
    LockOwner* owner;
    RangeSet puts;    // All ranges.
    RangeSet writes;  // Those that also block deletions.
    std::optional<Pending> pending;
    Clear clear;
    uint64_t own_writes = 0;          // Of the family's, the owner's since it is here.
    std::optional<uint32_t> claimed;  // The owner's epoch at the claim.
  };
  struct FamilyRanges {
    std::vector<std::unique_ptr<OwnerRanges>> owners;
    uint64_t writes = 0;  // Counts writes that looked for ranges here.
  };

  static bool Blocks(const OwnerRanges& ranges, Slice key, Access access, bool* pending);
  static bool IsClear(const OwnerRanges& own, uint64_t others_writes, const Pending& range);
  static void Take(OwnerRanges* own, const Pending& range);
  OwnerRanges* RangesOf(LockOwner* owner, FamilyId family) REQUIRES(mu_);
  OwnerRanges* MakeRanges(LockOwner* owner, FamilyId family) REQUIRES(mu_);
  Result<bool> WaitForClaimer(LockOwner* owner, FamilyId family, Slice key, bool may_wait)
      REQUIRES(mu_);
  void DropClaim(OwnerRanges* own, FamilyId family) REQUIRES(mu_);
  void RemoveIfEmpty(LockOwner* owner, FamilyId family) REQUIRES(mu_);
  void Remove(LockOwner* owner, FamilyId family) REQUIRES(mu_);

  WaitGraph* const graph_;
  mutable Mutex mu_;
  std::map<FamilyId, FamilyRanges> families_ GUARDED_BY(mu_);
  // Owners with ranges, by family modulo the number of slots. Written under mu_.
  std::array<std::atomic<uint32_t>, kCountSlots> counts_ = {};
  std::array<std::atomic<uint32_t>, kCountSlots> claims_ = {};  // Likewise: owners with a claim.
};

}  // namespace tidesdb
