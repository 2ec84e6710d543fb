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

// How the one memory budget is shared out (docs/design/0012-memory.md). Parts other than the cache
// take what they need up to their limits; the cache has what they leave.
struct MemoryPlan {
  // Active and immutable ones together: writers wait for a flush beyond it. At least two memtables,
  // so that one fills while one is flushed.
  uint64_t memtables_max_bytes = 0;
  uint64_t block_cache_bytes = 0;      // At most,
  uint64_t block_cache_min_bytes = 0;  // and at least: together with the others' limits it fits.
  uint64_t transactions_bytes = 0;     // A write set beyond its share of it spills.
  uint64_t lent_bytes_max = 0;         // What cache and others may take together.
  // The cache is large enough to do without the system's page cache.
  bool bypass_page_cache = false;

  // What the cache may take while the others take so much.
  uint64_t CacheBytes(uint64_t others) const;
};
// REQUIRES: resolved options.
MemoryPlan PlanMemory(const Options& options);

}  // namespace tidesdb
