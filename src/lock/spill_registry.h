// The spilled write sets of running transactions: a key found in one of them is locked.
//
// A transaction that spills first publishes the spilled keys here and then releases their row
// locks. So the next holder of such a row lock looks here, and waits for the transaction's end.
//
// Threads: any number; each LockOwner by its own thread. Costs one atomic load while there is no
//   spill. A search in a write set does I/O and holds no mutex.
// Lock order: mu_, then WaitGraph's.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "lock/lock_owner.h"
#include "lock/wait_graph.h"
#include "tidesdb/result.h"

namespace tidesdb {

// The keys of one transaction's runs, rolled-back ones included. Immutable.
// Threads: any.
class SpilledKeys {
 public:
  virtual ~SpilledKeys() = default;
  // Errors: kIoError, kCorruption.
  virtual Result<bool> Contains(FamilyId family, Slice key) const = 0;
  virtual Result<bool> Intersects(FamilyId family, Slice start, Slice end) const = 0;
};

class SpillRegistry {
 public:
  explicit SpillRegistry(WaitGraph* graph) : graph_(graph) {}
  ~SpillRegistry();  // REQUIRES: empty.
  SpillRegistry(const SpillRegistry&) = delete;
  SpillRegistry& operator=(const SpillRegistry&) = delete;

  // For a caller that was just granted a row lock: false means that no other has spilled the key.
  bool any() const {
    // Relaxed: the shard's mutex orders it, as in RangeLocks::MayBlock: a spiller publishes before
    // it releases the row lock.
    return count_.load(std::memory_order_relaxed) != 0;
  }

  // Replaces what the owner has published.
  void Publish(LockOwner* owner, std::shared_ptr<const SpilledKeys> keys) EXCLUDES(mu_);
  // The caller then wakes the owner's end waiters.
  void Remove(LockOwner* owner) EXCLUDES(mu_);

  // A transaction that has spilled, as of its lookup.
  struct Spiller {
    LockOwner* owner = nullptr;  // May be destroyed: only compare it, together with the id.
    uint64_t id = 0;
    std::shared_ptr<const SpilledKeys> keys;
  };
  // Another transaction whose spill has the key, or a key of the range; owner null: none.
  Result<Spiller> FindKey(const LockOwner* owner, FamilyId family, Slice key) EXCLUDES(mu_);
  Result<Spiller> FindRange(const LockOwner* owner, FamilyId family, Slice start, Slice end)
      EXCLUDES(mu_);
  // True: the wait for the spiller's end has begun; finish it with WaitGraph::FinishEndWait. False:
  // it has already ended.
  // Errors: kDeadlock.
  Result<bool> AwaitEnd(LockOwner* owner, const Spiller& spiller, FamilyId family, Slice key)
      EXCLUDES(mu_);

 private:
  std::vector<Spiller> Others(const LockOwner* owner) const EXCLUDES(mu_);

  WaitGraph* const graph_;
  mutable Mutex mu_;
  std::vector<Spiller> spillers_ GUARDED_BY(mu_);
  std::atomic<uint32_t> count_ = 0;  // Of spillers_; written under mu_.
};

}  // namespace tidesdb
