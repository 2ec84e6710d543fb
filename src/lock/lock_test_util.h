// A lock manager with owners and threads in a simulation, for its tests.
#pragma once

#include "lock/lock_manager.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/sim_scheduler.h"
#include "base/test_seed.h"
#include "base/thread.h"

#ifdef TIDESDB_HOOKS

namespace tidesdb {

inline constexpr FamilyId kFamily = 3;
inline constexpr uint64_t kForEver = UINT64_MAX;
inline constexpr LockMode kS = LockMode::kShared;
inline constexpr LockMode kX = LockMode::kExclusive;

// The staged writes of a test's owner.
class FakeStaged final : public StagedKeys {
 public:
  void Add(Slice key) {
    MutexLock lock(mu_);
    keys_.emplace(key);
  }
  void Remove(Slice key) {
    MutexLock lock(mu_);
    keys_.erase(std::string(key));
  }
  bool Holds(Slice start, Slice end) const { return LookAt(kFamily, start, end, {}).conflict; }
  Look LookAt(FamilyId family, Slice start, Slice end, RangeHold) const override {
    Look look;
    if (family != kFamily) return look;
    MutexLock lock(mu_);
    ++looks_;
    auto it = keys_.lower_bound(start);
    look.conflict = it != keys_.end() && (end.empty() || *it < end);
    if (it != keys_.begin()) {
      look.has_before = true;
      look.before = *std::prev(it);
    }
    auto after = end.empty() ? keys_.end() : keys_.lower_bound(end);
    if (after != keys_.end()) {
      look.has_after = true;
      look.after = *after;
    }
    return look;
  }
  int looks() const {
    MutexLock lock(mu_);
    return looks_;
  }

 private:
  mutable Mutex mu_;
  mutable int looks_ = 0;
  std::set<std::string, std::less<>> keys_;
};

// A lock manager, some owners, and threads for them.
class World {
 public:
  explicit World(Clock* clock) : clock_(clock), locks(clock) {}
  ~World() {
    JoinAll();
    for (auto& owner : owners_) locks.ReleaseAll(owner.get());
    EXPECT_EQ(locks.LocksHeld(), 0u);
  }
  LockOwner* NewOwner() {
    owners_.push_back(std::make_unique<LockOwner>(owners_.size() + 1));
    return owners_.back().get();
  }
  Status Lock(LockOwner* owner, Slice key, LockMode mode, uint64_t wait_us = kForEver) {
    LockGrant grant;
    return locks.LockRow(owner, kFamily, key, mode, wait_us, &grant);
  }
  // Locks the key and stages a put of it, like a transaction.
  Status Write(LockOwner* owner, Slice key, uint64_t wait_us = kForEver) {
    TIDESDB_TRY(Lock(owner, key, kX, wait_us));
    return WriteUnlocked(owner, key, wait_us);
  }
  // Like index entries, under the lock of their row.
  Status WriteUnlocked(LockOwner* owner, Slice key, uint64_t wait_us = kForEver) {
    FakeStaged& own = staged[owner];
    if (!owner->writes) locks.AddWriter(owner, &own);
    own.Add(key);
    SchedulingPoint();
    if (!locks.RangesMayBlock(kFamily)) return Status::Ok();
    Status passed = locks.PassRanges(owner, kFamily, key, true, wait_us);
    if (!passed.ok()) own.Remove(key);
    return passed;
  }
  Status Range(LockOwner* owner, Slice start, Slice end, uint64_t wait_us = kForEver) {
    return locks.LockRange(owner, kFamily, start, end, RangeHold::kPuts, wait_us);
  }
  void End(LockOwner* owner) {
    locks.ReleaseAll(owner);
    staged.erase(owner);
  }
  void Start(std::function<void()> body) {
    threads_.push_back(
        std::make_unique<Thread>("t" + std::to_string(threads_.size()), std::move(body)));
  }
  void JoinAll() {
    for (auto& thread : threads_) thread->Join();
    threads_.clear();
  }
  // Lets virtual time pass until this many requests wait.
  void AwaitWaiters(int64_t waiters) {
    while (static_cast<int64_t>(asked) - static_cast<int64_t>(got) < waiters) {
      clock_->SleepMicros(10);
    }
    clock_->SleepMicros(1000);
  }

  Clock* const clock_;
  LockManager locks;
  // One thread runs at a time, without a scheduling point between read and write.
  int asked = 0;
  int got = 0;
  std::map<LockOwner*, FakeStaged> staged;

 private:
  std::vector<std::unique_ptr<LockOwner>> owners_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

// Runs `body` in simulations of `count` seeds.
inline void ForSeeds(int count, const std::function<void(World*, uint64_t seed)>& body) {
  const uint64_t first = TestSeed(1);
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(count); ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    Simulation simulation(seed);
    simulation.Run([&] {
      World world(simulation.clock());
      body(&world, seed);
    });
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace tidesdb

#endif  // TIDESDB_HOOKS
