// Output for people: aligned tables, durations, and a progress line that also suits a log file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidesdb::lab {

// Cells in columns; the first row is the heading. All columns except the first `left_columns` are
// right-aligned.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows, size_t left_columns);

// "4 s", "3 min 5 s", "1 h 2 min".
std::string FormatDuration(double seconds);

// "12,345,678".
std::string FormatCount(uint64_t count);

// "1.23" (milliseconds, three significant digits or so) for a latency.
std::string FormatMs(uint64_t us);

// Rewrites one line on a terminal; otherwise prints a line every `plain_period_s` seconds.
class ProgressLine {
 public:
  ProgressLine(bool quiet, int plain_period_s);
  // REQUIRES: called about once a second; `second` counts the calls.
  void Show(int second, std::string_view line);
  // Ends the line, so that the next output starts a new one.
  void Finish();

 private:
  const bool quiet_;
  const bool terminal_;
  const int plain_period_s_;
  size_t shown_ = 0;
};

}  // namespace tidesdb::lab
