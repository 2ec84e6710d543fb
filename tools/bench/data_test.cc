#include "tools/bench/data.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tidesdb::bench {
namespace {

TEST(Data, ScatterGivesEachNumberOnce) {
  for (const uint64_t count : {1, 2, 3, 7, 64, 65, 1000}) {
    std::vector<bool> seen(count, false);
    for (uint64_t number = 0; number < count; ++number) {
      const uint64_t scattered = Scatter(number, count);
      ASSERT_LT(scattered, count);
      EXPECT_FALSE(seen[scattered]) << scattered << " of " << count;
      seen[scattered] = true;
    }
  }
}

TEST(Data, KeysAreInTheOrderOfTheirNumbers) {
  std::string before;
  for (uint64_t number = 0; number < 1000; ++number) {
    const Key here(number);
    const Key missing = Key::Missing(number);
    EXPECT_LT(before, here.bytes());
    EXPECT_LT(here.bytes(), missing.bytes());
    before = missing.bytes();
  }
}

TEST(Data, ValuesTellNumbersAndVersionsApart) {
  Values values(20);
  std::set<uint64_t> checks;
  for (uint64_t number = 0; number < 100; ++number) {
    for (uint64_t version = 0; version < 3; ++version) {
      EXPECT_EQ(values.Of(number, version).size(), 20u);
      checks.insert(CheckOf(values.Of(number, version)));
    }
  }
  EXPECT_EQ(checks.size(), 300u);
}

TEST(Data, AddOneAddsOneToTheCheck) {
  Values values(100);
  std::string value(values.Of(1, 0));
  AddOne(&value);
  EXPECT_EQ(CheckOf(value), CheckOf(values.Of(1, 0)) + 1);
}

TEST(Data, AShortValueHasAnotherCheck) {
  Values values(16);
  const std::string value(values.Of(1, 0));
  EXPECT_NE(CheckOf(value), CheckOf(value.substr(0, 15)));
  EXPECT_NE(CheckOf(""), CheckOf(value));
}

}  // namespace
}  // namespace tidesdb::bench
