// The `verify-log` command: checks that the database has every acknowledged transaction, and little
// more.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/generators/common/client.h"
#include "lab/generators/common/outcome.h"
#include "lab/generators/tpcc/commit_log.h"
#include "lab/generators/tpcc/consistency.h"

namespace tidesdb::lab::tpcc {

// The contents of one or more commit logs of consecutive runs.
struct LogContents {
  std::vector<CommitRecord> bases;  // Of the first log.
  std::vector<CommitRecord> new_orders;
  std::vector<CommitRecord> payments;
  std::vector<CommitRecord> deliveries;
  // Transactions that may be in the database without a record: one for each broken connection; if
  // the client itself was killed, one for each of its users.
  int64_t in_flight_max = 0;
  int logs = 0;
};

// Reads the logs in the order of their runs.
Outcome ReadLogs(const std::vector<std::string>& paths, LogContents* contents);
// Adds the records of one log's text; `name` is for messages.
Outcome AddLog(std::string_view text, const std::string& name, LogContents* contents);

struct VerifyReport {
  int64_t new_orders = 0;  // Acknowledged, by kind.
  int64_t payments = 0;
  int64_t deliveries = 0;
  int64_t unacknowledged = 0;  // In the database, but in no log.
  int64_t in_flight_max = 0;
  CheckResult missing{"acknowledged", "every acknowledged transaction is there, whole", {}, 0, {}};
  CheckResult extra{"in flight", "nothing more is there than what was in flight", {}, 0, {}};

  bool ok() const {
    return missing.state == CheckState::kHolds && extra.state == CheckState::kHolds;
  }
};

// Compares on one snapshot. REQUIRES: no other run has written to the database since the first
// log's head.
Outcome VerifyLog(Client* client, const LogContents& contents, VerifyReport* report);

// The database's current base records, for the head of a log.
Outcome ReadBases(Client* client, std::vector<CommitRecord>* bases);

}  // namespace tidesdb::lab::tpcc
