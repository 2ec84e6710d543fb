// What the results of all generators have in common: latencies, errors, the file.
#pragma once

#include <ctime>
#include <string>

#include "lab/generators/common/error_tally.h"
#include "lab/generators/common/histogram.h"
#include "lab/generators/common/json.h"
#include "lab/generators/common/outcome.h"

namespace tidesdb::lab {

// "2026-11-22T12:00:00Z".
std::string UtcText(std::time_t when);

// The members mean_us, min_us, p50_us, p95_us, p99_us, p999_us and max_us are added to an object.
void AddLatency(const Histogram& latency, Json* json);

// By code, with the first message.
Json ErrorsJson(const ErrorTally& errors);

// The same for the terminal: a line with the totals, and one for each code.
std::string ErrorText(const ErrorTally& errors);

Outcome WriteFile(const std::string& path, const std::string& text);

}  // namespace tidesdb::lab
