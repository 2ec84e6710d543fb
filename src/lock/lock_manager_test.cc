// Waits, fairness and deadlocks, each under many schedules of the simulation.
#include "lock/lock_manager.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "base/random.h"
#include "base/sim_scheduler.h"
#include "base/test_seed.h"
#include "base/thread.h"

#ifdef TIDESDB_HOOKS

namespace tidesdb {
namespace {

constexpr FamilyId kFamily = 3;
constexpr uint64_t kForEver = UINT64_MAX;
constexpr LockMode kS = LockMode::kShared;
constexpr LockMode kX = LockMode::kExclusive;

// What an owner of the test has staged.
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

 private:
  mutable Mutex mu_;
  std::set<std::string, std::less<>> keys_;
};

// A lock manager, some owners, and threads to run them on.
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
  // Locks the key and stages a put of it, as a transaction does.
  Status Write(LockOwner* owner, Slice key, uint64_t wait_us = kForEver) {
    TIDESDB_TRY(Lock(owner, key, kX, wait_us));
    return WriteUnlocked(owner, key, wait_us);
  }
  // As index entries are, under the lock of their row.
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
  // Lets virtual time pass until so many requests are waiting.
  void AwaitWaiters(int64_t waiters) {
    while (static_cast<int64_t>(asked) - static_cast<int64_t>(got) < waiters) {
      clock_->SleepMicros(10);
    }
    clock_->SleepMicros(1000);
  }

  Clock* const clock_;
  LockManager locks;
  // One thread runs at a time, and no scheduling point is between read and write.
  int asked = 0;
  int got = 0;
  std::map<LockOwner*, FakeStaged> staged;

