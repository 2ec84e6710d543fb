// A transaction as the lock folder sees it: what it holds, and the one thing it waits for.
//
// Threads: every field says which thread or mutex it belongs to. "Own thread": the thread that runs
//   the transaction.
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

// One transaction's hold on one key.
struct HeldLock {
  // Guarded by the shard's mutex; while the key has waiters, also by the WaitGraph's.
  LockOwner* owner = nullptr;  // Null: the entry's built-in place is free.
  HeldLock* next_holder = nullptr;
  LockEntry* entry = nullptr;
  LockMode mode = LockMode::kShared;
  // Own thread.
  uint32_t count = 0;    // How often it was taken; UnlockLast releases one by one.
  bool written = false;  // A write depends on it: held until the end.
  bool changed = false;  // The key has changed since the snapshot; not resolved yet.
  bool exists = false;   // The key was read under it, and was committed before.
  uint32_t epoch = 0;    // The owner's at the grant.
  HeldLock* prev_held = nullptr;
  HeldLock* next_held = nullptr;
};

// One locked key. Exists while it has a holder or a waiter. Its bytes follow it in memory. Guarded
// by the shard's mutex; while the key has waiters, changes also need the WaitGraph's.
struct LockEntry {
  LockEntry* next_in_bucket = nullptr;
  HeldLock first;  // The built-in place: most keys have at most one holder.
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

// A transaction's current wait: in the queue of a key, or for the end of another transaction.
// Guarded by the WaitGraph's mutex.
struct PendingWait {
  LockEntry* entry = nullptr;
  LockOwner* end_of = nullptr;
  LockMode mode = LockMode::kShared;
  bool upgrade = false;  // Already holds the key shared.
  bool done = false;     // Granted, or the other transaction ended; a signal is on its way.
  // The purpose of a wait for an end.
  WaitFor what = WaitFor::kRow;
  FamilyId family = 0;
  std::string key;
  HeldLock* granted = nullptr;
  LockOwner* prev = nullptr;  // In the queue, or among waiters for the same end.
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
  // Own thread, once its wait is done but the signal is still on its way.
  void AwaitSignal() EXCLUDES(mu_);
  // Called by the thread that made the wait `done`, after it has released all other mutexes. Only
  // afterwards the owner leaves its wait and may be destroyed.
  void Signal() EXCLUDES(mu_);

  // Any thread.
  void Interrupt() EXCLUDES(mu_);
  void ClearInterrupt() EXCLUDES(mu_);
  bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }

  // Constant while the transaction holds or waits for anything.
  uint64_t id;
  uint64_t tag = 0;  // TransactionOptions::tag.

  // Not owned; null: none. The own thread changes it, under the WaitGraph's mutex while it holds
  // anything.
  LockWaitListener* listener = nullptr;

  // Own thread.
  HeldLock* held = nullptr;  // Newest first.
  uint64_t held_count = 0;
  std::vector<FamilyId> range_families;
  bool spilled = false;  // In the SpillRegistry.
  bool writes = false;   // In the WriterRegistry.
  bool holds_any() const { return held != nullptr || !range_families.empty() || spilled || writes; }
  // Grows with every savepoint: separates locks taken after it from earlier ones.
  uint32_t epoch = 0;

  // Under the WaitGraph's mutex.
  PendingWait wait;
  LockOwner* end_waiters = nullptr;
  // Whether any transaction ever waited for this end. Written under the WaitGraph's mutex. The
  // owner reads it without that mutex once no such wait can begin any more: the mutex of the
  // registry that it left orders this.
  std::atomic<bool> awaited = false;
  uint64_t walk = 0;  // The last search that came here, and its previous node.
  const LockOwner* walk_from = nullptr;
  uint64_t wait_begun_us = 0;
  LockOwner* prev_sleeper = nullptr;  // Among those that WaitGraph::GetWaits() reads.
  LockOwner* next_sleeper = nullptr;

 private:
  Mutex mu_;
  CondVar cv_;
  bool signalled_ GUARDED_BY(mu_) = false;
  // Written under mu_; scans read it without the mutex and need no order.
  std::atomic<bool> interrupted_ = false;
};

}  // namespace tidesdb
