// One user of a run: its connection, its inputs, its statistics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/generators/common/client.h"
#include "lab/generators/common/error_tally.h"
#include "lab/generators/common/op_log.h"
#include "lab/generators/common/stage.h"
#include "lab/generators/tpcc/commit_log.h"
#include "lab/generators/tpcc/run_options.h"
#include "lab/generators/tpcc/transactions.h"

namespace tidesdb::lab::tpcc {

// Threads: written by the user; read after it has been joined.
struct UserStats {
  // During the measurement: new orders with an unused item; the latencies include them.
  uint64_t rolled_back = 0;
  ErrorTally errors;
  bool lost = false;  // The connection broke and the user left.
};

// The users' shared state. Constant while they run, except for the logs, which lock themselves.
struct UserContext {
  const RunOptions* options;
  Stage* stage;
  CommitLog* log;   // Not open: no log.
  OpLog* seconds;   // Of the whole run. Series: Transaction.
  OpLog* measured;  // Of the measurement, all of it as one second.
  int warehouses;
  std::vector<std::string> session_sql;  // Isolation and similar settings, then the options' own.
};

// Runs transactions until the stage stops, the connection breaks or the commit log fails.
void RunVirtualUser(const UserContext& context, int user, UserStats* stats);

// The first statements of a user's connection. `snapshot_variables` are the server's with that
// ending.
std::vector<std::string> SessionStatements(const RunOptions& options,
                                           const std::vector<std::string>& snapshot_variables);

}  // namespace tidesdb::lab::tpcc
