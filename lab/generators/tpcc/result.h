// Writes a run's result: JSON for reports, CSV for the timeline, a table for the terminal.
#pragma once

#include <string>

#include "lab/generators/tpcc/run.h"
#include "lab/generators/tpcc/run_options.h"

namespace tidesdb::lab::tpcc {

// Format: lab/README.md, "The result file".
std::string ResultJson(const RunOptions& options, const RunReport& report);
std::string TimelineCsv(const RunReport& report);
std::string ResultTable(const RunOptions& options, const RunReport& report);

}  // namespace tidesdb::lab::tpcc
