// Per-second counts and latencies of one user, by series (a transaction type); summed on read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tidesdb::lab {

// One second of one series, as plain numbers.
struct TimelinePoint {
  uint64_t count = 0;
  uint64_t errors = 0;
  uint64_t sum_us = 0;
  uint64_t max_us = 0;

  void Merge(const TimelinePoint& other);
};

// Threads: one writer (the user), any readers. Cells are relaxed atomics: readers show progress,
//   and the final sum is taken after the writer was joined.
class Timeline {
 public:
  // Seconds past the last one are counted in the last one.
  Timeline(size_t seconds, size_t series);

  void Add(size_t second, size_t series, uint64_t latency_us);
  void AddError(size_t second, size_t series);

  TimelinePoint Read(size_t second, size_t series) const;
  size_t seconds() const { return seconds_; }

 private:
  struct Cell {
    std::atomic<uint32_t> count{0};
    std::atomic<uint32_t> errors{0};
    std::atomic<uint64_t> sum_us{0};
    std::atomic<uint64_t> max_us{0};
  };
  Cell& At(size_t second, size_t series) const;

  const size_t seconds_;
  const size_t series_;
  const std::unique_ptr<Cell[]> cells_;
};

// The sum of one second of one series over all users.
TimelinePoint SumPoint(const std::vector<const Timeline*>& users, size_t second, size_t series);

}  // namespace tidesdb::lab
