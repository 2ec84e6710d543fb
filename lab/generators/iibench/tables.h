// Creates the benchmark's tables, or finds those of an earlier run.
#pragma once

#include <memory>
#include <vector>

#include "lab/generators/common/client.h"
#include "lab/generators/common/outcome.h"
#include "lab/generators/iibench/run_options.h"
#include "lab/generators/iibench/workers.h"

namespace tidesdb::lab::iibench {

using Tables = std::vector<std::unique_ptr<TableState>>;

// Leaves the client in the benchmark's database, with a table for each client. They are new and
// empty if the first phase is l.i0, else the existing ones, which must fit the phases. Rows are
// counted only if the run ends with a check.
Outcome PrepareTables(Client* client, const RunOptions& options, Tables* tables);

}  // namespace tidesdb::lab::iibench
