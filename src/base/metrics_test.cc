#include "base/metrics.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/test_seed.h"
#include "base/thread.h"

namespace tidesdb {
namespace {

TEST(HistogramTest, BucketsCoverEverythingInOrder) {
  uint64_t last = 0;
  for (size_t i = 0; i < HistogramBuckets::kCount; ++i) {
    const uint64_t upper = HistogramBuckets::UpperBound(i);
    EXPECT_EQ(HistogramBuckets::IndexOf(upper), i);
    EXPECT_EQ(HistogramBuckets::IndexOf(i == 0 ? 0 : last + 1), i);
    last = upper;
  }
  EXPECT_EQ(HistogramBuckets::IndexOf(UINT64_MAX), HistogramBuckets::kCount - 1);
}

TEST(HistogramTest, SmallValuesAreExactAndLargeOnesWithinASixteenth) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{7}, uint64_t{15}}) {
    Histogram histogram;
    histogram.Record(value);
    histogram.Record(1'000'000);
    EXPECT_EQ(histogram.Percentile(50), value);
  }
  Random random(TestSeed(1));
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = 1 + random.Skewed(39);
    Histogram histogram;
    histogram.Record(value);
    histogram.Record(uint64_t{1} << 39);
    const uint64_t p50 = histogram.Percentile(50);
    EXPECT_GE(p50, value);
    EXPECT_LE(p50, value + value / 16);
  }
}

TEST(HistogramTest, PercentilesOfAKnownSeries) {
  Histogram histogram;
  EXPECT_EQ(histogram.Percentile(99), 0u);
  for (uint64_t value = 1; value <= 1000; ++value) histogram.Record(value);
  EXPECT_EQ(histogram.Count(), 1000u);
  EXPECT_EQ(histogram.Sum(), 500'500u);
  EXPECT_DOUBLE_EQ(histogram.Mean(), 500.5);
  EXPECT_EQ(histogram.Max(), 1000u);
  EXPECT_EQ(histogram.Percentile(0), 1u);
  EXPECT_NEAR(static_cast<double>(histogram.Percentile(50)), 500, 32);
  EXPECT_NEAR(static_cast<double>(histogram.Percentile(95)), 950, 60);
  EXPECT_EQ(histogram.Percentile(100), 1000u);
}

TEST(HistogramTest, HugeValuesAreBoundedByTheMaximum) {
  Histogram histogram;
  histogram.Record(UINT64_MAX / 2);
  EXPECT_EQ(histogram.Percentile(50), UINT64_MAX / 2);
}

TEST(HistogramTest, MergeIsAsIfRecordedTogether) {
  Histogram one;
  Histogram two;
  Histogram both;
  for (uint64_t value = 1; value <= 100; ++value) {
    (value % 2 == 0 ? one : two).Record(value * value);
    both.Record(value * value);
  }
  one.Merge(two);
  EXPECT_EQ(one.Count(), both.Count());
  EXPECT_EQ(one.Max(), both.Max());
  for (const double percent : {1.0, 50.0, 99.0}) {
    EXPECT_EQ(one.Percentile(percent), both.Percentile(percent));
  }
}

TEST(MetricsTest, ThreadsAddUp) {
  const auto metrics = std::make_unique<Metrics>();
  std::vector<std::unique_ptr<Thread>> threads;
  for (int t = 0; t < 4; ++t) {
    threads.push_back(std::make_unique<Thread>("counter", [&metrics] {
      for (uint64_t i = 0; i < 10'000; ++i) {
        metrics->Add(Counter::kWalSyncs);
        metrics->Record(Timer::kWalSync, i);
      }
      metrics->Add(Counter::kWalBytesWritten, 5);
    }));
  }
  for (const auto& thread : threads) thread->Join();
  EXPECT_EQ(metrics->Get(Counter::kWalSyncs), 40'000u);
  EXPECT_EQ(metrics->Get(Counter::kWalBytesWritten), 20u);
  EXPECT_EQ(metrics->Get(Timer::kWalSync).Count(), 40'000u);
  EXPECT_EQ(metrics->Get(Timer::kWalSync).Max(), 9999u);
}

}  // namespace
}  // namespace tidesdb
