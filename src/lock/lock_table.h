// Exact row locks: shared and exclusive, re-entrant, granted in the order of arrival.
//
// Threads: any number; each LockOwner by its own thread.
// Owns: an entry for each key that is held or waited for, and nothing for others.
// Invariants:
//   1. An exclusive holder is the only holder.
//   2. A key's queue is empty, or its head is in conflict with a holder. A request joins at the tail;
//      one that asks for more than it holds joins before those that hold nothing.
//   3. A released lock goes directly to its next holder, before others can take it.
// Lock order: Shard::mu, then WaitGraph::mu. One shard at a time.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lock/lock_owner.h"
#include "lock/wait_graph.h"
#include "lock/wait_limit.h"
#include "tidesdb/status.h"

namespace tidesdb {

// The effect of a Lock call, for undoing it.
struct LockGrant {
  enum class Kind : uint8_t { kHeldBefore, kUpgraded, kNew };
  HeldLock* lock = nullptr;
  Kind kind = Kind::kHeldBefore;
};

class LockTable {
 public:
  // The graph outlives the table.
  explicit LockTable(WaitGraph* graph);
  ~LockTable();  // REQUIRES: nothing is held.
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;

  // Errors, nothing has changed: kTimedOut, kDeadlock, kInterrupted.
  Status Lock(LockOwner* owner, FamilyId family, Slice key, LockMode mode, WaitLimit* limit,
              LockGrant* grant);
  // Undoes a Lock call; for kHeldBefore, only the count.
  void Undo(LockOwner* owner, const LockGrant& grant);

  // The owner's hold on the key; null if it has none.
  HeldLock* Find(LockOwner* owner, FamilyId family, Slice key);
  // Whether another owner has the key exclusively.
  bool IsExclusiveOfOther(const LockOwner* owner, FamilyId family, Slice key);
  // Errors: kTimedOut (another owner holds a row of the family). Visits all locked rows.
  Status CheckNoneOfOthers(const LockOwner* owner, FamilyId family) const;
  void Release(LockOwner* owner, HeldLock* lock);
  // Releases locks granted in this epoch or later.
  void ReleaseSince(LockOwner* owner, uint32_t epoch);
  void ReleaseAll(LockOwner* owner);

  // Adds held locks until there are `locks_max`.
  void List(size_t locks_max, std::vector<LockInfo>* locks) const;
  uint64_t LocksHeld() const;
  uint64_t MemoryBytes() const;
  // Checks the invariants and aborts if one is broken.
  void TestingCheck();

 private:
  static constexpr size_t kShardCount = 64;

  struct alignas(64) Shard {
    mutable Mutex mu;
    // Chained hash table; the number of buckets is a power of two.
    std::vector<LockEntry*> buckets GUARDED_BY(mu);
    size_t entries GUARDED_BY(mu) = 0;
    // Written under mu. Relaxed: figures.
    std::atomic<uint64_t> held = 0;
    std::atomic<uint64_t> bytes = 0;
  };

  static uint64_t HashOf(FamilyId family, Slice key);
  Shard& ShardOf(uint64_t hash) { return shards_[hash >> 58]; }  // 64 - log2(kShardCount)

  static LockEntry** FindSlot(Shard& shard, uint64_t hash, FamilyId family, Slice key)
      REQUIRES(shard.mu);
  static LockEntry* NewEntry(Shard& shard, uint64_t hash, FamilyId family, Slice key)
      REQUIRES(shard.mu);
  static void RemoveIfUnused(Shard& shard, LockEntry* entry) REQUIRES(shard.mu);
  static void Rehash(Shard& shard, size_t bucket_count) REQUIRES(shard.mu);

  static HeldLock* FindRecent(const LockOwner* owner, uint64_t hash, FamilyId family, Slice key);
  static HeldLock* HolderOf(LockEntry* entry, const LockOwner* owner);
  static bool Compatible(LockEntry* entry, const LockOwner* owner, LockMode mode);
  static HeldLock* AddHolder(Shard& shard, LockEntry* entry, LockOwner* owner, LockMode mode)
      REQUIRES(shard.mu);
  static void RemoveHolder(Shard& shard, HeldLock* lock) REQUIRES(shard.mu);
  static void LinkHeld(LockOwner* owner, HeldLock* lock);
  static void UnlinkHeld(LockOwner* owner, HeldLock* lock);

  bool GrantAtOnce(Shard& shard, LockEntry* entry, LockOwner* owner, LockMode mode,
                   LockGrant* grant) REQUIRES(shard.mu);
  static void Enqueue(LockEntry* entry, LockOwner* owner);
  static void Dequeue(LockOwner* owner);
  // The lock became weaker or its queue shorter: grants what is now possible.
  void GrantFromQueue(Shard& shard, LockEntry* entry, SignalList* signals)
      REQUIRES(shard.mu, graph_->mu());
  // Sets the wait up, or returns the reason why not.
  Status BeginWait(Shard& shard, LockEntry* entry, LockOwner* owner, LockMode mode)
      REQUIRES(shard.mu);
  Status FinishWait(Shard& shard, LockOwner* owner, uint64_t deadline_us, LockGrant* grant);
  void ReleaseLocked(Shard& shard, HeldLock* lock, SignalList* signals) REQUIRES(shard.mu);

  WaitGraph* const graph_;
  std::array<Shard, kShardCount> shards_;
};

}  // namespace tidesdb
