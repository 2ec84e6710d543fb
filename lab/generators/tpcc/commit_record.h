// One line of the client's own commit log: what a transaction did whose COMMIT was acknowledged.
//
// Format: text, a record a line, blanks between the fields, the first field its kind.
//   H tproc-c-commit-log 1 <users>             the head: format version, number of users
//   B <w> <d> <next_o_id> <new_orders> <payments> <paid>
//                                              a district before the run: counts, paid in cents
//   N <user> <w> <d> <o_id> <c_id> <lines>     a new order
//   P <user> <w> <d> <c_w> <c_d> <c_id> <amount> <YYYY-MM-DDThh:mm:ss>
//                                              a payment, amount in whole units; c_id 0: not known
//   D <user> <w> <carrier> <d>:<o_id>,...      a delivery; "-" when its orders are not known
//   L <user>                                   the connection broke: one transaction may be there too
//   E                                          the run ended in order: nothing else was in flight
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidesdb::lab::tpcc {

enum class CommitKind : char {
  kNone = ' ',  // Nothing was changed.
  kHead = 'H',
  kBase = 'B',
  kNewOrder = 'N',
  kPayment = 'P',
  kDelivery = 'D',
  kLost = 'L',
  kEnd = 'E',
};

// The fields that a kind does not use are 0 or empty.
struct CommitRecord {
  CommitKind kind = CommitKind::kNone;
  int user = 0;
  int w_id = 0;
  int d_id = 0;
  int o_id = 0;  // The base's is next_o_id.
  int c_w_id = 0;
  int c_d_id = 0;
  int c_id = 0;
  int lines = 0;
  int64_t amount = 0;
  int carrier = 0;
  std::string date;                            // "2026-01-31 12:00:00".
  std::vector<std::pair<int, int>> delivered;  // (district, order).
  bool delivered_known = true;
  int users = 0;           // The head's.
  int64_t new_orders = 0;  // The base's.
  int64_t payments = 0;
  int64_t paid_cents = 0;
};

// The record's line, with its line end. REQUIRES: something was changed.
std::string FormatRecord(const CommitRecord& record);

// The record of a line without its line end; nullopt when it is none.
std::optional<CommitRecord> ParseRecord(std::string_view line);

// DELIVERY's "1:2101,2:2101,"; nullopt when it is anything else.
std::optional<std::vector<std::pair<int, int>>> ParseDelivered(std::string_view text);

}  // namespace tidesdb::lab::tpcc
