// A transaction as the lock rooms see it: what it holds, and the one thing that it waits for.
//
// Threads: every field says whose it is. "Own thread": the thread that runs the transaction.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "format/internal_key.h"
#include "tidesdb/stats.h"
#include "tidesdb/transaction.h"

namespace tidesdb {

class LockOwner;
struct LockEntry;

// One transaction's hold of one key.
struct HeldLock {
  // Under the shard's mutex; while the key has waiters, under the WaitGraph's too.
  LockOwner* owner = nullptr;  // Null: the entry's built-in place is free.
  HeldLock* next_holder = nullptr;
  LockEntry* entry = nullptr;
  LockMode mode = LockMode::kShared;
  // Own thread.
  uint32_t count = 0;    // How often it was taken; given back one by one by UnlockLast.
  bool written = false;  // A write depends on it: stays until the end.
  bool changed = false;  // The key was found changed since the snapshot: not yet resolved.
  bool exists = false;   // The key was read under it, and committed before.
  uint32_t epoch = 0;    // The owner's when it was granted.
  HeldLock* prev_held = nullptr;
  HeldLock* next_held = nullptr;
};

// One locked key. Exists while somebody holds it or waits for it. Its bytes follow it in memory.
// All under the shard's mutex; while the key has waiters, changes need the WaitGraph's too.
struct LockEntry {
  LockEntry* next_in_bucket = nullptr;
  HeldLock first;  // The built-in place: most keys have one holder at most.
  LockOwner* queue_head = nullptr;
  LockOwner* queue_tail = nullptr;
  uint64_t hash = 0;
  FamilyId family = 0;
  uint32_t key_bytes = 0;

  Slice key() const { return {reinterpret_cast<const char*>(this + 1), key_bytes}; }
  HeldLock* FirstHolder() { return first.owner != nullptr ? &first : first.next_holder; }
  const HeldLock* FirstHolder() const {
    return first.owner != nullptr ? &first : first.next_holder;
  }
};

// The wait that a transaction is in: in the queue of a key, or for the end of another transaction.
// All under the WaitGraph's mutex.
struct PendingWait {
  LockEntry* entry = nullptr;
  LockOwner* end_of = nullptr;
  LockMode mode = LockMode::kShared;
  bool upgrade = false;  // Holds the key shared already.
  bool done = false;     // Granted, or the other transaction ended; a signal is on its way.
  // Of an end: what for.
  WaitFor what = WaitFor::kRow;
  FamilyId family = 0;
  std::string key;
  HeldLock* granted = nullptr;
  LockOwner* prev = nullptr;  // In the queue, or among those who wait for the same end.
  LockOwner* next = nullptr;
  LockOwner* next_signal = nullptr;

  bool waiting() const { return (entry != nullptr || end_of != nullptr) && !done; }
};

class LockOwner {
 public:
  explicit LockOwner(uint64_t owner_id) : id(owner_id) {}
  LockOwner(const LockOwner&) = delete;
  LockOwner& operator=(const LockOwner&) = delete;

  enum class Wake : uint8_t { kSignalled, kTimedOut, kInterrupted };

  // Own thread. Sleeps until Signal, Interrupt, or the clock has reached deadline_us.
  Wake Sleep(Clock* clock, uint64_t deadline_us) EXCLUDES(mu_);
  // Own thread, once its wait is done: the signaller is still on its way.
  void AwaitSignal() EXCLUDES(mu_);
  // The one who made the wait `done`, after all other mutexes are free. The owner leaves its wait,
  // and may be destroyed, only after this.
  void Signal() EXCLUDES(mu_);

  // Any thread.
  void Interrupt() EXCLUDES(mu_);
  void ClearInterrupt() EXCLUDES(mu_);
  bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }

  // Constant while the transaction holds or waits for anything.
  uint64_t id;
  uint64_t tag = 0;  // TransactionOptions::tag.

  // Not owned; null: nobody. Changes by the own thread, under the WaitGraph's mutex while it holds
  // anything.
  LockWaitListener* listener = nullptr;

  // Own thread.
  HeldLock* held = nullptr;  // Newest first.
  uint64_t held_count = 0;
  std::vector<FamilyId> range_families;
  bool spilled = false;  // In the SpillRegistry.
  bool writes = false;   // In the WriterRegistry.
  bool holds_any() const { return held != nullptr || !range_families.empty() || spilled || writes; }
  // Grows with every savepoint: what was locked after it is told from what was locked before.
  uint32_t epoch = 0;

  // Under the WaitGraph's mutex.
  PendingWait wait;
  LockOwner* end_waiters = nullptr;
  // Whether anybody ever waited for this end. Written under the WaitGraph's mutex; read without it
  // by the owner once nobody can begin such a wait any more: the mutex of the registry that it left
  // orders that.
  std::atomic<bool> awaited = false;
  uint64_t walk = 0;  // The search that came here last, and from where.
  const LockOwner* walk_from = nullptr;
  uint64_t wait_begun_us = 0;
  LockOwner* prev_sleeper = nullptr;  // Among those that WaitGraph::GetWaits() looks at.
  LockOwner* next_sleeper = nullptr;

 private:
  Mutex mu_;
  CondVar cv_;
  bool signalled_ GUARDED_BY(mu_) = false;
  // Written under mu_; read without it by scans, which need no order.
  std::atomic<bool> interrupted_ = false;
};

}  // namespace tidesdb
