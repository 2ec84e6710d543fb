// What a person asks of one measured run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/generators/common/client.h"

namespace tidesdb::lab::tpcc {

enum class Isolation : uint8_t { kReadCommitted, kRepeatableRead };
enum class Toggle : uint8_t { kServer, kOn, kOff };  // kServer: leave it as the server has it.

struct RunOptions {
  ConnectOptions server;
  int users = 1;
  int rampup_s = 10;
  int duration_s = 60;
  Isolation isolation = Isolation::kReadCommitted;
  Toggle snapshot_isolation = Toggle::kOn;
  uint64_t seed = 1;
  bool all_warehouses = false;
  bool ignore_errors = false;  // No ROLLBACK after an error, as HammerDB with raiseerror false.
  bool check = true;           // The consistency conditions after the run.
  bool quiet = false;
  int progress_s = 10;                   // Between progress lines where there is no terminal.
  std::string commit_log;                // Path; empty: none.
  std::string json;                      // Path of the result; empty: none.
  std::string timeline;                  // Path of the timeline as CSV; empty: none.
  std::string label;                     // The report's name for this run; empty: the engine.
  std::vector<std::string> session_sql;  // Run by each user when it has connected.
};

inline const char* IsolationName(Isolation isolation) {
  return isolation == Isolation::kReadCommitted ? "READ COMMITTED" : "REPEATABLE READ";
}

}  // namespace tidesdb::lab::tpcc
