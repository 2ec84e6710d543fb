// What a person asks of a measured run of any generator.
#pragma once

#include <string>
#include <vector>

#include "lab/generators/common/client.h"

namespace tidesdb::lab {

struct CommonOptions {
  ConnectOptions server;
  bool check = true;                     // Whether the data are right, after the run.
  std::vector<std::string> session_sql;  // Run by each connection that is measured.
  std::string json;                      // Path of the result; empty: none.
  std::string timeline;                  // Path of the seconds as CSV; empty: none.
  std::string label;                     // The report's name for this run; empty: the engine.
  int progress_s = 10;                   // Between progress lines where there is no terminal.
  bool quiet = false;
};

}  // namespace tidesdb::lab
