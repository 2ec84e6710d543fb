// Log-linear histogram of latencies: any value, an error of at most 1/16, a fixed size.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tidesdb {

// Buckets: values below 16 have one each; above, each power of two is cut into 16 equal parts.
// Values from 2^40 on (12 days in microseconds) share the last bucket.
struct HistogramBuckets {
  static constexpr unsigned kSubBits = 4;
  static constexpr unsigned kBitsMax = 40;
  // 16 single values, then 16 parts for each power of two from 2^4 to 2^39.
  static constexpr size_t kCount = (kBitsMax - kSubBits + 1) << kSubBits;

  static size_t IndexOf(uint64_t value) {
    if (value < (uint64_t{1} << kSubBits)) return value;
    if (value >= (uint64_t{1} << kBitsMax)) return kCount - 1;
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
    return (size_t{shift} << kSubBits) + (value >> shift);
  }
  // The largest value that falls into the bucket.
  static uint64_t UpperBound(size_t index) {
    if (index < (size_t{1} << kSubBits)) return index;
    const size_t shift = (index >> kSubBits) - 1;
    const uint64_t part = index - (shift << kSubBits);
    return ((part + 1) << shift) - 1;
  }
};

// Threads: one at a time.
class Histogram {
 public:
  void Record(uint64_t value, uint64_t times = 1) {
    buckets_[HistogramBuckets::IndexOf(value)] += times;
    count_ += times;
    sum_ += value * times;
    if (value > max_) max_ = value;
  }
  void Merge(const Histogram& other);

  uint64_t Count() const { return count_; }
  uint64_t Sum() const { return sum_; }
  uint64_t Max() const { return max_; }
  double Mean() const;
  // The value that percent of all values do not exceed, rounded up to the end of its bucket and
  // never above Max(); 0 if empty. percent in [0, 100].
  uint64_t Percentile(double percent) const;

 private:
  friend class ConcurrentHistogram;

  std::array<uint64_t, HistogramBuckets::kCount> buckets_ = {};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

// Threads: Record from any; AddTo may see a value half counted.
class ConcurrentHistogram {
 public:
  void Record(uint64_t value);
  void AddTo(Histogram* sum) const;

 private:
  // Relaxed throughout: figures that publish nothing.
  std::array<std::atomic<uint64_t>, HistogramBuckets::kCount> buckets_ = {};
  std::atomic<uint64_t> sum_ = 0;
  std::atomic<uint64_t> max_ = 0;
};

}  // namespace tidesdb
