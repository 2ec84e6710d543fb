// The running transactions with staged writes in memory, for transactions that lock ranges.
//
// A writer stages first and then looks for ranges. A range lock is installed first and then looks
// at the staged writes. So one of the two sees the other.
//
// Threads: any number; each LockOwner by its own thread.
// Lock order: Shard::mu, then the mutex of a write set, or WaitGraph's.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lock/lock_owner.h"
#include "lock/staged_keys.h"
#include "lock/wait_graph.h"
#include "tidesdb/result.h"

namespace tidesdb {

class WriterRegistry {
 public:
  explicit WriterRegistry(WaitGraph* graph) : graph_(graph) {}
  ~WriterRegistry();  // REQUIRES: empty.
  WriterRegistry(const WriterRegistry&) = delete;
  WriterRegistry& operator=(const WriterRegistry&) = delete;

  // Call before the owner's first write. `keys` lives until Remove.
  void Add(LockOwner* owner, const StagedKeys* keys);
  // The caller then wakes the owner's end waiters.
  void Remove(LockOwner* owner);

  // The result of a look at all other writers.
  struct Found {
    bool waiting = false;  // The wait for a writer's end has begun: WaitGraph::FinishEndWait.
    // Otherwise: no other writer has staged anything between these two keys; has_* false: no bound.
    bool has_from = false;  // Exclusive.
    bool has_to = false;    // Exclusive.
    std::string from;
    std::string to;
  };
  // Errors: kDeadlock; kTimedOut if a writer is in the way and `may_wait` is false.
  Result<Found> Find(LockOwner* owner, FamilyId family, Slice start, Slice end, RangeHold hold,
                     bool may_wait);

 private:
  static constexpr size_t kShardCount = 16;

  struct Writer {
    LockOwner* owner;
    const StagedKeys* keys;
  };
  struct alignas(64) Shard {
    Mutex mu;
    std::vector<Writer> writers GUARDED_BY(mu);
  };

  Shard& ShardOf(const LockOwner* owner) { return shards_[owner->id % kShardCount]; }
  static void Narrow(const StagedKeys::Look& look, Found* found);

  WaitGraph* const graph_;
  std::array<Shard, kShardCount> shards_;
};

}  // namespace tidesdb
