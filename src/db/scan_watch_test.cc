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
  EXPECT_EQ(watch.since(), 120u);
  EXPECT_FALSE(watch.Add({kRuns / 2, kRuns / 2}, 0, 130));
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
