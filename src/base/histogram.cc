#include "base/histogram.h"

#include <algorithm>
#include <cmath>

namespace tidesdb {

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

double Histogram::Mean() const {
  return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

uint64_t Histogram::Percentile(double percent) const {
  if (count_ == 0) return 0;
  const double exact = std::ceil(static_cast<double>(count_) * percent / 100.0);
  const uint64_t wanted = std::clamp<uint64_t>(static_cast<uint64_t>(exact), 1, count_);
  uint64_t seen = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= wanted) {
      // The last bucket has no upper end; only the maximum is known.
      return i + 1 == buckets_.size() ? max_ : std::min(max_, HistogramBuckets::UpperBound(i));
    }
  }
  return max_;
}

void ConcurrentHistogram::Record(uint64_t value) {
  buckets_[HistogramBuckets::IndexOf(value)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
  uint64_t max = max_.load(std::memory_order_relaxed);
  while (value > max && !max_.compare_exchange_weak(max, value, std::memory_order_relaxed)) {
  }
}

void ConcurrentHistogram::AddTo(Histogram* sum) const {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const uint64_t n = buckets_[i].load(std::memory_order_relaxed);
    sum->buckets_[i] += n;
    sum->count_ += n;
  }
  sum->sum_ += sum_.load(std::memory_order_relaxed);
  sum->max_ = std::max(sum->max_, max_.load(std::memory_order_relaxed));
}

}  // namespace tidesdb
