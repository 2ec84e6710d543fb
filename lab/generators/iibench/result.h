// Writes a run's result: JSON for reports, CSV for the seconds, a table for the terminal.
#pragma once

#include <string>

#include "lab/generators/iibench/run.h"
#include "lab/generators/iibench/run_options.h"

namespace tidesdb::lab::iibench {

// Format: lab/README.md, "The result file of iibench".
std::string ResultJson(const RunOptions& options, const RunReport& report);
std::string TimelineCsv(const RunReport& report);
std::string ResultTable(const RunOptions& options, const RunReport& report);

}  // namespace tidesdb::lab::iibench
