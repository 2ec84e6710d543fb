#include "lab/generators/tpcc/rules.h"

#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <vector>

namespace tidesdb::lab::tpcc {
namespace {

TEST(RulesTest, LastNamesAreThoseOfTheSpecification) {
  EXPECT_EQ(LastName(0), "BARBARBAR");
  EXPECT_EQ(LastName(371), "PRICALLYOUGHT");  // The specification's own example.
  EXPECT_EQ(LastName(999), "EINGEINGEING");
  EXPECT_EQ(LastName(5), "BARBARESE");
}

TEST(RulesTest, NuRandStaysInItsRange) {
  Random random(1);
  for (int i = 0; i < 100000; ++i) {
    const int64_t value = NuRand(&random, 255, 0, 999, kLastNameC);
    ASSERT_GE(value, 0);
    ASSERT_LE(value, 999);
  }
  for (int i = 0; i < 1000; ++i) {
    const int64_t value = NuRand(&random, 1023, 1, 3000, 259);
    ASSERT_GE(value, 1);
    ASSERT_LE(value, 3000);
  }
}

TEST(RulesTest, NuRandPrefersNumbersWithManyBits) {
  // x | y usually has most of A's bits set: with C = 0, 255 is by far the most frequent value of
  // 0..255, (3/4)^8 = 10 % of all.
  Random random(2);
  std::map<int64_t, int> counts;
  for (int i = 0; i < 100000; ++i) ++counts[NuRand(&random, 255, 0, 255, 0)];
  EXPECT_NEAR(counts[255], 10011, 500);
  EXPECT_LT(counts[0], 50);
  // C rotates the range.
  std::map<int64_t, int> turned;
  for (int i = 0; i < 100000; ++i) ++turned[NuRand(&random, 255, 0, 255, 1)];
  EXPECT_NEAR(turned[0], 10011, 500);
}

TEST(RulesTest, StringsHaveTheirLengthsAndCharacters) {
  Random random(3);
  size_t shortest = 100;
  size_t longest = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = AlphaString(&random, 8, 16);
    shortest = std::min(shortest, text.size());
    longest = std::max(longest, text.size());
    for (const char c : text) ASSERT_TRUE(std::isalnum(static_cast<unsigned char>(c)));
  }
  EXPECT_EQ(shortest, 8u);
  EXPECT_EQ(longest, 16u);
  const std::string digits = NumberString(&random, 16);
  EXPECT_EQ(digits.size(), 16u);
  EXPECT_EQ(digits.find_first_not_of("0123456789"), std::string::npos);
  const std::string zip = Zip(&random);
  EXPECT_EQ(zip.size(), 9u);
  EXPECT_EQ(zip.substr(4), "11111");
}

TEST(RulesTest, OriginalIsInTheDataWhereItIsAskedFor) {
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    const std::string plain = ItemData(&random, false);
    EXPECT_EQ(plain.find("ORIGINAL"), std::string::npos);
    const std::string original = ItemData(&random, true);
    EXPECT_NE(original.find("ORIGINAL"), std::string::npos);
    EXPECT_GE(original.size(), 26u);
    EXPECT_LE(original.size(), 50u);
  }
}

TEST(RulesTest, ASamplerTakesExactlyItsShare) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    Sampler sampler(100, 1000);
    int taken = 0;
    for (int i = 0; i < 1000; ++i) taken += sampler.Take(&random) ? 1 : 0;
    EXPECT_EQ(taken, 100) << "seed " << seed;
  }
}

TEST(RulesTest, ASamplerTakesEveryPlaceAlike) {
  std::vector<int> taken(10, 0);
  for (uint64_t seed = 1; seed <= 10000; ++seed) {
    Random random(seed);
    Sampler sampler(1, 10);
    for (size_t i = 0; i < 10; ++i) taken[i] += sampler.Take(&random) ? 1 : 0;
  }
  for (const int count : taken) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace tidesdb::lab::tpcc
