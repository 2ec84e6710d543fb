// TPC-C's consistency conditions (clause 3.3.2) and some of our own, checked on one snapshot.
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

// Per district: how much the customers' balances exceed what payments and deliveries explain, in
// cents. 0 everywhere after a load, and later if every run was at REPEATABLE READ.
using BalanceGaps = std::map<DistrictId, int64_t>;

struct CheckOptions {
  bool after_load = false;  // Also check condition 11.
  // Compare the balances; `gaps_before` are those of earlier runs (empty: none).
  bool balance = false;
  BalanceGaps gaps_before;
  std::string balance_skipped;  // Why they are not compared, if so.
};

enum class CheckState : uint8_t { kHolds, kBroken, kSkipped };

struct CheckResult {
  std::string name;   // "1" to "11", "balance", "rows", "indexes".
  std::string title;  // The condition.
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

// Reads every table once (history twice with balances), one district at a time, in primary key
// order: its memory does not grow with the number of warehouses. Works with any engine, and with a
// database that HammerDB built.
Outcome CheckConsistency(Client* client, const CheckOptions& options, ConsistencyReport* report);

// The current gaps; cheap if nothing has run since the load.
Outcome MeasureBalanceGaps(Client* client, BalanceGaps* gaps);

// One line for each check, with its samples below.
std::string FormatReport(const ConsistencyReport& report);

}  // namespace tidesdb::lab::tpcc
