#include "codec/entry_sum.h"

#include <initializer_list>
#include <utility>

#include <gtest/gtest.h>

namespace tidesdb::plugin {
namespace {

EntrySum SumOf(std::initializer_list<std::pair<const char*, const char*>> entries) {
  EntrySum sum;
  for (const auto& [key, value] : entries) sum.Add(key, value);
  return sum;
}

TEST(EntrySum, DoesNotDependOnTheOrder) {
  EXPECT_EQ(SumOf({{"a", "1"}, {"b", ""}, {"c", "3"}}), SumOf({{"c", "3"}, {"a", "1"}, {"b", ""}}));
  EXPECT_EQ(SumOf({}), SumOf({}));
}

TEST(EntrySum, TellsSetsApart) {
  const EntrySum sum = SumOf({{"a", "1"}, {"b", "2"}});
  EXPECT_FALSE(sum == SumOf({{"a", "1"}}));
  EXPECT_FALSE(sum == SumOf({{"a", "1"}, {"b", "2"}, {"", ""}}));
  EXPECT_FALSE(sum == SumOf({{"a", "1"}, {"c", "2"}}));
  EXPECT_FALSE(sum == SumOf({{"a", "1"}, {"b", "3"}}));
  EXPECT_FALSE(sum == SumOf({{"a", "2"}, {"b", "1"}}));  // Same keys and values, other pairs.
  EXPECT_FALSE(sum == SumOf({{"a1", ""}, {"b", "2"}}));  // The key ends at a different place.
  EXPECT_FALSE(SumOf({{"a", ""}, {"a", ""}}) == SumOf({{"b", ""}, {"b", ""}}));
  EXPECT_EQ(sum.entries(), 2U);
}

}  // namespace
}  // namespace tidesdb::plugin
