#include "base/clock.h"

#include <gtest/gtest.h>

namespace tidesdb {
namespace {

TEST(ClockTest, RealTimePasses) {
  RealClock clock;
  const uint64_t before_us = clock.NowMicros();
  clock.SleepMicros(200);
  EXPECT_GE(clock.NowMicros(), before_us + 200);
  EXPECT_GT(clock.WallSeconds(), 1'600'000'000u);
}

TEST(ClockTest, FakeTimeIsMovedByHand) {
  FakeClock clock(100, 5000);
  EXPECT_EQ(clock.NowMicros(), 100u);
  clock.Advance(2'500'000);
  clock.SleepMicros(500'000);
  EXPECT_EQ(clock.NowMicros(), 3'000'100u);
  EXPECT_EQ(clock.WallSeconds(), 5003u);
}

}  // namespace
}  // namespace tidesdb
