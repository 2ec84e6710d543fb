// Runs the works of both engines in turns, round after round, and collects the measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/json.h"
#include "tools/bench/store.h"
#include "tools/bench/works.h"

namespace tidesdb::bench {

struct RunOptions {
  Sizes sizes;
  std::vector<Engine> engines;
  std::vector<size_t> value_bytes = {100, 1000};
  std::vector<std::string> works;  // Names; empty: all. Works that make their data are added.
  int rounds = 3;
  uint64_t seed = 1;
  std::string directory;  // For the databases; created, and its new content is removed.
  bool quiet = false;
};

// The request, the conditions, and an entry for each work that ran. Nothing if a work failed, after
// its message.
std::optional<Json> RunAll(const RunOptions& options);

}  // namespace tidesdb::bench
