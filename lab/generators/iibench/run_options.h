// What a person asks of one run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/generators/common/client.h"
#include "lab/generators/iibench/phase.h"
#include "lab/generators/iibench/rows.h"

namespace tidesdb::lab::iibench {

struct RunOptions {
  ConnectOptions server;
  std::string engine = "InnoDB";
  std::string table_options;  // After ENGINE=..., such as COMPRESSION=NONE.
  std::string profile = "small";
  Sizes sizes;  // Where `phases` come from; the number of clients.
  std::vector<Phase> phases;
  RowRules rows;
  int query_threads = 1;  // For each client.
  int rows_per_query = 10;
  int settle_s = 0;      // Before the first step with queries, after ANALYZE TABLE.
  bool replace = false;  // Drop the database first; else one that holds tables is refused.
  bool check = true;
  bool quiet = false;
  int progress_s = 10;                   // Between progress lines where there is no terminal.
  std::string json;                      // Path of the result; empty: none.
  std::string timeline;                  // Path of the seconds as CSV; empty: none.
  std::string label;                     // The report's name for this run; empty: the engine.
  std::vector<std::string> session_sql;  // Run by each connection of a step.
};

}  // namespace tidesdb::lab::iibench
