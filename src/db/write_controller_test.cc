#include "db/write_controller.h"

#include <gtest/gtest.h>

namespace tidesdb {
namespace {

WritePressure Memtables(uint64_t percent) {
  WritePressure pressure;
  pressure.memtable_bytes = percent;
  pressure.memtable_bytes_max = 100;
  return pressure;
}

// The total wait for writing `groups` groups of 1 MiB back to back at one pressure.
uint64_t TotalDelay(WriteController* controller, const WritePressure& pressure, int groups) {
  uint64_t now = 1'000'000;
  uint64_t total = 0;
  for (int i = 0; i < groups; ++i) {
    const uint64_t delay = controller->DelayUs(pressure, 1 << 20, now);
    now += delay;
    total += delay;
  }
  return total;
}

TEST(WriteControllerTest, NobodyWaitsBelowHalfPressure) {
  WriteController controller;
  EXPECT_EQ(TotalDelay(&controller, Memtables(49), 100), 0u);
}

TEST(WriteControllerTest, DelayGrowsWithPressureWithoutAJump) {
  uint64_t last = 0;
  for (uint64_t percent = 50; percent <= 100; percent += 5) {
    WriteController controller;
    const uint64_t delay = TotalDelay(&controller, Memtables(percent), 10);
    EXPECT_GE(delay, last) << percent;
    last = delay;
  }
  EXPECT_GT(last, 0u);
}

TEST(WriteControllerTest, NoGroupWaitsLongerThanTheMaximumEvenWhenAllIsFull) {
  WriteController controller;
  EXPECT_EQ(controller.DelayUs(Memtables(500), uint64_t{1} << 40, 7), WriteController::kDelayUsMax);
}

TEST(WriteControllerTest, TheRateFollowsWhatFlushesManage) {
  WriteController slow;
  WriteController fast;
  for (int i = 0; i < 50; ++i) {
    slow.RecordDrain(8 << 20, 1'000'000);
    fast.RecordDrain(800 << 20, 1'000'000);
  }
  EXPECT_GT(TotalDelay(&slow, Memtables(70), 10), 10 * TotalDelay(&fast, Memtables(70), 10));
}

TEST(WriteControllerTest, AFullFlushQueueSlowsWritersDownToTheLeastRate) {
  uint64_t delays[3] = {};
  for (const uint64_t waiting : {0, 1, 2}) {
    WriteController controller;
    WritePressure pressure;
    pressure.flush_queue = waiting;
    pressure.flush_queue_max = 2;
    delays[waiting] = TotalDelay(&controller, pressure, 10);
    EXPECT_EQ(controller.stats(DelayCause::kFlushQueue).delay_us, delays[waiting]);
  }
  EXPECT_EQ(delays[0], 0u);
  EXPECT_GT(delays[1], 0u);
  EXPECT_EQ(delays[2], 10 * WriteController::kDelayUsMax);
}

TEST(WriteControllerTest, DelaysAreCountedUnderTheirCause) {
  WriteController controller;
  WritePressure pressure;
  pressure.level0 = 11;
  const uint64_t delay = TotalDelay(&controller, pressure, 3);
  EXPECT_EQ(controller.stats(DelayCause::kLevel0).delay_us, delay);
  EXPECT_GT(delay, 0u);
  EXPECT_EQ(controller.stats(DelayCause::kMemtables).delays, 0u);
}

TEST(WriteController, TheLongestWaitIsKept) {
  WriteController controller;
  for (const uint64_t us : {5, 90, 7}) controller.RecordFullMemory(us);
  const auto full = controller.stats(DelayCause::kMemory);
  EXPECT_EQ(full.delays, 3u);
  EXPECT_EQ(full.delay_us, 102u);
  EXPECT_EQ(full.longest_us, 90u);
}

}  // namespace
}  // namespace tidesdb
