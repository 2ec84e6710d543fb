// The rows and the statements that make tables and indexes.
#include "lab/generators/iibench/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "lab/generators/iibench/schema.h"

namespace tidesdb::lab::iibench {
namespace {

TEST(RowsTest, ABatchIsTheSameWheneverItIsMade) {
  RowMaker one({7, 10, 20}, 2, 0);
  RowMaker other({7, 10, 20}, 2, 0);
  const std::string first = one.Insert("pi1", 0, 5, 0);
  const std::string second = one.Insert("pi1", 1, 5, 0);
  EXPECT_NE(first, second);
  EXPECT_EQ(other.Insert("pi1", 1, 5, 0), second);
  EXPECT_NE(RowMaker({8, 10, 20}, 2, 0).Insert("pi1", 0, 5, 0), first);
  EXPECT_NE(RowMaker({7, 10, 20}, 3, 0).Insert("pi1", 0, 5, 0), first);
  EXPECT_NE(RowMaker({7, 10, 20}, 2, 1).Insert("pi1", 0, 5, 0), first);
}

TEST(RowsTest, RowsAreAsTheRulesSay) {
  const std::string sql = RowMaker({1, 10, 20}, 0, 0).Insert("pi3", 0, 400, 0);
  EXPECT_EQ(sql.rfind("INSERT INTO pi3 (dateandtime, cashregisterid, customerid, productid, price, "
                      "data) VALUES ('",
                      0),
            0u);
  const std::regex row(
      R"(\('(19[67]\d-\d\d-\d\d \d\d:\d\d:\d\d)',(\d+),(\d+),(\d+),(\d+),'(a+[A-Za-z0-9]*)'\))");
  size_t rows = 0, shortest = 99, longest = 0;
  for (std::sregex_iterator it(sql.begin(), sql.end(), row), end; it != end; ++it, ++rows) {
    EXPECT_LT(std::stoi((*it)[2]), kCashRegisters);
    EXPECT_LT(std::stoi((*it)[3]), kCustomers);
    EXPECT_LT(std::stoi((*it)[4]), kProducts);
    EXPECT_LT(std::stoi((*it)[5]), kPrices);
    shortest = std::min(shortest, (*it)[6].str().size());
    longest = std::max(longest, (*it)[6].str().size());
  }
  EXPECT_EQ(rows, 400u);
  EXPECT_EQ(shortest, 10u);
  EXPECT_EQ(longest, 20u);
}

TEST(SchemaTest, IndexesAreMadeTogetherButForRocksDb) {
  const std::vector<std::string> together = CreateIndexStatements("pi2", "InnoDB");
  ASSERT_EQ(together.size(), 1u);
  EXPECT_EQ(together[0],
            "ALTER TABLE pi2 ADD INDEX pi2_marketsegment (productid, customerid, price), "
            "ADD INDEX pi2_registersegment (cashregisterid, customerid, price), "
            "ADD INDEX pi2_pdc (price, dateandtime, customerid)");
  const std::vector<std::string> apart = CreateIndexStatements("pi2", "RocksDB");
  ASSERT_EQ(apart.size(), 3u);
  EXPECT_EQ(apart[2], "ALTER TABLE pi2 ADD INDEX pi2_pdc (price, dateandtime, customerid)");
}

}  // namespace
}  // namespace tidesdb::lab::iibench
