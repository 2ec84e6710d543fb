// Checks the options of a database or a family, and fills in what is left to the engine.
#pragma once

#include <string>
#include <vector>

#include "io/env.h"
#include "tidesdb/options.h"
#include "tidesdb/result.h"

namespace tidesdb {

// Options with every "0 means choose" chosen, and what does not fit in the memory budget cut to it:
// *cut says so, a text for each. Errors: kInvalidArgument naming option, value and what is allowed.
Result<Options> ResolveOptions(const Options& options, const Env& env,
                               std::vector<std::string>* cut);

// Errors: as ResolveOptions.
Status CheckFamilyOptions(const ColumnFamilyOptions& options);

// How the one memory budget is shared out (docs/design/0012-memory.md). The parts add up to no more
// than it.
struct MemoryPlan {
  // Active and immutable ones together: writers wait for a flush beyond it. At least two memtables,
  // so that one fills while one is flushed.
  uint64_t memtables_max_bytes = 0;
  uint64_t block_cache_bytes = 0;
  uint64_t transactions_bytes = 0;  // A write set beyond its share of it spills.
};
// REQUIRES: resolved options.
MemoryPlan PlanMemory(const Options& options);

}  // namespace tidesdb
