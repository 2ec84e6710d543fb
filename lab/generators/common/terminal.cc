#include "lab/generators/common/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tidesdb::lab {

std::string FormatTable(const std::vector<std::vector<std::string>>& rows, size_t left_columns) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      if (i != 0) line += "  ";
      line += i < left_columns ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string FormatDuration(double seconds) {
  const int64_t whole = static_cast<int64_t>(std::llround(std::max(seconds, 0.0)));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  }
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

std::string FormatCount(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string FormatMs(uint64_t us) {
  const double ms = static_cast<double>(us) / 1000.0;
  char text[32];
  std::snprintf(text, sizeof text, ms < 10 ? "%.2f" : ms < 1000 ? "%.1f" : "%.0f", ms);
  return text;
}

ProgressLine::ProgressLine(bool quiet, int plain_period_s)
    : quiet_(quiet), terminal_(isatty(STDOUT_FILENO) == 1), plain_period_s_(plain_period_s) {}

void ProgressLine::Show(int second, std::string_view line) {
  if (quiet_) return;
  const int width = static_cast<int>(line.size());
  if (terminal_) {
    // Blanks overwrite the rest of a longer previous line.
    const int blanks = static_cast<int>(shown_ > line.size() ? shown_ - line.size() : 0);
    std::printf("\r%.*s%*s", width, line.data(), blanks, "");
    shown_ = line.size();
  } else if (second % plain_period_s_ == 0) {
    std::printf("%.*s\n", width, line.data());
  }
  std::fflush(stdout);
}

void ProgressLine::Finish() {
  if (shown_ != 0) std::printf("\n");
  shown_ = 0;
}

}  // namespace tidesdb::lab
