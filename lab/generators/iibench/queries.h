// The queries of the qr and qp steps, and whether an answer can be right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/generators/common/client.h"
#include "lab/generators/common/random.h"

namespace tidesdb::lab::iibench {

// The first rows from a random value of one secondary index on, in its order; the index covers it.
struct RangeQuery {
  size_t index = 0;  // Of kIndexes.
  int64_t from = 0;
  int64_t limit = 0;
};

RangeQuery DrawRangeQuery(Random* random, int64_t limit);
std::string SqlOf(const RangeQuery& query, const std::string& table);

// Some rows by their primary keys.
struct PointQuery {
  std::vector<int64_t> ids;
};

// Ids from `low` to `high`; some may have been deleted. REQUIRES: low <= high.
PointQuery DrawPointQuery(Random* random, int64_t low, int64_t high, int64_t count);
std::string SqlOf(const PointQuery& query, const std::string& table);

// What is wrong with the answer, empty for nothing. The rows change all the time, so this is what
// must hold at any moment: order and bounds, no row that was not asked for, none twice.
std::string FaultIn(const RangeQuery& query, const Rows& answer);
std::string FaultIn(const PointQuery& query, const Rows& answer);

}  // namespace tidesdb::lab::iibench
