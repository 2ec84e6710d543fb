// Reads one district's orders, new orders and order lines and compares them on the client.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lab/generators/common/client.h"
#include "lab/generators/common/outcome.h"
#include "lab/generators/tpcc/consistency.h"

namespace tidesdb::lab::tpcc {

// The tables' facts about one order.
struct OrderFacts {
  bool in_orders = false;
  bool carrier_null = true;
  bool in_new_order = false;
  int64_t wanted_lines = 0;
  int64_t lines = 0;
  int64_t delivered_lines = 0;
  int64_t amount = 0;
};

struct DistrictFacts {
  std::unordered_map<int64_t, OrderFacts> orders;
  int64_t order_count = 0;
  int64_t order_max = 0;
  int64_t wanted_lines = 0;
  int64_t new_order_count = 0;
  int64_t new_order_min = 0;
  int64_t new_order_max = 0;
  int64_t line_count = 0;
  // Sums for the comparison with the secondary index: of o_id, o_c_id and o_id * o_c_id.
  int64_t id_sum = 0;
  int64_t customer_sum = 0;
  int64_t product_sum = 0;

  // Amounts of delivered orders, without those of the load, which do not count in balances.
  int64_t DeliveredAmount() const;
};

Outcome ScanDistrict(Client* client, DistrictId id, DistrictFacts* facts);

// The conditions that one district's facts decide.
struct DistrictChecks {
  CheckResult* next_order;   // 2
  CheckResult* no_gaps;      // 3
  CheckResult* line_sum;     // 4
  CheckResult* carrier;      // 5
  CheckResult* order_lines;  // 6
  CheckResult* delivery;     // 7
  CheckResult* after_load;   // 11; null if it is not checked.
};
void JudgeDistrict(DistrictId id, int64_t next_o_id, const DistrictFacts& facts,
                   const DistrictChecks& checks);

// The district named by the first two columns of a row.
DistrictId DistrictIn(const Row& row);
// "w 3, d 7".
std::string DistrictText(DistrictId id);

}  // namespace tidesdb::lab::tpcc
