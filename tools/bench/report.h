// The summary of a result's runs: medians, spreads, ratios; as JSON and as tables for people.
#pragma once

#include <string>

#include "tools/bench/json.h"

namespace tidesdb::bench {

// A row for each work and size of values, in the order of the runs. For each engine it has each
// figure's median, lowest and highest of all rounds. With two engines it has the first one's rate
// divided by the second's, and the second one's foreground CPU time divided by the first's, so that
// higher is better in both.
Json Summary(const Json& result);

// Tables in Markdown. `result` has its summary.
std::string Markdown(const Json& result);

}  // namespace tidesdb::bench
