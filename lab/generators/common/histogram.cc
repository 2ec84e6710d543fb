#include "lab/generators/common/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tidesdb::lab {
namespace {

// Each power of two is divided into 64 buckets: a bucket is at most 1/64 = 1.6 % of its value wide.
constexpr unsigned kSubBits = 6;
constexpr uint64_t kSubBuckets = uint64_t{1} << kSubBits;
// Values from 2^36 us (19 hours) on share the last bucket.
constexpr unsigned kMaxBits = 36;
constexpr size_t kBucketCount = static_cast<size_t>((kMaxBits - kSubBits + 1) * kSubBuckets);

}  // namespace

Histogram::Histogram() : buckets_(kBucketCount, 0) {}

size_t Histogram::BucketOf(uint64_t value_us) {
  if (value_us < kSubBuckets) return static_cast<size_t>(value_us);
  const unsigned bits = static_cast<unsigned>(std::bit_width(value_us));
  if (bits > kMaxBits) return kBucketCount - 1;
  const unsigned shift = bits - kSubBits - 1;
  // value >> shift is in [64, 128): its low six bits number the bucket within the power of two.
  return static_cast<size_t>((shift + 1) * kSubBuckets + ((value_us >> shift) - kSubBuckets));
}

uint64_t Histogram::UpperBound(size_t bucket) {
  if (bucket < kSubBuckets) return bucket;
  const unsigned shift = static_cast<unsigned>(bucket / kSubBuckets) - 1;
  const uint64_t first = (kSubBuckets + bucket % kSubBuckets) << shift;
  return first + (uint64_t{1} << shift) - 1;
}

void Histogram::Record(uint64_t value_us) {
  ++buckets_[BucketOf(value_us)];
  ++count_;
  sum_us_ += value_us;
  min_us_ = std::min(min_us_, value_us);
  max_us_ = std::max(max_us_, value_us);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_us_ += other.sum_us_;
  min_us_ = std::min(min_us_, other.min_us_);
  max_us_ = std::max(max_us_, other.max_us_);
}

double Histogram::MeanUs() const {
  return count_ == 0 ? 0.0 : static_cast<double>(sum_us_) / static_cast<double>(count_);
}

uint64_t Histogram::PercentileUs(double percent) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(percent / 100.0 * static_cast<double>(count_));
  const uint64_t rank = std::max<uint64_t>(1, static_cast<uint64_t>(wanted));
  uint64_t seen = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    // The recorded extremes are exact; a bucket's bound may be outside of them.
    if (seen >= rank) return std::clamp(UpperBound(i), min_us_, max_us_);
  }
  return max_us_;
}

}  // namespace tidesdb::lab
