#include "base/random.h"

#include <gtest/gtest.h>

#include <vector>

namespace tidesdb {
namespace {

TEST(RandomTest, TheSeedDecides) {
  Random a(1);
  Random b(1);
  Random c(2);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t x = a.Next();
    EXPECT_EQ(x, b.Next());
    differs |= x != c.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(RandomTest, UniformReachesAllAndNoMore) {
  Random random(0);
  std::vector<int> seen(7);
  for (int i = 0; i < 7000; ++i) ++seen.at(random.Uniform(7));
  for (const int times : seen) EXPECT_NEAR(times, 1000, 200);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t n = random.Between(5, 8);
    EXPECT_TRUE(n >= 5 && n <= 8);
    const double d = random.NextDouble();
    EXPECT_TRUE(d >= 0.0 && d < 1.0);
  }
}

TEST(RandomTest, SkewedPrefersSmallNumbers) {
  Random random(3);
  int small = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t n = random.Skewed(20);
    EXPECT_LT(n, uint64_t{1} << 20);
    small += n < 1024 ? 1 : 0;
  }
  EXPECT_GT(small, 400);
}

}  // namespace
}  // namespace tidesdb
