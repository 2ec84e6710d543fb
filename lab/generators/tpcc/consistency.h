// TPC-C's consistency conditions (clause 3.3.2) and a few of our own, checked on one snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/generators/common/client.h"
#include "lab/generators/common/outcome.h"

namespace tidesdb::lab::tpcc {

using DistrictId = std::pair<int, int>;  // (warehouse, district).

// Per district: what customers' balances are over (under) what payments and deliveries explain, in
// cents. 0 everywhere after a load, and ever after when every run was at REPEATABLE READ.
using BalanceGaps = std::map<DistrictId, int64_t>;

struct CheckOptions {
  bool after_load = false;  // Condition 11 too.
  // Compare the balances; `gaps_before` are those that earlier runs left (empty: none).
  bool balance = false;
  BalanceGaps gaps_before;
  std::string balance_skipped;  // Why they are not compared, when they are not.
};

enum class CheckState : uint8_t { kHolds, kBroken, kSkipped };

struct CheckResult {
  std::string name;   // "1" to "11", "balance", "rows", "indexes".
  std::string title;  // What must hold.
  CheckState state = CheckState::kHolds;
  uint64_t violations = 0;
  std::vector<std::string> samples;  // The first few violations; or why it was skipped.

  void Violation(std::string what);
};

struct ConsistencyReport {
  std::vector<CheckResult> checks;
  double seconds = 0;

  bool holds() const;
};

// Reads every table once (history twice with balances), a district at a time, in the order of the
// primary keys: the memory it needs does not grow with the number of warehouses. Works on any
// engine, and on a database that HammerDB built.
Outcome CheckConsistency(Client* client, const CheckOptions& options, ConsistencyReport* report);

// The gaps now; cheap when nothing has run since the load.
Outcome MeasureBalanceGaps(Client* client, BalanceGaps* gaps);

// One line a check, and its samples below it.
std::string FormatReport(const ConsistencyReport& report);

}  // namespace tidesdb::lab::tpcc
