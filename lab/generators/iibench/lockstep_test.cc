#include "lab/generators/iibench/lockstep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace tidesdb::lab::iibench {
namespace {

bool Never() { return false; }
bool Now() { return true; }

TEST(LockstepTest, TheDeleterTakesWhatIsOwedAndNoMore) {
  Lockstep lockstep(100);
  lockstep.Inserted(70);
  EXPECT_EQ(lockstep.WaitForOwed(50, Never), 50);
  lockstep.Deleted(50);
  EXPECT_EQ(lockstep.WaitForOwed(50, Never), 20);
  lockstep.Deleted(20);
  lockstep.InserterLeaves();
  EXPECT_EQ(lockstep.WaitForOwed(50, Never), 0);
}

TEST(LockstepTest, ADeleterFinishesWhatAnInserterThatLeftOwes) {
  Lockstep lockstep(100);
  lockstep.Inserted(10);
  lockstep.InserterLeaves();
  EXPECT_EQ(lockstep.WaitForOwed(50, Never), 10);
}

TEST(LockstepTest, ADeleterThatLeftSendsTheInserterAway) {
  Lockstep lockstep(10);
  EXPECT_TRUE(lockstep.WaitForRoom(Never));
  lockstep.Inserted(10);
  lockstep.DeleterLeaves();
  EXPECT_FALSE(lockstep.WaitForRoom(Never));
}

TEST(LockstepTest, BothLeaveWhenTheStepIsOver) {
  Lockstep lockstep(10);
  EXPECT_FALSE(lockstep.WaitForRoom(Now));
  lockstep.Inserted(10);
  EXPECT_EQ(lockstep.WaitForOwed(5, Now), 0);
}

TEST(LockstepTest, NeitherRunsAway) {
  constexpr int kRows = 20000;
  Lockstep lockstep(40);
  std::atomic<int> inserted{0};
  std::atomic<int> deleted{0};
  std::atomic<int> ahead_max{0};
  std::thread deleter([&] {
    while (const int64_t owed = lockstep.WaitForOwed(7, Never)) {
      deleted += static_cast<int>(owed);
      ASSERT_LE(deleted, inserted);
      lockstep.Deleted(owed);
    }
  });
  while (inserted < kRows) {
    ASSERT_TRUE(lockstep.WaitForRoom(Never));
    inserted += 10;
    ahead_max = std::max<int>(ahead_max, inserted - deleted);
    lockstep.Inserted(10);
  }
  lockstep.InserterLeaves();
  deleter.join();
  EXPECT_EQ(deleted, kRows);
  EXPECT_LE(ahead_max, 40 + 10);
}

}  // namespace
}  // namespace tidesdb::lab::iibench
