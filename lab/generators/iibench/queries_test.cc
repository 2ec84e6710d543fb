#include "lab/generators/iibench/queries.h"

#include <gtest/gtest.h>

#include <set>

#include "lab/generators/iibench/schema.h"

namespace tidesdb::lab::iibench {
namespace {

const RangeQuery kByProduct = {0, 5, 3};
const RangeQuery kByDate = {2, 5, 3};

TEST(QueriesTest, ARangeQueryIsCoveredByItsIndex) {
  EXPECT_EQ(SqlOf(kByDate, "pi1"),
            "SELECT price, dateandtime, customerid FROM pi1 FORCE INDEX (pi1_pdc)"
            " WHERE price >= 5 ORDER BY price, dateandtime, customerid LIMIT 3");
}

TEST(QueriesTest, EveryIndexIsAsked) {
  Random random(1);
  std::set<size_t> indexes;
  for (int i = 0; i < 100; ++i) {
    const RangeQuery query = DrawRangeQuery(&random, 10);
    EXPECT_LT(query.from, kIndexes[query.index].first_values);
    indexes.insert(query.index);
  }
  EXPECT_EQ(indexes.size(), 3u);
}

TEST(QueriesTest, APointQueryAsksForIdsInItsRange) {
  Random random(1);
  const PointQuery query = DrawPointQuery(&random, 100, 102, 50);
  EXPECT_EQ(query.ids.size(), 50u);
  EXPECT_EQ(std::set<int64_t>(query.ids.begin(), query.ids.end()),
            (std::set<int64_t>{100, 101, 102}));
  EXPECT_EQ(SqlOf(PointQuery{{7, 9}}, "pi1"),
            "SELECT transactionid, productid, data FROM pi1 WHERE transactionid IN (7,9)");
}

TEST(QueriesTest, ARightRangeHasNoFault) {
  EXPECT_EQ(FaultIn(kByProduct, {}), "");
  EXPECT_EQ(FaultIn(kByProduct, {{"5", "10", "1"}, {"5", "10", "2"}, {"9", "2", "1"}}), "");
  EXPECT_EQ(FaultIn(kByProduct, {{"5", "1", "1"}, {"5", "1", "1"}}), "");  // Equal rows are two.
  EXPECT_EQ(
      FaultIn(kByDate, {{"5", "2026-01-01 00:00:00", "9"}, {"5", "2026-01-02 00:00:00", "1"}}), "");
}

TEST(QueriesTest, AWrongRangeIsFound) {
  EXPECT_EQ(FaultIn(kByProduct, {{"4", "1", "1"}}), "a row before the range");
  EXPECT_EQ(FaultIn(kByProduct, {{"9", "2", "1"}, {"5", "10", "1"}}), "rows out of order");
  // As numbers, not as texts.
  EXPECT_EQ(FaultIn(kByProduct, {{"5", "10", "1"}, {"5", "9", "1"}}), "rows out of order");
  EXPECT_EQ(
      FaultIn(kByDate, {{"5", "2026-01-02 00:00:00", "1"}, {"5", "2026-01-01 00:00:00", "9"}}),
      "rows out of order");
  const Row row = {"5", "1", "1"};
  EXPECT_EQ(FaultIn(kByProduct, {row, row, row, row}), "more rows than the limit");
}

TEST(QueriesTest, WrongPointsAreFound) {
  const PointQuery query = {{7, 9, 9}};
  EXPECT_EQ(FaultIn(query, {{"9", "1", "a"}}), "");
  EXPECT_EQ(FaultIn(query, {{"9", "1", "a"}, {"7", "1", "a"}}), "");
  EXPECT_EQ(FaultIn(query, {{"8", "1", "a"}}), "a row that was not asked for: 8");
  EXPECT_EQ(FaultIn(query, {{"9", "1", "a"}, {"9", "1", "a"}}), "a row twice: 9");
}

}  // namespace
}  // namespace tidesdb::lab::iibench
