// Counts operations by kind (series) and second with latency percentiles, while many threads run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "lab/generators/common/histogram.h"

namespace tidesdb::lab {

// One second of one series. Latencies are those of successful operations.
struct Interval {
  uint64_t count = 0;
  uint64_t rows = 0;
  uint64_t errors = 0;
  uint64_t sum_us = 0;
  uint64_t p50_us = 0;
  uint64_t p99_us = 0;
  uint64_t p999_us = 0;
  uint64_t max_us = 0;

  uint64_t mean_us() const { return count == 0 ? 0 : sum_us / count; }
  // Adds the same second of another series; percentiles cannot be added and stay unchanged.
  void Add(const Interval& other);
};

// Threads: any.
// Invariant: a second is open, with a histogram, or closed, with percentiles only, so that a long
//   run does not fill memory with histograms.
class OpLog {
 public:
  explicit OpLog(size_t series);

  // Records an operation that ended in that second. If the second is already closed, the first open
  // one counts it: the writer was delayed between its clock and this call.
  void Record(size_t second, size_t series, uint64_t rows, uint64_t latency_us);
  void RecordError(size_t second, size_t series);

  // Closes the seconds before this one.
  void CloseBefore(size_t second);

  // The current numbers of a second; zeros if nothing was recorded in it.
  Interval Read(size_t second, size_t series) const;
  // The number of seconds up to the last recorded one.
  size_t seconds() const;

  // Of all seconds.
  Histogram Latency(size_t series) const;
  uint64_t rows(size_t series) const;
  uint64_t errors(size_t series) const;

 private:
  struct Cell {
    Histogram latency;
    uint64_t rows = 0;
    uint64_t errors = 0;
  };
  // Creates open seconds up to this one. REQUIRES: mutex_ is held.
  Cell* At(size_t second, size_t series);
  static Interval Reduce(const Cell& cell);

  const size_t series_;
  mutable std::mutex mutex_;
  // Guarded by mutex_: closed seconds, then the open ones, then the sums.
  std::vector<std::vector<Interval>> closed_;
  std::deque<std::vector<Cell>> open_;
  std::vector<Cell> total_;
};

}  // namespace tidesdb::lab
