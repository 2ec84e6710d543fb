// Waits, fairness and deadlocks, each under many schedules of the simulation.
#include "lock/lock_manager.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>

#include "lock/lock_test_util.h"

#ifdef TIDESDB_HOOKS

namespace tidesdb {
namespace {

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
    // Numbers 2 and 3 are shared, get the lock together, and may report in any order.
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
    // The holder itself is not blocked.
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
      // And so does every later one, until it is cleared.
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

// Two transactions, each with what the other wants next: exactly one is refused.
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
    // A waiter that is not first in the queue is also shown with the holder.
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

// Keys that a test declares as spilled.
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
    // One already waits for the row when it becomes a spilled one.
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
    // Only written keys are in the way.
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

// One waits for the range before it holds the row, even if it held it shared. The other waits for
// the row before it holds the range. So neither meets the other again.
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

TEST(LockManagerTest, ARangeWithARowWaitsOnceForBoth) {
  ForSeeds(10, [](World* world, uint64_t) {
    LockOwner* copier = world->NewOwner();
    LockOwner* locker = world->NewOwner();
    LockOwner* writer = world->NewOwner();
    ASSERT_TRUE(world->Lock(locker, "k", kX).ok());
    ASSERT_TRUE(world->Write(writer, "m").ok());
    const uint64_t begun_us = world->clock_->NowMicros();
    world->Start([&] {
      const Status locked = world->locks.LockRangeWithRow(copier, kFamily, "a", "z", "k", 10'000);
      EXPECT_EQ(locked.code(), Code::kTimedOut);
      EXPECT_LT(world->clock_->NowMicros(), begun_us + 15'000);
      EXPECT_EQ(copier->held_count, 0u);
    });
    world->clock_->SleepMicros(8000);
    world->End(locker);
    world->JoinAll();
    world->End(writer);
  });
}

// A scan takes its range in pieces: it sees a writer that comes between two pieces.
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

// As an UPDATE of all rows: its own writes change nothing about those of others.
TEST(LockManagerTest, AScanThatWritesLooksAtOthersOnce) {
  ForSeeds(1, [](World* world, uint64_t) {
    LockOwner* a = world->NewOwner();
    LockOwner* b = world->NewOwner();
    ASSERT_TRUE(world->WriteUnlocked(b, "z").ok());
    const auto update = [&](int key) {
      ASSERT_TRUE(world->Range(a, std::to_string(key), std::to_string(key + 1)).ok());
      ASSERT_TRUE(world->WriteUnlocked(a, std::to_string(key)).ok());
    };
    for (int key = 1; key < 5; ++key) update(key);
    EXPECT_EQ(world->staged[b].looks(), 1);
    ASSERT_TRUE(world->WriteUnlocked(b, "y").ok());
    for (int key = 5; key < 9; ++key) update(key);
    EXPECT_EQ(world->staged[b].looks(), 2);
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
    // Waits for the pending range, and continues when it is withdrawn.
    world->Start([&] { EXPECT_EQ(world->Range(a, "a", "z", 10'000).code(), Code::kTimedOut); });
    world->clock_->SleepMicros(5000);
    world->Start([&] { EXPECT_TRUE(world->Write(c, "m").ok()); });
    world->JoinAll();
    EXPECT_EQ(world->locks.LocksHeld(), 2u);
    world->End(b);
    world->End(c);
  });
}

}  // namespace
}  // namespace tidesdb

#endif  // TIDESDB_HOOKS
