// Named sets of sizes: what is run when nothing else is said, and those of published runs.
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

// What a person gave on the command line: each sets a size. It goes before the profile's.
using GivenSizes = std::vector<std::function<void(Sizes*)>>;

// The profile's sizes, its rows times `scale`, and over them what was given. Fails for a profile
// that is none.
Outcome ResolveSizes(const std::string& profile, double scale, const GivenSizes& given,
                     Sizes* sizes);

}  // namespace tidesdb::lab::iibench
