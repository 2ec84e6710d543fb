#include "db/scan_watch.h"

#include <gtest/gtest.h>

namespace tidesdb {
namespace {

constexpr uint64_t kRuns = ScanWatch::kMergeBytesMin / ScanWatch::kBytesARun;

TEST(ScanWatchTest, MergesOnceOldRunsHaveCostAsMuchAsTheMerge) {
  ScanWatch watch;
  EXPECT_FALSE(watch.Add({kRuns / 4 - 1, 0}, 0, 50));
  EXPECT_EQ(watch.since(), 0u);
  EXPECT_FALSE(watch.Add({1, 0}, 0, 100));  // They may all be newer than the first period.
  EXPECT_EQ(watch.since(), 100u);
  EXPECT_FALSE(watch.Add({kRuns / 4, kRuns / 4}, 0, 110));
  EXPECT_FALSE(watch.Add({kRuns / 2, kRuns / 2}, 0, 120));
  EXPECT_EQ(watch.since(), 100u);
  EXPECT_TRUE(watch.Add({kRuns / 4 + 1, kRuns / 4 + 1}, 0, 130));
  // Nothing counts until the merge has ended.
  EXPECT_FALSE(watch.Add({9 * kRuns, 9 * kRuns}, 0, 140));
  watch.EndMerge(150);
  EXPECT_EQ(watch.since(), 150u);
  EXPECT_FALSE(watch.Add({kRuns / 2, kRuns / 2}, 0, 160));
  watch.EndMerge(170);  // There is none: the period goes on.
  EXPECT_EQ(watch.since(), 150u);
  EXPECT_TRUE(watch.Add({kRuns, kRuns}, 0, 180));
}

TEST(ScanWatchTest, DoesNotMergeWhatIsWrittenAgainMeanwhile) {
  ScanWatch watch;
  for (SequenceNumber now = 1; now < 10; ++now) {
    EXPECT_FALSE(watch.Add({2 * kRuns, kRuns}, 0, now));
    EXPECT_EQ(watch.since(), now);
  }
}

TEST(ScanWatchTest, AQuarterOfNewRunsBeginsAnotherPeriod) {
  ScanWatch watch;
  const YoungRuns old = {kRuns / 4, kRuns / 4};
  for (SequenceNumber now = 1; now < 4; ++now) EXPECT_FALSE(watch.Add(old, 0, now));
  EXPECT_FALSE(watch.Add({kRuns / 4, kRuns / 8}, 0, 10));
  EXPECT_EQ(watch.since(), 10u);
  for (SequenceNumber now = 11; now < 14; ++now) EXPECT_FALSE(watch.Add(old, 0, now));
  EXPECT_TRUE(watch.Add(old, 0, 20));
}

TEST(ScanWatchTest, ALargeMergeNeedsMore) {
  ScanWatch watch;
  const uint64_t bytes = 3 * ScanWatch::kMergeBytesMin;
  EXPECT_FALSE(watch.Add({2 * kRuns, 2 * kRuns}, bytes, 1));
  EXPECT_TRUE(watch.Add({kRuns + 3, kRuns + 3}, bytes, 2));
}

}  // namespace
}  // namespace tidesdb
