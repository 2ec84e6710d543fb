#include "lab/generators/common/result_parts.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "lab/generators/common/terminal.h"

namespace tidesdb::lab {

std::string UtcText(std::time_t when) {
  std::tm parts{};
  gmtime_r(&when, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void WriteLatency(const Histogram& latency, JsonWriter* json) {
  json->Key("mean_us").Real(latency.MeanUs(), 1);
  json->Key("min_us").Unsigned(latency.min_us());
  json->Key("p50_us").Unsigned(latency.PercentileUs(50));
  json->Key("p95_us").Unsigned(latency.PercentileUs(95));
  json->Key("p99_us").Unsigned(latency.PercentileUs(99));
  json->Key("p999_us").Unsigned(latency.PercentileUs(99.9));
  json->Key("max_us").Unsigned(latency.max_us());
}

void WriteErrors(const ErrorTally& errors, JsonWriter* json) {
  json->Key("errors").BeginArray();
  for (const auto& [code, entry] : errors.entries()) {
    json->BeginObject();
    json->Key("code").Unsigned(code);
    json->Key("state").Text(entry.state);
    json->Key("count").Unsigned(entry.count);
    json->Key("first_message").Text(entry.first_message);
    json->Key("first_where").Text(entry.first_where);
    json->EndObject();
  }
  json->EndArray();
}

std::string ErrorText(const ErrorTally& errors) {
  std::string text = "errors: deadlock (1213) " + FormatCount(errors.CountOf(kErrDeadlock)) +
                     ", lock wait timeout (1205) " +
                     FormatCount(errors.CountOf(kErrLockWaitTimeout)) +
                     ", changed since read (1020) " + FormatCount(errors.CountOf(kErrCheckRead)) +
                     ", other " + FormatCount(errors.unexpected()) + "\n";
  for (const auto& [code, entry] : errors.entries()) {
    text += "  " + std::to_string(code) + " (" + entry.state + ") x " + FormatCount(entry.count) +
            ", first in " + entry.first_where + ": " + entry.first_message + "\n";
  }
  return text;
}

Outcome WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return Outcome::Fail(path + ": " + std::strerror(errno));
  return {};
}

}  // namespace tidesdb::lab
