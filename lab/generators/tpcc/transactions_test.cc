#include "lab/generators/tpcc/transactions.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace tidesdb::lab::tpcc {
namespace {

TEST(TransactionsTest, TheMixIsTenTenOneOneOne) {
  Random random(1);
  std::array<int, kTransactions> counts{};
  for (int i = 0; i < 230000; ++i) ++counts[static_cast<size_t>(ChooseTransaction(&random))];
  EXPECT_NEAR(counts[0], 100000, 1000);  // NEWORD
  EXPECT_NEAR(counts[1], 100000, 1000);  // PAYMENT
  for (size_t i = 2; i < kTransactions; ++i) EXPECT_NEAR(counts[i], 10000, 400);
}

TEST(TransactionsTest, AUserHasOneHome) {
  Random random(1);
  std::set<int> homes;
  for (int user = 0; user < 1000; ++user) {
    const std::vector<int> home = HomeWarehouses(&random, user, 1000, 10, false);
    ASSERT_EQ(home.size(), 1u);
    homes.insert(home[0]);
  }
  EXPECT_EQ(*homes.begin(), 1);
  EXPECT_EQ(*homes.rbegin(), 10);
  EXPECT_EQ(homes.size(), 10u);
}

TEST(TransactionsTest, AllWarehousesAreSharedOut) {
  Random random(1);
  EXPECT_EQ(HomeWarehouses(&random, 0, 4, 10, true), (std::vector<int>{1, 5, 9}));
  EXPECT_EQ(HomeWarehouses(&random, 3, 4, 10, true), (std::vector<int>{4, 8, 2}));  // Wraps around.
  EXPECT_EQ(HomeWarehouses(&random, 5, 8, 2, true), (std::vector<int>{2}));
  std::set<int> all;
  for (int user = 0; user < 3; ++user) {
    for (const int w_id : HomeWarehouses(&random, user, 3, 10, true)) all.insert(w_id);
  }
  EXPECT_EQ(all.size(), 10u);
}

}  // namespace
}  // namespace tidesdb::lab::tpcc
