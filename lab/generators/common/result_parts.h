// The common parts of all generators' results: JSON, latencies, errors, the file.
#pragma once

#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "lab/generators/common/error_tally.h"
#include "lab/generators/common/histogram.h"
#include "lab/generators/common/outcome.h"

namespace tidesdb::lab {

using Json = nlohmann::ordered_json;

// Converts bytes from a server: Latin-1, the character set of our connections.
Json ServerText(std::string_view latin1);

// Rounded to this many decimals; null if the value is not finite.
Json Rounded(double value, int decimals = 3);

// ASCII in one line.
std::string JsonText(const Json& json);

// "2026-11-22T12:00:00Z".
std::string UtcText(std::time_t when);

// Adds the members mean_us, min_us, p50_us, p95_us, p99_us, p999_us and max_us to an object.
void AddLatency(const Histogram& latency, Json* json);

// By code, with the first message.
Json ErrorsJson(const ErrorTally& errors);

// The same for the terminal: a line with totals, and one for each code.
std::string ErrorText(const ErrorTally& errors);

Outcome WriteFile(const std::string& path, const std::string& text);

}  // namespace tidesdb::lab
