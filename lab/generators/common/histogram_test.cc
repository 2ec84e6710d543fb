#include "lab/generators/common/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/generators/common/random.h"

namespace tidesdb::lab {
namespace {

TEST(HistogramTest, AnEmptyOneIsAllZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.PercentileUs(99), 0u);
  EXPECT_EQ(histogram.min_us(), 0u);
  EXPECT_EQ(histogram.max_us(), 0u);
  EXPECT_EQ(histogram.MeanUs(), 0.0);
}

TEST(HistogramTest, OneValueIsEveryPercentile) {
  Histogram histogram;
  histogram.Record(123457);
  for (const double percent : {0.1, 50.0, 99.9, 100.0}) {
    EXPECT_EQ(histogram.PercentileUs(percent), 123457u);
  }
}

TEST(HistogramTest, BucketsCoverEveryValueOnce) {
  // Neighbours share a bucket or are in adjacent ones, and a bucket's bound is its largest value.
  for (uint64_t value = 0; value < 300000; ++value) {
    const size_t bucket = Histogram::BucketOf(value);
    EXPECT_LE(value, Histogram::UpperBound(bucket)) << value;
    const size_t next = Histogram::BucketOf(value + 1);
    if (next != bucket) {
      EXPECT_EQ(next, bucket + 1) << value;
      EXPECT_EQ(Histogram::UpperBound(bucket), value);
    }
  }
}

TEST(HistogramTest, HugeValuesStayInTheLastBucket) {
  Histogram histogram;
  histogram.Record(UINT64_MAX / 2);
  EXPECT_EQ(histogram.max_us(), UINT64_MAX / 2);
  EXPECT_EQ(Histogram::BucketOf(UINT64_MAX), Histogram::BucketOf(uint64_t{1} << 36));
}

TEST(HistogramTest, PercentilesAreWithinABucketOfTheExactOnes) {
  Random random(11);
  std::vector<uint64_t> values;
  Histogram histogram;
  for (int i = 0; i < 20000; ++i) {
    // Latencies spread over five decades.
    const uint64_t value = static_cast<uint64_t>(std::pow(10.0, 1 + 5 * random.Unit()));
    values.push_back(value);
    histogram.Record(value);
  }
  std::sort(values.begin(), values.end());
  for (const double percent : {1.0, 50.0, 90.0, 95.0, 99.0, 99.9, 100.0}) {
    const size_t rank = static_cast<size_t>(std::ceil(percent / 100 * 20000.0));
    const double exact = static_cast<double>(values[rank - 1]);
    const double got = static_cast<double>(histogram.PercentileUs(percent));
    EXPECT_GE(got, exact) << percent;
    EXPECT_LE(got, exact * 1.016 + 1) << percent;
  }
  EXPECT_EQ(histogram.max_us(), values.back());
  EXPECT_EQ(histogram.min_us(), values.front());
}

TEST(HistogramTest, MergingIsRecordingIntoOne) {
  Random random(5);
  Histogram a;
  Histogram b;
  Histogram both;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = static_cast<uint64_t>(random.Uniform(1, 1000000));
    (i % 3 == 0 ? a : b).Record(value);
    both.Record(value);
  }
  a.Merge(b);
  EXPECT_EQ(a.count(), both.count());
  EXPECT_EQ(a.MeanUs(), both.MeanUs());
  EXPECT_EQ(a.min_us(), both.min_us());
  EXPECT_EQ(a.max_us(), both.max_us());
  EXPECT_EQ(a.PercentileUs(95), both.PercentileUs(95));
}

}  // namespace
}  // namespace tidesdb::lab
