// Runs the works of both engines in turns, round after round, and gathers what they measured.
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
  std::vector<std::string> works;  // Names; empty: all. Those that make their data come besides.
  int rounds = 3;
  uint64_t seed = 1;
  std::string directory;  // For the databases; made, and what is made in it is removed.
  bool quiet = false;
};

// What was asked for, under which conditions, and an entry for each work that ran. Nothing where a
// work failed: it has said why.
std::optional<Json> RunAll(const RunOptions& options);

}  // namespace tidesdb::bench
