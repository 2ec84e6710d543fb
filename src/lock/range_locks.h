// Locks on key ranges: others' writes of keys in [start, end) wait, those of new keys included.
//
// Ranges hold off writes and not each other: two transactions may hold one range, and the second
// that writes into it finds the deadlock. A range is asked for in two steps. Install makes it stand
// in the way of new writes; then the caller waits for those that were staged before; then Confirm.
// Until Confirm it is "pending": new writes wait behind it, but for those whose transaction its
// owner waits for. They pass, and its owner looks at the writers once more. Whoever meets a range
// waits for its owner's end.
//
// A claim is a whole family for one transaction: it holds off ranges and shared row locks too.
//
// Threads: any number; each LockOwner by its own thread. Families without ranges cost their writers
// one atomic load.
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

  // Whether any range lock can exist in the family. For a caller that has staged a write just now:
  // false means that a range asked for later will see that write.
  bool MayBlock(FamilyId family) const {
    // Relaxed: the write set's mutex, taken to stage and by whoever looks for staged writes after
    // the installer's increment, orders this load.
    return counts_[family % kCountSlots].load(std::memory_order_relaxed) != 0;
  }

  // Whether a claim can exist. For a caller that has been granted a row just now: false means that
  // whoever claims the family later will see that lock.
  bool MayBeClaimed(FamilyId family) const {
    // Relaxed: the row table's mutexes order it, as the write set's do above.
    return claims_[family % kCountSlots].load(std::memory_order_relaxed) != 0;
  }

  enum class Access : uint8_t {
    kShare,  // A row, shared: held off by claims alone.
    kLock,  // Exclusively, for a write to come. Held off as a deletion; a range that is taken later
            // does not see it.
    kDelete,
    kPut,
  };
  // For a write that is staged, or a row that was locked: true when a range of another transaction
  // is in the way, and then the owner's wait for that one's end has begun (finish it with
  // WaitGraph::FinishEndWait). Errors: kDeadlock; kTimedOut when `may_wait` is false.
  Result<bool> WaitIfBlocked(LockOwner* owner, FamilyId family, Slice key, Access access,
                             bool may_wait) EXCLUDES(mu_);

  // What of a range is not held yet and must be looked through for staged writes.
  struct Wanted {
    std::string start;
    std::string end;
    uint64_t writes_seen = 0;
  };
  // Returns nothing when the range is held now: it was, or nobody can have staged anything in it
  // since the last look. Otherwise the rest of it is pending. Where another has claimed the family
  // nothing is done, and *waits: as WaitIfClaimed. Errors: its. REQUIRES: start < end; nothing is
  // pending.
  Result<std::optional<Wanted>> Install(LockOwner* owner, FamilyId family, Slice start, Slice end,
                                        RangeHold hold, bool may_wait, bool* waits) EXCLUDES(mu_);
  // After a look that found nobody in the way. `around`: null, or where that look found nothing.
  // False: a write has passed since; look again.
  bool Confirm(LockOwner* owner, FamilyId family, const Wanted& wanted,
               const WriterRegistry::Found* around) EXCLUDES(mu_);
  // Drops the pending range. The caller wakes the owner's end waiters, to look again.
  void Withdraw(LockOwner* owner, FamilyId family) EXCLUDES(mu_);
  // As WaitIfBlocked, for who looks at a range of keys.
  Result<bool> WaitIfClaimed(LockOwner* owner, FamilyId family, Slice key, bool may_wait)
      EXCLUDES(mu_);
  // The family is the owner's from now on; true: it was not before, and the caller must see that
  // nobody else has rows or writes in it, or Unclaim. Errors: kTimedOut: another has ranges in it.
  Result<bool> Claim(LockOwner* owner, FamilyId family) EXCLUDES(mu_);
  bool HasClaim(LockOwner* owner, FamilyId family) EXCLUDES(mu_);
  // The caller wakes the owner's end waiters after it.
  void Unclaim(LockOwner* owner, FamilyId family) EXCLUDES(mu_);
  // Gives back what was taken in this epoch and later. Returns whether that was anything; the
  // caller then wakes the owner's end waiters.
  bool ReleaseSince(LockOwner* owner, uint32_t epoch) EXCLUDES(mu_);
  // The caller wakes the owner's end waiters after it.
  void ReleaseAll(LockOwner* owner) EXCLUDES(mu_);

  // Adds what is held until there are `locks_max`.
  void List(size_t locks_max, std::vector<LockInfo>* locks) const EXCLUDES(mu_);
  size_t Count() const EXCLUDES(mu_);

 private:
  static constexpr size_t kCountSlots = 256;

  struct Pending {
    std::string start;
    std::string end;
    RangeHold hold;
    bool passed = false;  // By a write, since the last look at the writers or before it.
  };
  // No other transaction had such a write staged between the two keys when the family's writes were
  // at this number: the next pieces of a scan need no look.
  struct Clear {
    bool valid = false;
    RangeHold hold = RangeHold::kPuts;  // What the look was for.
    uint64_t writes = 0;
    WriterRegistry::Found between;
  };
  struct OwnerRanges {
    LockOwner* owner;
    RangeSet puts;    // All ranges.
    RangeSet writes;  // Those that hold off deletions too.
    std::optional<Pending> pending;
    Clear clear;
    std::optional<uint32_t> claimed;  // The owner's epoch then.
  };
  struct FamilyRanges {
    std::vector<std::unique_ptr<OwnerRanges>> owners;
    uint64_t writes = 0;  // Counts the writes that looked for ranges here.
  };

  static bool Blocks(const OwnerRanges& ranges, Slice key, Access access, bool* pending);
  static bool IsClear(const OwnerRanges& own, uint64_t writes, const Pending& range);
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
