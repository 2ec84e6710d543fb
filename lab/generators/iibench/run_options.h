// The options of one run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/generators/common/run_options.h"
#include "lab/generators/iibench/phase.h"
#include "lab/generators/iibench/rows.h"

namespace tidesdb::lab::iibench {

struct RunOptions : CommonOptions {
  std::string engine = "InnoDB";
  std::string table_options;  // After ENGINE=..., such as COMPRESSION=NONE.
  std::string profile = "small";
  Sizes sizes;  // The source of `phases`; the number of clients.
  std::vector<Phase> phases;
  RowRules rows;
  int query_threads = 1;  // For each client.
  int rows_per_query = 10;
  int settle_s = 0;      // Before the first step with queries, after ANALYZE TABLE.
  bool replace = false;  // Drop the database first; otherwise one with tables is refused.
};

}  // namespace tidesdb::lab::iibench
