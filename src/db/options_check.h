// Checks the options of a database or a family, and fills in the automatic ones.
#pragma once

#include <string>
#include <vector>

#include "io/env.h"
#include "tidesdb/options.h"
#include "tidesdb/result.h"

namespace tidesdb {

// Returns the options with every "0 means choose" replaced, and with sizes reduced to the memory
// budget. *cut gets a text for each reduced option.
// Errors: kInvalidArgument, which names option, value and what is allowed.
Result<Options> ResolveOptions(const Options& options, const Env& env,
                               std::vector<std::string>* cut);

// Errors: as ResolveOptions.
Status CheckFamilyOptions(const ColumnFamilyOptions& options);

// Whether Options::flush_queue_max may have this value. Errors: as ResolveOptions.
Status CheckFlushQueueMax(int memtables);

// How the one memory budget is divided (docs/design/0012-memory.md). The cache gets the memory that
// the other parts leave, up to its limit.
struct MemoryPlan {
  // For active and immutable memtables together; beyond it writers wait for a flush. At least two
  // memtables, so that one fills while another is flushed.
  uint64_t memtables_max_bytes = 0;
  uint64_t block_cache_bytes = 0;      // At most.
  uint64_t block_cache_min_bytes = 0;  // At least: it fits together with the others' limits.
  uint64_t transactions_bytes = 0;     // A write set beyond its share of it spills.
  uint64_t lent_bytes_max = 0;         // For the cache and the others together.
  // The cache is large enough to bypass the system's page cache.
  bool bypass_page_cache = false;

  // The size of the cache while the others use this much.
  uint64_t CacheBytes(uint64_t others) const;
};
// REQUIRES: resolved options.
MemoryPlan PlanMemory(const Options& options);

}  // namespace tidesdb
