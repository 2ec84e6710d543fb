#include "lab/generators/tpcc/district_scan.h"

#include <algorithm>

#include "lab/generators/tpcc/rules.h"

namespace tidesdb::lab::tpcc {
namespace {

std::string Where(std::string_view w_column, std::string_view d_column, DistrictId id) {
  std::string where = " WHERE ";
  where += w_column;
  where += " = " + std::to_string(id.first) + " AND ";
  where += d_column;
  where += " = " + std::to_string(id.second);
  return where;
}

std::string OrderText(DistrictId id, int64_t o_id) {
  return DistrictText(id) + ", order " + std::to_string(o_id);
}

void JudgeOrder(DistrictId id, int64_t o_id, const OrderFacts& order,
                const DistrictChecks& checks) {
  if (!order.in_orders) {
    if (order.in_new_order) checks.carrier->Violation(OrderText(id, o_id) + ": in new_order only");
    if (order.lines != 0) checks.order_lines->Violation(OrderText(id, o_id) + ": order lines only");
    return;
  }
  if (order.carrier_null != order.in_new_order) {
    checks.carrier->Violation(OrderText(id, o_id) + (order.carrier_null
                                                         ? ": no carrier, not in new_order"
                                                         : ": has a carrier, still in new_order"));
  }
  if (order.lines != order.wanted_lines) {
    checks.order_lines->Violation(OrderText(id, o_id) + ": o_ol_cnt " +
                                  std::to_string(order.wanted_lines) + ", lines " +
                                  std::to_string(order.lines));
  }
  const int64_t wanted = order.carrier_null ? 0 : order.lines;
  if (order.delivered_lines != wanted) {
    checks.delivery->Violation(OrderText(id, o_id) +
                               (order.carrier_null ? ": no carrier, " : ": has a carrier, ") +
                               std::to_string(order.delivered_lines) + " of " +
                               std::to_string(order.lines) + " lines delivered");
  }
}

}  // namespace

DistrictId DistrictIn(const Row& row) {
  return {static_cast<int>(ToInt(row[0])), static_cast<int>(ToInt(row[1]))};
}

std::string DistrictText(DistrictId id) {
  return "w " + std::to_string(id.first) + ", d " + std::to_string(id.second);
}

int64_t DistrictFacts::DeliveredAmount() const {
  int64_t sum = 0;
  for (const auto& [o_id, order] : orders) {
    if (o_id >= kFirstNewOrder && !order.carrier_null) sum += order.amount;
  }
  return sum;
}

// Names the key, so that any engine's statistics lead to a walk of the primary key.
Outcome ScanDistrict(Client* client, DistrictId id, DistrictFacts* facts) {
  LAB_TRY(client->Stream(
      "SELECT o_id, o_carrier_id IS NULL, o_ol_cnt, o_c_id FROM orders FORCE INDEX (PRIMARY)" +
          Where("o_w_id", "o_d_id", id),
      [facts](const Row& row) {
        const int64_t o_id = ToInt(row[0]);
        OrderFacts& order = facts->orders[o_id];
        order.in_orders = true;
        order.carrier_null = ToInt(row[1]) != 0;
        order.wanted_lines = ToInt(row[2]);
        ++facts->order_count;
        facts->order_max = std::max(facts->order_max, o_id);
        facts->wanted_lines += order.wanted_lines;
        facts->id_sum += o_id;
        facts->customer_sum += ToInt(row[3]);
        facts->product_sum += o_id * ToInt(row[3]);
      }));
  LAB_TRY(client->Stream(
      "SELECT no_o_id FROM new_order FORCE INDEX (PRIMARY)" + Where("no_w_id", "no_d_id", id),
      [facts](const Row& row) {
        const int64_t o_id = ToInt(row[0]);
        facts->orders[o_id].in_new_order = true;
        facts->new_order_min =
            facts->new_order_count == 0 ? o_id : std::min(facts->new_order_min, o_id);
        facts->new_order_max = std::max(facts->new_order_max, o_id);
        ++facts->new_order_count;
      }));
  return client->Stream(
      "SELECT ol_o_id, COUNT(*), COUNT(ol_delivery_d), SUM(ol_amount)"
      " FROM order_line FORCE INDEX (PRIMARY)" +
          Where("ol_w_id", "ol_d_id", id) + " GROUP BY ol_w_id, ol_d_id, ol_o_id",
      [facts](const Row& row) {
        OrderFacts& order = facts->orders[ToInt(row[0])];
        order.lines += ToInt(row[1]);
        order.delivered_lines += ToInt(row[2]);
        order.amount += ToInt(row[3]);
        facts->line_count += ToInt(row[1]);
      });
}

void JudgeDistrict(DistrictId id, int64_t next_o_id, const DistrictFacts& facts,
                   const DistrictChecks& checks) {
  const std::string where = DistrictText(id);
  if (facts.order_max != next_o_id - 1) {
    checks.next_order->Violation(where + ": d_next_o_id " + std::to_string(next_o_id) +
                                 ", max(o_id) " + std::to_string(facts.order_max));
  }
  // A district without undelivered orders has no newest new order to compare.
  if (facts.new_order_count != 0 && facts.new_order_max != next_o_id - 1) {
    checks.next_order->Violation(where + ": d_next_o_id " + std::to_string(next_o_id) +
                                 ", max(no_o_id) " + std::to_string(facts.new_order_max));
  }
  const int64_t span =
      facts.new_order_count == 0 ? 0 : facts.new_order_max - facts.new_order_min + 1;
  if (span != facts.new_order_count) {
    checks.no_gaps->Violation(where + ": new orders " + std::to_string(facts.new_order_min) +
                              " to " + std::to_string(facts.new_order_max) + ", rows " +
                              std::to_string(facts.new_order_count));
  }
  if (facts.wanted_lines != facts.line_count) {
    checks.line_sum->Violation(where + ": sum(o_ol_cnt) " + std::to_string(facts.wanted_lines) +
                               ", order lines " + std::to_string(facts.line_count));
  }
  for (const auto& [o_id, order] : facts.orders) JudgeOrder(id, o_id, order, checks);
  const int64_t delivered = facts.order_count - facts.new_order_count;
  if (checks.after_load != nullptr && delivered != kFirstNewOrder - 1) {
    checks.after_load->Violation(where + ": orders " + std::to_string(facts.order_count) +
                                 ", new orders " + std::to_string(facts.new_order_count));
  }
}

}  // namespace tidesdb::lab::tpcc
