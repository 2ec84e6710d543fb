// One seed's life: a database under random transactions, power cuts, kills and I/O errors, with
// checks after each.
#pragma once

#include <cstdint>
#include <string>

namespace tidesdb::simtest {

struct WorkloadOptions {
  uint64_t seed = 1;
  uint64_t operations = 1000;  // The minimum over all lives of the database.
};

// The counts of a run; their sums over seeds show that the interesting cases are reached.
struct WorkloadResult {
  std::string failure;  // Empty: no fault.
  uint64_t trace_hash = 0;
  uint64_t operations = 0;
  uint64_t commits = 0;
  uint64_t conflicts = 0;
  uint64_t crashes = 0;
  uint64_t kills = 0;
  uint64_t io_errors = 0;  // Lives ended by an injected error.
  uint64_t in_doubt_kept = 0;
  uint64_t flushes = 0;
  uint64_t compactions = 0;
  uint64_t spills = 0;
  uint64_t prepared_commits = 0;    // In two phases.
  uint64_t prepared_found = 0;      // By recovery.
  uint64_t prepared_recommits = 0;  // Acknowledged, but found prepared after a power cut.
  uint64_t checkpoints = 0;
  uint64_t loads = 0;              // Of the database.
  uint64_t transaction_loads = 0;  // Committed with the rest.
};

// Runs in its own Simulation. Same options, same build: same result.
WorkloadResult RunWorkload(const WorkloadOptions& options);

}  // namespace tidesdb::simtest
