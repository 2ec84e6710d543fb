// Counts latencies in microseconds in log-linear buckets: percentiles within 1.6 %, exact maximum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidesdb::lab {

// Threads: one writer; read or merge it once the writer has finished.
class Histogram {
 public:
  Histogram();

  void Record(uint64_t value_us);
  void Merge(const Histogram& other);

  uint64_t count() const { return count_; }
  uint64_t sum_us() const { return sum_us_; }
  uint64_t max_us() const { return max_us_; }
  uint64_t min_us() const { return count_ == 0 ? 0 : min_us_; }
  double MeanUs() const;

  // The value that `percent` % of the recorded ones do not exceed; 0 if nothing was recorded.
  // REQUIRES: 0 < percent <= 100.
  uint64_t PercentileUs(double percent) const;

  // The bucket arithmetic, public for tests. A bucket's upper bound is its largest value.
  static size_t BucketOf(uint64_t value_us);
  static uint64_t UpperBound(size_t bucket);

 private:
  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  uint64_t sum_us_ = 0;
  uint64_t min_us_ = UINT64_MAX;
  uint64_t max_us_ = 0;
};

}  // namespace tidesdb::lab
