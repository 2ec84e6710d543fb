// The options of a measured run, common to all generators.
#pragma once

#include <string>
#include <vector>

#include "lab/generators/common/client.h"

namespace tidesdb::lab {

struct CommonOptions {
  ConnectOptions server;
  bool check = true;                     // Check the data after the run.
  std::vector<std::string> session_sql;  // Run by each measured connection.
  std::string json;                      // Path of the result; empty: none.
  std::string timeline;                  // Path of the seconds as CSV; empty: none.
  std::string label;                     // The report's name for this run; empty: the engine.
  int progress_s = 10;                   // Between progress lines without a terminal.
  bool quiet = false;
};

}  // namespace tidesdb::lab
