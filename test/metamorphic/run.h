// One random history on a database, and every answer it got: the same for every set of options.
//
// The history is drawn from a seed alone, never from an answer, so that each run does the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidesdb/db.h"

namespace tidesdb::metamorphic {

// What must not change an answer.
struct OptionSet {
  std::string name;
  Options options;
  ColumnFamilyOptions family;
  uint64_t staging_bytes = 0;
  // After so many quiet points (no transaction is open) each; 0: never.
  uint64_t flush_every = 0;
  uint64_t compact_every = 0;
  uint64_t reopen_every = 0;
};

// The sets that histories are run under; the first is the default one.
std::vector<OptionSet> OptionSets();

// A line for each step: what was asked, and the answer. An error that no answer is ends the run with
// a line of it.
std::vector<std::string> Run(const OptionSet& set, uint64_t seed, uint64_t steps, Env* env);

}  // namespace tidesdb::metamorphic
