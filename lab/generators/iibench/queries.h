// The queries of the qr and qp steps, and the checks of their answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/generators/common/client.h"
#include "lab/generators/common/random.h"

namespace tidesdb::lab::iibench {

// The first rows of one secondary index from a random value on, in its order; the index covers it.
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

// Ids from `low` to `high`; some may be deleted. REQUIRES: low <= high.
PointQuery DrawPointQuery(Random* random, int64_t low, int64_t high, int64_t count);
std::string SqlOf(const PointQuery& query, const std::string& table);

// The fault of the answer, or empty. The rows change all the time, so it checks what holds at any
// moment: order and bounds, no row that was not requested, no duplicates.
std::string FaultIn(const RangeQuery& query, const Rows& answer);
std::string FaultIn(const PointQuery& query, const Rows& answer);

}  // namespace tidesdb::lab::iibench
