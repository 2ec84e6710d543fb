// State that all transactions of a database share.
//
// Threads: any number; each part has its own synchronization.
#pragma once

#include <atomic>

#include "lock/lock_manager.h"
#include "txn/commit_pipeline.h"
#include "txn/snapshot_set.h"
#include "txn/txn_manager.h"
#include "writes/spill_context.h"

namespace tidesdb {

struct TxnShared {
  explicit TxnShared(const TxnManagerOptions& manager_options)
      : options(manager_options),
        spill_files(manager_options.fs, manager_options.spill_files_open_max),
        spill{manager_options.env, manager_options.fs, manager_options.cache, &spill_files},
        visible(manager_options.visible_sequence),
        newest(manager_options.visible_sequence),
        snapshots(&visible),
        locks(manager_options.clock),
        pipeline(manager_options.env, &visible, &newest, manager_options.sync_commits,
                 manager_options.instruments),
        next_prepared_id(manager_options.prepared_id_max + 1) {}

  // Write sets, loads, records, tracked keys and locks: one atomic load for each shard of the
  // locks.
  uint64_t MemoryBytes() const {
    return memory_bytes.load(std::memory_order_relaxed) + locks.MemoryBytes();
  }

  // Adds `moved`, modulo 2^64, to the memory of transactions.
  void MoveMemory(uint64_t moved) {
    constexpr uint64_t kStepBytes = 1 << 20;  // See TxnEnv::TransactionMemoryMoved.
    const uint64_t now = memory_bytes.fetch_add(moved, std::memory_order_relaxed) + moved;
    uint64_t told = memory_told.load(std::memory_order_relaxed);
    if (now < told + kStepBytes && told < now + kStepBytes) return;
    if (memory_told.compare_exchange_strong(told, now, std::memory_order_relaxed)) {
      options.env->TransactionMemoryMoved();
    }
  }
  // Whether memory is short: true before two transactions' shares are full.
  bool IsCrowded() const {
    const uint64_t share = options.transaction_memory_bytes;
    return MemoryBytes() >= share + share / 2;
  }

  void Count(Counter counter, uint64_t n = 1) { options.metrics->Add(counter, n); }

  // A scan has met these runs. The environment hears of every so many, as if all were like those of
  // the scan that completes them: cheap, and right on average.
  void CountYoungRuns(const ColumnFamily* family, YoungRuns runs) {
    constexpr uint64_t kSample = 4096;
    Count(Counter::kYoungRuns, runs.all);
    const uint64_t before = young_runs.fetch_add(runs.all, std::memory_order_relaxed);
    const uint64_t sampled = ((before + runs.all) / kSample - before / kSample) * kSample;
    if (sampled == 0) return;
    options.env->YoungRunsRead(family, {sampled, sampled * runs.old / runs.all});
  }

  const TxnManagerOptions options;
  std::atomic<bool> closed = false;  // Relaxed: nothing may run while it is set.
  SpillFiles spill_files;
  const SpillContext spill;

  // The pipeline stores it (release) after the inserts of a group; readers load it (acquire).
  std::atomic<SequenceNumber> visible;
  // Likewise. It is ahead of `visible` by the groups that are inserted but not synced.
  std::atomic<SequenceNumber> newest;
  SnapshotSet snapshots;
  LockManager locks;
  CommitPipeline pipeline;

  // All relaxed: figures and numbers that publish nothing.
  std::atomic<uint64_t> next_id = 1;
  std::atomic<uint64_t> next_prepared_id;
  std::atomic<uint64_t> active = 0;
  std::atomic<uint64_t> memory_bytes = 0;  // Of write sets, loads, records and tracked keys.
  std::atomic<uint64_t> memory_told = 0;   // The value last given to the environment.
  std::atomic<uint64_t> young_runs = 0;
};

}  // namespace tidesdb
