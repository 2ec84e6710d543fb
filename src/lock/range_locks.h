// Locks on key ranges: every key of [start, end), those that do not exist included.
//
// A range is asked for in two steps. Install makes it stand in the way of new row locks; then the
// caller waits out the row locks that stood before; then Confirm. Until Confirm it is "pending": it
// blocks others as a held one does, but does not count as held when it is asked for again. Ranges
// go at the end of their transaction only, so whoever meets one waits for that end.
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
#include "lock/wait_graph.h"
#include "tidesdb/status.h"

namespace tidesdb {

// Disjoint ranges of keys: start to end, an empty end means no bound. A plain value.
class RangeSet {
 public:
  // Merges with what it touches.
  void Add(Slice start, Slice end);
  bool Covers(Slice start, Slice end) const;
  bool Contains(Slice key) const;
  bool Intersects(Slice start, Slice end) const;
  bool empty() const { return ranges_.empty(); }
  size_t size() const { return ranges_.size(); }

 private:
  using Map = std::map<std::string, std::string, std::less<>>;
  // The range that holds `key`, or the first one after it.
  Map::const_iterator FindEndAfter(Slice key) const;

  Map ranges_;
};

class RangeLocks {
 public:
  explicit RangeLocks(WaitGraph* graph) : graph_(graph) {}
  ~RangeLocks();  // REQUIRES: nothing is held.
  RangeLocks(const RangeLocks&) = delete;
  RangeLocks& operator=(const RangeLocks&) = delete;

  // Whether any range lock can exist in the family. For a caller that holds a row lock that was
  // granted just now: false means that a range asked for later will see that row lock.
  bool MayBlock(FamilyId family) const {
    // Relaxed: the shard's mutex, taken for the row lock and by every installer that looks for row
    // locks afterwards, orders this load after the installer's increment.
    return counts_[family % kCountSlots].load(std::memory_order_relaxed) != 0;
  }

  enum class Outcome : uint8_t { kFree, kWaiting };

  // Whether a range of another transaction is in the way of a row lock.
  bool Blocks(const LockOwner* owner, FamilyId family, Slice key, LockMode mode) EXCLUDES(mu_);
  // As Blocks; and if so the owner's wait for that transaction's end has begun (kWaiting: finish it
  // with WaitGraph::FinishEndWait). Errors: kDeadlock.
  Result<Outcome> WaitIfBlocked(LockOwner* owner, FamilyId family, Slice key, LockMode mode)
      EXCLUDES(mu_);

  // Whether the owner holds all of the range, strong enough.
  bool Holds(LockOwner* owner, FamilyId family, Slice start, Slice end, LockMode mode)
      EXCLUDES(mu_);
  // kFree: the range is pending. kWaiting: another range is in the way and the wait has begun; try
  // again after it. `may_wait` false: kTimedOut instead. REQUIRES: start < end; nothing is pending.
  Result<Outcome> Install(LockOwner* owner, FamilyId family, Slice start, Slice end, LockMode mode,
                          bool may_wait) EXCLUDES(mu_);
  void Confirm(LockOwner* owner, FamilyId family) EXCLUDES(mu_);
  // Drops the pending range. The caller wakes the owner's end waiters, to look again.
  void Withdraw(LockOwner* owner, FamilyId family) EXCLUDES(mu_);
  // The caller wakes the owner's end waiters after it.
  void ReleaseAll(LockOwner* owner) EXCLUDES(mu_);

  size_t Count() const EXCLUDES(mu_);

 private:
  static constexpr size_t kCountSlots = 256;

  struct Pending {
    std::string start;
    std::string end;
    LockMode mode;
  };
  struct OwnerRanges {
    LockOwner* owner;
    RangeSet shared;
    RangeSet exclusive;
    std::optional<Pending> pending;
  };
  using FamilyRanges = std::vector<std::unique_ptr<OwnerRanges>>;

  OwnerRanges* RangesOf(LockOwner* owner, FamilyId family) REQUIRES(mu_);
  LockOwner* FindBlocker(const LockOwner* owner, FamilyId family, Slice key, LockMode mode)
      REQUIRES(mu_);
  void Remove(LockOwner* owner, FamilyId family) REQUIRES(mu_);

  WaitGraph* const graph_;
  mutable Mutex mu_;
  std::map<FamilyId, FamilyRanges> families_ GUARDED_BY(mu_);
  // Owners with ranges, by family modulo the number of slots. Written under mu_.
  std::array<std::atomic<uint32_t>, kCountSlots> counts_ = {};
};

}  // namespace tidesdb