 private:
  std::vector<std::unique_ptr<LockOwner>> owners_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

// Runs `body` in simulations of `count` seeds.
void ForSeeds(int count, const std::function<void(World*, uint64_t seed)>& body) {
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

TEST(LockManagerTest, GrantsInOrderOfArrival) {
  ForSeeds(30, [](World* world, uint64_t) {
    LockOwner* holder = world->NewOwner();
    ASSERT_TRUE(world->Lock(holder, "k", kX).ok());
    std::vector<int> order;
    constexpr LockMode kModes[] = {kS, kX, kS, kS, kX, kX};
    int number = 0;
    for (const LockMode mode : kModes) {
      LockOwner* owner = world->NewOwner();
      world->Start([world, owner, mode, number, &order] {
        ++world->asked;
        ASSERT_TRUE(world->Lock(owner, "k", mode).ok());
        ++world->got;
        order.push_back(number);
        world->locks.ReleaseAll(owner);
      });
      world->AwaitWaiters(++number);
    }
    world->locks.ReleaseAll(holder);
    world->JoinAll();
    // Numbers 2 and 3 are shared, together, and may tell in any order.
    if (order[2] == 3) std::swap(order[2], order[3]);
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  });
}

TEST(LockManagerTest, SharedDoesNotPassAWaitingExclusive) {
  ForSeeds(20, [](World* world, uint64_t) {
    LockOwner* a = world->NewOwner();
    LockOwner* b = world->NewOwner();
    LockOwner* c = world->NewOwner();
    ASSERT_TRUE(world->Lock(a, "k", kS).ok());
    world->Start([world, b] {
      ++world->asked;
      ASSERT_TRUE(world->Lock(b, "k", kX).ok());
      ++world->got;
      world->locks.ReleaseAll(b);
    });
    world->AwaitWaiters(1);
    EXPECT_EQ(world->Lock(c, "k", kS, 0).code(), Code::kTimedOut);
    // The holder itself is not held up.
    EXPECT_TRUE(world->Lock(a, "k", kS, 0).ok());
    world->locks.ReleaseAll(a);
    world->JoinAll();
    EXPECT_TRUE(world->Lock(c, "k", kS, 0).ok());
  });
}

TEST(LockManagerTest, ATimedOutExclusiveLetsSharedThrough) {
  ForSeeds(20, [](World* world, uint64_t) {
    LockOwner* a = world->NewOwner();
    LockOwner* b = world->NewOwner();
    LockOwner* c = world->NewOwner();
    ASSERT_TRUE(world->Lock(a, "k", kS).ok());
    world->Start([world, b] {
      ++world->asked;
      const Status status = world->Lock(b, "k", kX, 50'000);
      ++world->got;
      EXPECT_EQ(status.code(), Code::kTimedOut) << status.ToString();
      EXPECT_NE(status.message().find("held by transaction 1"), Slice::npos) << status.message();
    });
    world->AwaitWaiters(1);
    world->Start([world, c] { EXPECT_TRUE(world->Lock(c, "k", kS).ok()); });
    world->JoinAll();
    EXPECT_EQ(world->locks.GetStats().timeouts, 1u);
  });
}

TEST(LockManagerTest, InterruptEndsAWait) {
  ForSeeds(20, [](World* world, uint64_t) {
    LockOwner* a = world->NewOwner();
    LockOwner* b = world->NewOwner();
    ASSERT_TRUE(world->Lock(a, "k", kX).ok());
    world->Start([world, b] {
      ++world->asked;
      EXPECT_EQ(world->Lock(b, "k", kX).code(), Code::kInterrupted);
      // And every later one, until it is cleared.
      EXPECT_EQ(world->Lock(b, "k", kX).code(), Code::kInterrupted);
      b->ClearInterrupt();
      EXPECT_TRUE(world->Lock(b, "k", kX).ok());
    });
    world->AwaitWaiters(1);
    b->Interrupt();
    world->clock_->SleepMicros(1000);
    world->locks.ReleaseAll(a);
    world->JoinAll();
  });
}

// Two transactions, each holding what the other wants next: exactly one is refused.
void ExpectOneDeadlock(World* world, const std::function<Status(LockOwner*)>& first_of_a,
                       const std::function<Status(LockOwner*)>& second_of_a,
                       const std::function<Status(LockOwner*)>& first_of_b,
                       const std::function<Status(LockOwner*)>& second_of_b) {
  LockOwner* a = world->NewOwner();
  LockOwner* b = world->NewOwner();
  ASSERT_TRUE(first_of_a(a).ok());
  ASSERT_TRUE(first_of_b(b).ok());
  int deadlocks = 0;
  auto second = [&deadlocks, world](LockOwner* owner,
                                    const std::function<Status(LockOwner*)>& step) {
    const Status status = step(owner);
    if (!status.ok()) {
      EXPECT_EQ(status.code(), Code::kDeadlock) << status.ToString();
      EXPECT_NE(status.message().find("transaction 1"), Slice::npos) << status.message();
      EXPECT_NE(status.message().find("transaction 2"), Slice::npos) << status.message();
      ++deadlocks;
    }
    world->locks.ReleaseAll(owner);
  };
  world->Start([&] { second(a, second_of_a); });
  world->Start([&] { second(b, second_of_b); });
  world->JoinAll();
  EXPECT_EQ(deadlocks, 1);
  EXPECT_FALSE(world->locks.LastDeadlock().empty());
  const std::vector<DeadlockInfo> kept = world->locks.GetDeadlocks();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].number, 1u);
  ASSERT_EQ(kept[0].cycle.size(), 2u);
  EXPECT_EQ(kept[0].cycle[0].blocking, kept[0].cycle[1].waiting);
  EXPECT_EQ(kept[0].cycle[1].blocking, kept[0].cycle[0].waiting);
  EXPECT_TRUE(world->locks.GetWaits().empty());
}

TEST(LockManagerTest, WaitsCanBeSeen) {
  ForSeeds(20, [](World* world, uint64_t) {
    LockOwner* a = world->NewOwner();
    LockOwner* b = world->NewOwner();
    LockOwner* c = world->NewOwner();
    a->tag = 11;
    ASSERT_TRUE(world->Lock(a, "k1", kX).ok());
    world->Start([&] {
      EXPECT_TRUE(world->Lock(b, "k1", kX).ok());
      world->locks.ReleaseAll(b);
    });
    world->Start([&] {
      EXPECT_TRUE(world->Lock(c, "k1", kX).ok());
      world->locks.ReleaseAll(c);
    });
    world->clock_->SleepMicros(1000);
    const std::vector<LockWaitInfo> waits = world->locks.GetWaits();
    // Whoever is not first in the queue is shown with the holder too.
    ASSERT_EQ(waits.size(), 2u);
    for (const LockWaitInfo& wait : waits) {
      EXPECT_EQ(wait.blocking, a->id);
      EXPECT_EQ(wait.blocking_tag, 11u);
      EXPECT_EQ(wait.key, "k1");
      EXPECT_EQ(wait.what, WaitFor::kRow);
    }
    world->locks.ReleaseAll(a);
    world->JoinAll();
    EXPECT_TRUE(world->locks.GetWaits().empty());
  });
}

TEST(LockManagerTest, DeadlockOfTwoRows) {
  ForSeeds(40, [](World* world, uint64_t) {
    auto k1 = [world](LockOwner* o) { return world->Lock(o, "k1", kX); };
    auto k2 = [world](LockOwner* o) { return world->Lock(o, "k2", kX); };
    ExpectOneDeadlock(world, k1, k2, k2, k1);
  });
}

TEST(LockManagerTest, DeadlockOfTwoUpgrades) {
  ForSeeds(40, [](World* world, uint64_t) {
    auto shared = [world](LockOwner* o) { return world->Lock(o, "k", kS); };
    auto exclusive = [world](LockOwner* o) { return world->Lock(o, "k", kX); };
    ExpectOneDeadlock(world, shared, exclusive, shared, exclusive);
  });
}

TEST(LockManagerTest, DeadlockOfARangeAndARow) {
  ForSeeds(40, [](World* world, uint64_t) {
    auto range = [world](LockOwner* o) { return world->Range(o, "a", "m"); };
    auto row_in_range = [world](LockOwner* o) { return world->Write(o, "c"); };
    auto row = [world](LockOwner* o) { return world->Lock(o, "x", kX); };
    ExpectOneDeadlock(world, range, row, row, row_in_range);
  });
}

TEST(LockManagerTest, DeadlockOfTwoThatWriteIntoOneRange) {
  ForSeeds(40, [](World* world, uint64_t) {
    auto range = [world](LockOwner* o) { return world->Range(o, "a", "m"); };
    auto b = [world](LockOwner* o) { return world->Write(o, "b"); };
    auto c = [world](LockOwner* o) { return world->Write(o, "c"); };
    ExpectOneDeadlock(world, range, b, range, c);
  });
}

TEST(LockManagerTest, DeadlockOfThree) {
  ForSeeds(40, [](World* world, uint64_t) {
    int deadlocks = 0;
    std::vector<LockOwner*> owners;
    for (int i = 0; i < 3; ++i) {
      owners.push_back(world->NewOwner());
      ASSERT_TRUE(world->Lock(owners.back(), std::to_string(i), kX).ok());
    }
    for (int i = 0; i < 3; ++i) {
      world->Start([&, i] {
        const Status status = world->Lock(owners[i], std::to_string((i + 1) % 3), kX);
        if (!status.ok()) ++deadlocks;
        world->locks.ReleaseAll(owners[i]);
      });
    }
    world->JoinAll();
    EXPECT_EQ(deadlocks, 1);
  });
}

// Keys that a test says are spilled.
class FakeKeys final : public SpilledKeys {
 public:
  explicit FakeKeys(std::set<std::string, std::less<>> keys) : keys_(std::move(keys)) {}
  Result<bool> Contains(FamilyId family, Slice key) const override {
    SchedulingPoint();
    return family == kFamily && keys_.find(key) != keys_.end();
  }
  Result<bool> Intersects(FamilyId family, Slice start, Slice end) const override {
    SchedulingPoint();
    auto it = keys_.lower_bound(start);
    return family == kFamily && it != keys_.end() && (end.empty() || *it < end);
  }

