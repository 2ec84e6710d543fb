#include "codec/auto_increment.h"

#include <gtest/gtest.h>

namespace tidesdb::plugin {
namespace {

TEST(AutoIncrementTest, CountsInSteps) {
  EXPECT_EQ(NextAutoIncrement(1, 1, 1, 1, 100), 2u);
  EXPECT_EQ(NextAutoIncrement(1, 3, 1, 1, 100), 4u);
  EXPECT_EQ(NextAutoIncrement(3, 2, 10, 3, 1000), 23u);
  // An offset beyond the step is ignored.
  EXPECT_EQ(NextAutoIncrement(10, 1, 5, 7, 1000), 15u);
}

TEST(AutoIncrementTest, EndsAboveTheLargestValue) {
  EXPECT_EQ(NextAutoIncrement(255, 1, 1, 1, 255), 256u);
  EXPECT_EQ(NextAutoIncrement(256, 1, 1, 1, 255), UINT64_MAX);
  EXPECT_EQ(NextAutoIncrement(UINT64_MAX - 1, 5, 1, 1, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(NextAutoIncrement(1, UINT64_MAX, UINT64_MAX, 1, UINT64_MAX), UINT64_MAX);
}

TEST(AutoIncrementTest, RoundsUpToTheSeries) {
  EXPECT_EQ(RoundAutoIncrement(5, 1, 1, 100), 5u);
  EXPECT_EQ(RoundAutoIncrement(1, 10, 3, 1000), 3u);
  EXPECT_EQ(RoundAutoIncrement(3, 10, 3, 1000), 3u);
  EXPECT_EQ(RoundAutoIncrement(4, 10, 3, 1000), 13u);
  EXPECT_EQ(RoundAutoIncrement(14, 10, 3, 1000), 23u);
  EXPECT_EQ(RoundAutoIncrement(1, 10, 10, 1000), 10u);
  // An offset beyond the step does not raise the first value.
  EXPECT_EQ(RoundAutoIncrement(1, 2, 10, 1000), 2u);
  EXPECT_EQ(RoundAutoIncrement(1, 3, 20, 1000), 1u);
  EXPECT_EQ(RoundAutoIncrement(3, 3, 20, 1000), 4u);
  EXPECT_EQ(RoundAutoIncrement(21, 3, 20, 1000), 23u);
  // Not beyond the type: the value stays, and the server detects the end.
  EXPECT_EQ(RoundAutoIncrement(250, 100, 1, 255), 250u);
  EXPECT_EQ(RoundAutoIncrement(255, 10, 1, 255), 255u);
}

TEST(AutoIncrementTest, IsRecordedAheadWhereTheTypeHasRoom) {
  EXPECT_EQ(AutoIncrementAhead(1, INT32_MAX), 32u);
  EXPECT_EQ(AutoIncrementAhead(1, 127), 0u);
  EXPECT_EQ(AutoIncrementAhead(1, INT16_MAX), 31u);
  EXPECT_EQ(AutoIncrementAhead(INT16_MAX, INT16_MAX), 0u);
  EXPECT_EQ(AutoIncrementAhead(UINT64_MAX, UINT64_MAX), 0u);
  // The recorded value never goes back while the counter grows.
  for (uint64_t counter = 1; counter < INT16_MAX; counter++) {
    EXPECT_LE(counter + AutoIncrementAhead(counter, INT16_MAX),
              counter + 1 + AutoIncrementAhead(counter + 1, INT16_MAX));
  }
}

}  // namespace
}  // namespace tidesdb::plugin
