// Named sets of sizes: the default, and those of published runs.
#pragma once

#include <functional>
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

// The sizes given on the command line; each overrides the profile's.
using GivenSizes = std::vector<std::function<void(Sizes*)>>;

// The profile's sizes, with rows times `scale`, overridden by the given ones. Fails for an unknown
// profile.
Outcome ResolveSizes(const std::string& profile, double scale, const GivenSizes& given,
                     Sizes* sizes);

}  // namespace tidesdb::lab::iibench
