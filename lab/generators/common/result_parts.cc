#include "lab/generators/common/result_parts.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include "lab/generators/common/terminal.h"

namespace tidesdb::lab {

Json ServerText(std::string_view latin1) {
  std::string utf8;
  for (const char c : latin1) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      utf8 += c;
    } else {
      utf8 += static_cast<char>(0xc0 | (byte >> 6));
      utf8 += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return utf8;
}

Json Rounded(double value, int decimals) {
  if (!std::isfinite(value)) return nullptr;
  const double unit = std::pow(10, decimals);
  return std::round(value * unit) / unit;
}

std::string JsonText(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}

std::string UtcText(std::time_t when) {
  std::tm parts{};
  gmtime_r(&when, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void AddLatency(const Histogram& latency, Json* json) {
  json->update({{"mean_us", Rounded(latency.MeanUs(), 1)},
                {"min_us", latency.min_us()},
                {"p50_us", latency.PercentileUs(50)},
                {"p95_us", latency.PercentileUs(95)},
                {"p99_us", latency.PercentileUs(99)},
                {"p999_us", latency.PercentileUs(99.9)},
                {"max_us", latency.max_us()}});
}

Json ErrorsJson(const ErrorTally& errors) {
  Json json = Json::array();
  for (const auto& [code, entry] : errors.entries()) {
    json.push_back({{"code", code},
                    {"state", ServerText(entry.state)},
                    {"count", entry.count},
                    {"first_message", ServerText(entry.first_message)},
                    {"first_where", entry.first_where}});
  }
  return json;
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
