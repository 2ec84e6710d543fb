#include "lock/lock_table.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace tidesdb {
namespace {

constexpr FamilyId kFamily = 7;

class LockTableTest : public testing::Test {
 protected:
  Status TryLock(LockOwner* owner, Slice key, LockMode mode) {
    LockGrant grant;
    const Status status = table_.Lock(owner, kFamily, key, mode, &no_wait_, &grant);
    table_.TestingCheck();
    return status;
  }
  bool Locks(LockOwner* owner, Slice key, LockMode mode) {
    const Status status = TryLock(owner, key, mode);
    EXPECT_TRUE(status.ok() || status.code() == Code::kTimedOut);
    return status.ok();
  }
  void TearDown() override {
    for (LockOwner* owner : {&a_, &b_, &c_}) {
      table_.ReleaseAll(owner);
      EXPECT_EQ(owner->held_count, 0u);
    }
    table_.TestingCheck();
    EXPECT_EQ(table_.LocksHeld(), 0u);
  }

  FakeClock clock_;
  WaitLimit no_wait_{&clock_, 0};
  WaitGraph graph_{&clock_};
  LockTable table_{&graph_};
  LockOwner a_{1};
  LockOwner b_{2};
  LockOwner c_{3};
};

constexpr LockMode kS = LockMode::kShared;
constexpr LockMode kX = LockMode::kExclusive;

TEST_F(LockTableTest, SharedGoesWithSharedOnly) {
  EXPECT_TRUE(Locks(&a_, "k", kS));
  EXPECT_TRUE(Locks(&b_, "k", kS));
  EXPECT_FALSE(Locks(&c_, "k", kX));
  table_.ReleaseAll(&a_);
  EXPECT_FALSE(Locks(&c_, "k", kX));
  table_.ReleaseAll(&b_);
  EXPECT_TRUE(Locks(&c_, "k", kX));
  EXPECT_FALSE(Locks(&a_, "k", kS));
  EXPECT_FALSE(Locks(&a_, "k", kX));
}

TEST_F(LockTableTest, KeysAndFamiliesDoNotMeet) {
  EXPECT_TRUE(Locks(&a_, "k", kX));
  EXPECT_TRUE(Locks(&b_, "k2", kX));
  EXPECT_TRUE(Locks(&b_, "", kX));
  LockGrant grant;
  EXPECT_TRUE(table_.Lock(&b_, kFamily + 1, "k", kX, &no_wait_, &grant).ok());
}

TEST_F(LockTableTest, ReentrantAndUpgrade) {
  LockGrant grant;
  ASSERT_TRUE(table_.Lock(&a_, kFamily, "k", kS, &no_wait_, &grant).ok());
  EXPECT_EQ(grant.kind, LockGrant::Kind::kNew);
  ASSERT_TRUE(table_.Lock(&a_, kFamily, "k", kS, &no_wait_, &grant).ok());
  EXPECT_EQ(grant.kind, LockGrant::Kind::kHeldBefore);
  ASSERT_TRUE(table_.Lock(&a_, kFamily, "k", kX, &no_wait_, &grant).ok());
  EXPECT_EQ(grant.kind, LockGrant::Kind::kUpgraded);
  EXPECT_FALSE(Locks(&b_, "k", kS));
  ASSERT_TRUE(table_.Lock(&a_, kFamily, "k", kS, &no_wait_, &grant).ok());
  EXPECT_EQ(grant.kind, LockGrant::Kind::kHeldBefore);
  EXPECT_EQ(grant.lock->count, 4u);
  EXPECT_EQ(a_.held_count, 1u);
}

// The last two are found without the table, earlier ones in it: the result must be the same.
TEST_F(LockTableTest, AHeldKeyIsFoundHoweverLongAgoItWasLocked) {
  LockGrant first;
  ASSERT_TRUE(table_.Lock(&a_, kFamily, "k", kX, &no_wait_, &first).ok());
  for (uint32_t others = 0; others < 4; ++others) {
    LockGrant again;
    ASSERT_TRUE(table_.Lock(&a_, kFamily, "k", others % 2 == 0 ? kX : kS, &no_wait_, &again).ok());
    EXPECT_EQ(again.kind, LockGrant::Kind::kHeldBefore);
    EXPECT_EQ(again.lock, first.lock);
    EXPECT_EQ(first.lock->count, others + 2);
    EXPECT_EQ(table_.Find(&a_, kFamily, "k"), first.lock);
    EXPECT_EQ(table_.Find(&b_, kFamily, "k"), nullptr);
    EXPECT_EQ(table_.Find(&a_, kFamily + 1, "k"), nullptr);
    EXPECT_TRUE(Locks(&a_, "other" + std::to_string(others), kX));
  }
}

TEST_F(LockTableTest, UndoTakesBackExactlyWhatWasGranted) {
  LockGrant shared;
  ASSERT_TRUE(table_.Lock(&a_, kFamily, "k", kS, &no_wait_, &shared).ok());
  LockGrant upgraded;
  ASSERT_TRUE(table_.Lock(&a_, kFamily, "k", kX, &no_wait_, &upgraded).ok());
  table_.Undo(&a_, upgraded);
  EXPECT_TRUE(Locks(&b_, "k", kS));
  EXPECT_FALSE(Locks(&b_, "k", kX));
  table_.Undo(&a_, shared);
  EXPECT_EQ(a_.held_count, 0u);
  EXPECT_TRUE(Locks(&b_, "k", kX));
}

TEST_F(LockTableTest, ManyLocksGrowAndShrinkTheTable) {
  const uint64_t bytes_before = table_.MemoryBytes();
  for (int i = 0; i < 50000; ++i) {
    LockGrant grant;
    ASSERT_TRUE(table_.Lock(&a_, kFamily, "key" + std::to_string(i), kX, &no_wait_, &grant).ok());
  }
  EXPECT_EQ(table_.LocksHeld(), 50000u);
  EXPECT_LT(table_.MemoryBytes(), 50000u * 200);
  EXPECT_FALSE(Locks(&b_, "key777", kX));
  table_.ReleaseAll(&a_);
  table_.TestingCheck();
  EXPECT_LT(table_.MemoryBytes() - bytes_before, 64u << 10);
}

TEST_F(LockTableTest, TheFirstHolderMayLeaveFirst) {
  EXPECT_TRUE(Locks(&a_, "k", kS));
  EXPECT_TRUE(Locks(&b_, "k", kS));
  EXPECT_TRUE(Locks(&c_, "k", kS));
  table_.ReleaseAll(&a_);
  EXPECT_TRUE(Locks(&a_, "k", kS));
  table_.ReleaseAll(&b_);
  table_.ReleaseAll(&a_);
  EXPECT_FALSE(Locks(&a_, "k", kX));
  EXPECT_TRUE(Locks(&c_, "k", kX));
}

TEST_F(LockTableTest, MessagesNameKeyAndHolder) {
  EXPECT_TRUE(Locks(&a_, Slice("k\0\x7f", 3), kX));
  const Status status = TryLock(&b_, Slice("k\0\x7f", 3), kX);
  EXPECT_EQ(status.message(), "key \"k\\x00\\x7f\" of family 7 is held by transaction 1");
}

}  // namespace
}  // namespace tidesdb