 private:
  const std::set<std::string, std::less<>> keys_;
};

TEST(LockManagerTest, DeadlockThroughASpill) {
  ForSeeds(40, [](World* world, uint64_t) {
    auto spill = [world](LockOwner* o) {
      TIDESDB_TRY(world->Lock(o, "k1", kX));
      world->locks.PublishSpill(
          o, std::make_shared<FakeKeys>(std::set<std::string, std::less<>>{"k1"}));
      world->locks.ReleaseRow(o, o->held);
      return Status::Ok();
    };
    auto k1 = [world](LockOwner* o) { return world->Lock(o, "k1", kX); };
    auto k2 = [world](LockOwner* o) { return world->Lock(o, "k2", kX); };
    ExpectOneDeadlock(world, spill, k2, k2, k1);
  });
}

TEST(LockManagerTest, ASpilledKeyIsLockedUntilTheEnd) {
  ForSeeds(30, [](World* world, uint64_t) {
    LockOwner* a = world->NewOwner();
    LockOwner* b = world->NewOwner();
    LockOwner* c = world->NewOwner();
    ASSERT_TRUE(world->Lock(a, "k", kX).ok());
    bool ended = false;
    // One waits for the row already when it becomes a spilled one.
    world->Start([&] {
      ++world->asked;
      ASSERT_TRUE(world->Lock(b, "k", kX).ok());
      EXPECT_TRUE(ended);
      world->locks.ReleaseAll(b);
    });
    world->AwaitWaiters(1);
    world->locks.PublishSpill(a,
                              std::make_shared<FakeKeys>(std::set<std::string, std::less<>>{"k"}));
    world->locks.ReleaseRow(a, a->held);
    EXPECT_EQ(world->Lock(c, "k", kS, 0).code(), Code::kTimedOut);
    EXPECT_EQ(world->Range(c, "a", "z", 0).code(), Code::kTimedOut);
    EXPECT_TRUE(world->Lock(a, "k", kX, 1'000'000).ok());  // Its own.
    world->Start([&] {
      ASSERT_TRUE(world->Range(c, "a", "z").ok());
      EXPECT_TRUE(ended);
      world->locks.ReleaseAll(c);
    });
    world->clock_->SleepMicros(5000);
    ended = true;
    world->locks.ReleaseAll(a);
    world->JoinAll();
  });
}

TEST(LockManagerTest, RangesKeepWritersOutAndWaitForThem) {
  ForSeeds(30, [](World* world, uint64_t) {
    LockOwner* a = world->NewOwner();
    LockOwner* b = world->NewOwner();
    ASSERT_TRUE(world->Write(b, "k").ok());
    ASSERT_TRUE(world->Lock(b, "l", kX).ok());
    // Only what is written is in the way.
    EXPECT_EQ(world->Range(a, "a", "z", 0).code(), Code::kTimedOut);
    EXPECT_EQ(world->locks.AwaitWriters(a, kFamily, "a", "z", 0).code(), Code::kTimedOut);
    EXPECT_TRUE(world->Range(a, "l", "z", 0).ok());
    bool released = false;
    world->Start([&] {
      ASSERT_TRUE(world->Range(a, "a", "z").ok());
      EXPECT_TRUE(released);
      EXPECT_EQ(a->held_count, 0u);
    });
    world->clock_->SleepMicros(1000);
    released = true;
    world->End(b);
    world->JoinAll();
    EXPECT_EQ(world->Write(b, "new", 0).code(), Code::kTimedOut);
    EXPECT_TRUE(world->Lock(b, "m", kX, 0).ok());  // A lock is no write.
    EXPECT_TRUE(world->Write(b, "z", 0).ok());
    EXPECT_TRUE(world->Range(b, "c", "d", 0).ok());  // Nor is a range.
    EXPECT_TRUE(world->locks.LockRange(b, kFamily + 256, "c", "d", RangeHold::kWrites, 0).ok());
    bool done = false;
    world->Start([&] {
      ASSERT_TRUE(world->Write(b, "newer").ok());
      EXPECT_TRUE(done);
    });
    world->clock_->SleepMicros(1000);
    done = true;
    world->End(a);
    world->JoinAll();
    world->End(b);
  });
}

TEST(LockManagerTest, ARangeMayLetDeletionsPass) {
  ForSeeds(1, [](World* world, uint64_t) {
    LockOwner* a = world->NewOwner();
    LockOwner* b = world->NewOwner();
    ASSERT_TRUE(world->Range(a, "a", "m").ok());
    ASSERT_TRUE(world->locks.LockRange(a, kFamily, "m", "z", RangeHold::kWrites, 0).ok());
    EXPECT_TRUE(world->locks.PassRanges(b, kFamily, "b", false, 0).ok());
    EXPECT_EQ(world->locks.PassRanges(b, kFamily, "n", false, 0).code(), Code::kTimedOut);
    EXPECT_EQ(world->locks.PassRanges(b, kFamily, "n", true, 0).code(), Code::kTimedOut);
  });
}

// One waits for the range before it holds the row, also when it held it shared; the other for the
// row before it holds the range. So neither meets the other again.
TEST(LockManagerTest, ARangeWithARowIsAsALockOfIt) {
  ForSeeds(30, [](World* world, uint64_t seed) {
    LockOwner* copier = world->NewOwner();
    LockOwner* writer = world->NewOwner();
    const bool upgrades = seed % 2 == 0;
    if (upgrades) {
      ASSERT_TRUE(world->Lock(writer, "k", kS).ok());
    }
    ASSERT_TRUE(world->locks.LockRangeWithRow(copier, kFamily, "a", "z", "k", kForEver).ok());
    bool ended = false;
    world->Start([&] {
      ASSERT_TRUE(world->Write(writer, "k").ok());
      EXPECT_TRUE(ended);
    });
    world->clock_->SleepMicros(1000);
    if (!upgrades) {
      ASSERT_TRUE(world->Write(copier, "k").ok());
    }
    ended = true;
    world->End(copier);
    world->JoinAll();
    bool written = false;
    world->Start([&] {
      ASSERT_TRUE(world->locks.LockRangeWithRow(copier, kFamily, "a", "z", "k", kForEver).ok());
      EXPECT_TRUE(written);
    });
    world->clock_->SleepMicros(1000);
    ASSERT_TRUE(world->Write(writer, "m").ok());
    written = true;
    world->End(writer);
    world->JoinAll();
    world->End(copier);
  });
}

// A scan takes its range piece by piece: a writer that comes between two pieces is not missed.
TEST(LockManagerTest, EachPieceOfAScanSeesTheWritersOfItsMoment) {
  ForSeeds(1, [](World* world, uint64_t) {
    LockOwner* scan = world->NewOwner();
    LockOwner* writer = world->NewOwner();
    ASSERT_TRUE(world->Range(scan, "a", "c", 0).ok());
    ASSERT_TRUE(world->Range(scan, "c", "e", 0).ok());
    ASSERT_TRUE(world->Write(writer, "g", 0).ok());
    ASSERT_TRUE(world->Range(scan, "e", "f", 0).ok());
    EXPECT_EQ(world->Range(scan, "f", "h", 0).code(), Code::kTimedOut);
    EXPECT_EQ(world->Range(scan, "f", "h", 0).code(), Code::kTimedOut);
    world->End(writer);
    EXPECT_TRUE(world->Range(scan, "f", "h", 0).ok());
    EXPECT_EQ(world->Write(writer, "e", 0).code(), Code::kTimedOut);
  });
}

TEST(LockManagerTest, AStatementGivesBackWhatOnlyItTook) {
  ForSeeds(1, [](World* world, uint64_t) {
    LockOwner* a = world->NewOwner();
    LockOwner* b = world->NewOwner();
    ASSERT_TRUE(world->Lock(a, "1", kX).ok());
    ASSERT_TRUE(world->Range(a, "a", "c").ok());
    const uint32_t statement = ++a->epoch;
    ASSERT_TRUE(world->Lock(a, "1", kX).ok());
    ASSERT_TRUE(world->Lock(a, "2", kX).ok());
    ASSERT_TRUE(world->Range(a, "b", "e").ok());
    world->locks.ReleaseSince(a, statement);
    EXPECT_EQ(world->Lock(b, "1", kX, 0).code(), Code::kTimedOut);
    EXPECT_TRUE(world->Lock(b, "2", kX, 0).ok());
    EXPECT_EQ(world->Write(b, "b", 0).code(), Code::kTimedOut);
    EXPECT_TRUE(world->Write(b, "d", 0).ok());
    world->End(b);
  });
}

TEST(LockManagerTest, AFailedRangeLeavesNothingBehind) {
  ForSeeds(20, [](World* world, uint64_t) {
    LockOwner* a = world->NewOwner();
    LockOwner* b = world->NewOwner();
    LockOwner* c = world->NewOwner();
    ASSERT_TRUE(world->Write(b, "k").ok());
    // Waits for the pending range, and goes on when it is withdrawn.
    world->Start([&] { EXPECT_EQ(world->Range(a, "a", "z", 10'000).code(), Code::kTimedOut); });
    world->clock_->SleepMicros(5000);
    world->Start([&] { EXPECT_TRUE(world->Write(c, "m").ok()); });
    world->JoinAll();
    EXPECT_EQ(world->locks.LocksHeld(), 2u);
    world->End(b);
    world->End(c);
  });
}

// What the locks that were granted allow, kept by the test itself.
class Shadow {
 public:
  void Add(int key, LockMode mode) {
    (mode == kX ? exclusive_ : shared_)[key] += 1;
    Check(key);
  }
  void Remove(int key, LockMode mode) { (mode == kX ? exclusive_ : shared_)[key] -= 1; }

  // Ranges of the test reach from a key to the end; writes are those that passed the ranges.
  void AddRange(const LockOwner* owner, int from) {
    for (const auto& [other, keys] : writes_) {
      ASSERT_TRUE(other == owner || keys.lower_bound(from) == keys.end());
    }
    auto [it, added] = ranges_.emplace(owner, from);
    if (!added) it->second = std::min(it->second, from);
  }
  void AddWrite(const LockOwner* owner, int key) {
    for (const auto& [other, from] : ranges_) ASSERT_TRUE(other == owner || from > key);
    writes_[owner].insert(key);
  }
  void End(const LockOwner* owner) {
    ranges_.erase(owner);
    writes_.erase(owner);
  }

 private:
  void Check(int key) {
    ASSERT_LE(exclusive_[key], 1);
    ASSERT_TRUE(exclusive_[key] == 0 || shared_[key] == 0);
  }
  std::map<int, int> shared_;
  std::map<int, int> exclusive_;
  std::map<const LockOwner*, int> ranges_;
  std::map<const LockOwner*, std::set<int>> writes_;
};

struct RandomOptions {
  bool ordered = false;  // Keys ascending and no upgrades: no deadlock can be.
  bool ranges = false;
  bool interrupts = false;
};

// One transaction after another on random keys. Waits for ever: a lost wakeup or a deadlock that is
// not found stops the simulation.
void RunRandomTransactions(World* world, Shadow* shadow, LockOwner* owner, uint64_t seed,
                           const RandomOptions& options) {
  constexpr int kKeys = 5;
  Random random(seed);
  for (int i = 0; i < 30; ++i) {
    std::map<int, LockMode> held;
    int key = -1;
    for (uint64_t locks = random.Between(1, 4); locks > 0; --locks) {
      if (options.ranges && random.OneIn(3)) {
        const int from = static_cast<int>(random.Uniform(kKeys));
        const bool write = random.OneIn(2);
        const std::string start = std::to_string(from);
        const Status status = write             ? world->WriteUnlocked(owner, start)
                              : random.OneIn(2) ? world->Range(owner, start, "")
                                                : world->locks.LockRangeWithRow(
                                                      owner, kFamily, start, "", start, kForEver);
        if (!status.ok()) {
          ASSERT_TRUE(status.code() == Code::kDeadlock) << status.ToString();
          break;
        }
        write ? shadow->AddWrite(owner, from) : shadow->AddRange(owner, from);
        continue;
      }
      key = options.ordered ? key + 1 + static_cast<int>(random.Uniform(2))
                            : static_cast<int>(random.Uniform(kKeys));
      if (key >= kKeys) break;
      const LockMode mode = random.OneIn(2) ? kX : kS;
      const Status status = world->Lock(owner, std::to_string(key), mode);
      if (!status.ok()) {
        const bool interrupted = options.interrupts && status.code() == Code::kInterrupted;
        ASSERT_TRUE(interrupted || status.code() == Code::kDeadlock) << status.ToString();
        ASSERT_TRUE(interrupted || !options.ordered) << status.ToString();
        owner->ClearInterrupt();
        break;
      }
      auto [it, added] = held.emplace(key, mode);
      if (!added && it->second == kS && mode == kX) {
        shadow->Remove(key, kS);
        it->second = kX;
        shadow->Add(key, kX);
      } else if (added) {
        shadow->Add(key, mode);
      }
      SchedulingPoint();
      if (testing::Test::HasFatalFailure()) return;
    }
    for (const auto& [k, mode] : held) shadow->Remove(k, mode);
    shadow->End(owner);
    world->End(owner);
  }
}

void RandomSchedules(int seeds, const RandomOptions& options) {
  ForSeeds(seeds, [&options](World* world, uint64_t seed) {
    Shadow shadow;
    std::vector<LockOwner*> owners;
    for (uint64_t i = 0; i < 5; ++i) {
      LockOwner* owner = world->NewOwner();
      owners.push_back(owner);
      world->Start([world, &shadow, owner, seed, i, &options] {
        RunRandomTransactions(world, &shadow, owner, seed * 31 + i, options);
      });
    }
    if (options.interrupts) {
      for (int i = 0; i < 30; ++i) {
        world->clock_->SleepMicros(20);
        owners[static_cast<size_t>(i) % owners.size()]->Interrupt();
      }
    }
    world->JoinAll();
    world->locks.TestingRows().TestingCheck();
  });
}

TEST(LockManagerTest, RandomSchedulesKeepLocksExclusive) { RandomSchedules(150, {}); }

TEST(LockManagerTest, OrderedLockingNeverDeadlocks) {
  RandomOptions options;
  options.ordered = true;
  RandomSchedules(100, options);
}

TEST(LockManagerTest, RandomSchedulesWithRanges) {
  RandomOptions options;
  options.ranges = true;
  RandomSchedules(100, options);
}

TEST(LockManagerTest, RandomSchedulesWithInterrupts) {
  RandomOptions options;
  options.interrupts = true;
  RandomSchedules(60, options);
}

}  // namespace
}  // namespace tidesdb

#endif  // TIDESDB_HOOKS
