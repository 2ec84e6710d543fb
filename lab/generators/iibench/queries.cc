#include "lab/generators/iibench/queries.h"

#include <algorithm>
#include <tuple>

#include "lab/generators/iibench/schema.h"

namespace tidesdb::lab::iibench {
namespace {

// A row of an index in index order. All columns are numbers except the date, and dates compare as
// text.
using IndexRow = std::tuple<int64_t, std::string, int64_t, int64_t>;

IndexRow RowOf(const SecondaryIndex& index, const Row& row) {
  const bool dated = index.columns[1] == "dateandtime";
  return {ToInt(row[0]), dated ? row[1].value_or("") : "", dated ? 0 : ToInt(row[1]),
          ToInt(row[2])};
}

}  // namespace

RangeQuery DrawRangeQuery(Random* random, int64_t limit) {
  RangeQuery query;
  query.index = static_cast<size_t>(random->Uniform(0, static_cast<int64_t>(kIndexes.size()) - 1));
  query.from = random->Uniform(0, kIndexes[query.index].first_values - 1);
  query.limit = limit;
  return query;
}

std::string SqlOf(const RangeQuery& query, const std::string& table) {
  const SecondaryIndex& index = kIndexes[query.index];
  const std::string columns = ColumnList(index);
  return "SELECT " + columns + " FROM " + table + " FORCE INDEX (" + IndexName(table, index) +
         ") WHERE " + std::string(index.columns[0]) + " >= " + std::to_string(query.from) +
         " ORDER BY " + columns + " LIMIT " + std::to_string(query.limit);
}

PointQuery DrawPointQuery(Random* random, int64_t low, int64_t high, int64_t count) {
  PointQuery query;
  for (int64_t i = 0; i < count; ++i) query.ids.push_back(random->Uniform(low, high));
  return query;
}

std::string SqlOf(const PointQuery& query, const std::string& table) {
  std::string sql =
      "SELECT transactionid, productid, data FROM " + table + " WHERE transactionid IN (";
  for (const int64_t id : query.ids) sql += std::to_string(id) + ",";
  sql.back() = ')';
  return sql;
}

std::string FaultIn(const RangeQuery& query, const Rows& answer) {
  const SecondaryIndex& index = kIndexes[query.index];
  if (static_cast<int64_t>(answer.size()) > query.limit) return "more rows than the limit";
  IndexRow before{query.from, "", 0, 0};
  for (const Row& row : answer) {
    if (row.size() != index.columns.size()) return "rows of another number of columns";
    IndexRow now = RowOf(index, row);
    if (std::get<0>(now) < query.from) return "a row before the range";
    if (now < before) return "rows out of order";
    before = std::move(now);
  }
  return "";
}

std::string FaultIn(const PointQuery& query, const Rows& answer) {
  std::vector<int64_t> got;
  for (const Row& row : answer) {
    const int64_t id = row.empty() ? 0 : ToInt(row[0]);
    if (std::find(query.ids.begin(), query.ids.end(), id) == query.ids.end()) {
      return "a row that was not asked for: " + std::to_string(id);
    }
    if (std::find(got.begin(), got.end(), id) != got.end()) {
      return "a row twice: " + std::to_string(id);
    }
    got.push_back(id);
  }
  return "";
}

}  // namespace tidesdb::lab::iibench
