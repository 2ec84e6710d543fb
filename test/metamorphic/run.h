// One random history on a database, and its answers: they must be the same for every set of options.
//
// The history depends only on a seed, never on an answer, so each run does the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidesdb/db.h"

namespace tidesdb::metamorphic {

// Settings that must not change an answer.
struct OptionSet {
  std::string name;
  Options options;
  ColumnFamilyOptions family;
  uint64_t staging_bytes = 0;
  // After this many quiet points (no open transaction) each; 0: never.
  uint64_t flush_every = 0;
  uint64_t compact_every = 0;
  uint64_t reopen_every = 0;
};

// The option sets of the histories; the first is the default one.
std::vector<OptionSet> OptionSets();

// A line for each step: the request and the answer. An error that is not a valid answer ends the run with its line.
std::vector<std::string> Run(const OptionSet& set, uint64_t seed, uint64_t steps, Env* env);

}  // namespace tidesdb::metamorphic
