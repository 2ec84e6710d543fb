// The options of one measured run.
#pragma once

#include <cstdint>
#include <string>

#include "lab/generators/common/run_options.h"

namespace tidesdb::lab::tpcc {

enum class Isolation : uint8_t { kReadCommitted, kRepeatableRead };
enum class Toggle : uint8_t { kServer, kOn, kOff };  // kServer: keep the server's setting.

struct RunOptions : CommonOptions {
  int users = 1;
  int rampup_s = 10;
  int duration_s = 60;
  Isolation isolation = Isolation::kReadCommitted;
  Toggle snapshot_isolation = Toggle::kOn;
  uint64_t seed = 1;
  bool all_warehouses = false;
  bool ignore_errors = false;  // No ROLLBACK after an error, as HammerDB with raiseerror false.
  std::string commit_log;      // Path; empty: none.
};

inline const char* IsolationName(Isolation isolation) {
  return isolation == Isolation::kReadCommitted ? "READ COMMITTED" : "REPEATABLE READ";
}

}  // namespace tidesdb::lab::tpcc
