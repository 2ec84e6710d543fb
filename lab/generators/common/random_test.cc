#include "lab/generators/common/random.h"

#include <gtest/gtest.h>

#include <array>

namespace tidesdb::lab {
namespace {

TEST(RandomTest, OneSeedOneSequence) {
  Random a(42);
  Random b(42);
  Random c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = a.Next();
    EXPECT_EQ(value, b.Next());
    differs |= value != c.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(RandomTest, EveryPartOfADerivedSeedCounts) {
  const uint64_t base = Random::Derived(1, {2, 3, 4}).Next();
  EXPECT_EQ(base, Random::Derived(1, {2, 3, 4}).Next());
  EXPECT_NE(base, Random::Derived(2, {2, 3, 4}).Next());
  EXPECT_NE(base, Random::Derived(1, {3, 2, 4}).Next());
  EXPECT_NE(base, Random::Derived(1, {2, 3, 5}).Next());
  EXPECT_NE(base, Random::Derived(1, {2, 3}).Next());
}

TEST(RandomTest, UniformReachesBothEndsAlike) {
  Random random(7);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100000; ++i) ++counts[static_cast<size_t>(random.Uniform(1, 10) - 1)];
  // A fixed seed makes this deterministic. 10,000 expected, one standard deviation is 95.
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
}

TEST(RandomTest, UniformOfOneValueIsThatValue) {
  Random random(7);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random.Uniform(5, 5), 5);
}

}  // namespace
}  // namespace tidesdb::lab
