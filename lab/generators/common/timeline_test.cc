#include "lab/generators/common/timeline.h"

#include <gtest/gtest.h>

namespace tidesdb::lab {
namespace {

TEST(TimelineTest, SumsUsersBySecondAndSeries) {
  Timeline a(10, 2);
  Timeline b(10, 2);
  a.Add(3, 1, 100);
  a.Add(3, 1, 300);
  b.Add(3, 1, 50);
  b.Add(3, 0, 7000);
  b.AddError(3, 1);
  const TimelinePoint point = SumPoint({&a, &b}, 3, 1);
  EXPECT_EQ(point.count, 3u);
  EXPECT_EQ(point.errors, 1u);
  EXPECT_EQ(point.sum_us, 450u);
  EXPECT_EQ(point.max_us, 300u);
  EXPECT_EQ(SumPoint({&a, &b}, 2, 1).count, 0u);
}

TEST(TimelineTest, WhatEndsLateIsCountedInTheLastSecond) {
  Timeline timeline(5, 1);
  timeline.Add(4, 0, 1);
  timeline.Add(99, 0, 1);
  EXPECT_EQ(timeline.Read(4, 0).count, 2u);
}

}  // namespace
}  // namespace tidesdb::lab
