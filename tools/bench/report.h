// What the runs of a result come to: medians, spreads, ratios; as JSON and as tables for people.
#pragma once

#include <string>

#include "tools/bench/json.h"

namespace tidesdb::bench {

// A row for each work and size of values, in the order of the runs: by engine each figure's median,
// lowest and highest of all rounds; with two engines the first one's rate divided by the second's,
// and the second one's foreground CPU time by the first's, so that more is better in both.
Json Summary(const Json& result);

// Tables in Markdown. `result` has its summary.
std::string Markdown(const Json& result);

}  // namespace tidesdb::bench
