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

// Threads: written by the user; read after it was joined.
struct UserStats {
  // Of the measured time: new orders with an unused item; they are in the latencies too.
  uint64_t rolled_back = 0;
  ErrorTally errors;
  bool lost = false;  // The connection broke and the user left.
};

// What all users share. Constant while they run, but for the logs, which do their own locking.
struct UserContext {
  const RunOptions* options;
  Stage* stage;
  CommitLog* log;   // Not open: none is kept.
  OpLog* seconds;   // Of the whole run. Series: Transaction.
  OpLog* measured;  // Of the measured time, all of it as one second.
  int warehouses;
  std::vector<std::string> session_sql;  // Isolation and the like, then the options'.
};

// Runs transactions until the stage stops, the connection breaks or the commit log fails.
void RunVirtualUser(const UserContext& context, int user, UserStats* stats);

// What a user's connection sets first. `snapshot_variables` are the server's that end so.
std::vector<std::string> SessionStatements(const RunOptions& options,
                                           const std::vector<std::string>& snapshot_variables);

}  // namespace tidesdb::lab::tpcc
