#include "db/scan_watch.h"

#include <gtest/gtest.h>

namespace tidesdb {
namespace {

constexpr uint64_t kRuns = ScanWatch::kMergeBytesMin / ScanWatch::kBytesARun;

TEST(ScanWatchTest, MergesOnceOldRunsHaveCostAsMuchAsTheMerge) {
  ScanWatch watch;
  EXPECT_FALSE(watch.Add({kRuns, 0}, 0, 50));
  EXPECT_FALSE(watch.Add({kRuns, 0}, 0, 100));  // They may all be newer than the first period.
  EXPECT_EQ(watch.since(), 100u);
  EXPECT_FALSE(watch.Add({kRuns / 2, kRuns / 2}, 0, 110));
  EXPECT_EQ(watch.since(), 100u);
  EXPECT_TRUE(watch.Add({kRuns / 2 + 1, kRuns / 2 + 1}, 0, 120));
  // Nothing counts until the merge has ended.
  EXPECT_FALSE(watch.Add({9 * kRuns, 9 * kRuns}, 0, 130));
  watch.EndMerge(140);
  EXPECT_EQ(watch.since(), 140u);
  EXPECT_FALSE(watch.Add({kRuns / 2, kRuns / 2}, 0, 150));
  watch.EndMerge(160);  // There is none: the period goes on.
  EXPECT_EQ(watch.since(), 140u);
  EXPECT_TRUE(watch.Add({kRuns, kRuns}, 0, 170));
}

TEST(ScanWatchTest, DoesNotMergeWhatIsWrittenAgainMeanwhile) {
  ScanWatch watch;
  for (SequenceNumber now = 1; now < 10; ++now) {
    EXPECT_FALSE(watch.Add({2 * kRuns, kRuns}, 0, now));
    EXPECT_EQ(watch.since(), now);
  }
}

TEST(ScanWatchTest, ALargeMergeNeedsMore) {
  ScanWatch watch;
  const uint64_t bytes = 3 * ScanWatch::kMergeBytesMin;
  EXPECT_FALSE(watch.Add({2 * kRuns, 2 * kRuns}, bytes, 1));
  EXPECT_TRUE(watch.Add({kRuns + 3, kRuns + 3}, bytes, 2));
}

}  // namespace
}  // namespace tidesdb
