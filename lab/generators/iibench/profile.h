// Named sets of sizes: what is run when nothing else is said, and those of published runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/generators/common/outcome.h"
#include "lab/generators/iibench/phase.h"

namespace tidesdb::lab::iibench {

struct Profile {
  std::string_view name;
  std::string_view title;  // One line for --help and the result.
  Sizes sizes;
};

const std::vector<Profile>& Profiles();

// What a person gave on the command line; it goes before the profile's.
struct GivenSizes {
  std::optional<std::vector<std::string>> phases;
  std::optional<int> clients;
  std::optional<int64_t> load_rows;
  std::optional<int64_t> i1_rows;
  std::optional<int64_t> i2_rows;
  std::optional<int> query_seconds;
  std::optional<int> write_seconds;
  std::optional<int> load_batch;
  std::optional<int> i1_batch;
  std::optional<int> i2_batch;
};

// The profile's sizes, its rows times `scale`, and over them what was given. Fails for a profile
// that is none.
Outcome ResolveSizes(const std::string& profile, double scale, const GivenSizes& given,
                     Sizes* sizes);

}  // namespace tidesdb::lab::iibench
