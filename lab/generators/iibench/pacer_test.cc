#include "lab/generators/iibench/pacer.h"

#include <gtest/gtest.h>

#include <tuple>

namespace tidesdb::lab::iibench {
namespace {

constexpr uint64_t kMs = 1000;

// Due, done, late, seconds behind, longest delay.
std::tuple<int64_t, int64_t, int64_t, int64_t, uint64_t> Of(const PaceReport& report) {
  return {report.due, report.done, report.late, report.missed_s, report.behind_us_max};
}

TEST(PacerTest, BatchesAreDueAtEvenIntervals) {
  Pacer pacer(100, 50);
  EXPECT_EQ(pacer.NextDueUs(), 0u);
  pacer.Done(1 * kMs);
  EXPECT_EQ(pacer.NextDueUs(), 500 * kMs);
  pacer.Done(501 * kMs);
  EXPECT_EQ(pacer.NextDueUs(), 1000 * kMs);
}

TEST(PacerTest, AWriterInTimeMissesNothing) {
  Pacer pacer(100, 50);
  for (uint64_t batch = 0; batch < 20; ++batch) pacer.Done(batch * 500 * kMs + 499 * kMs);
  EXPECT_EQ(Of(pacer.Finish(10000 * kMs)), std::tuple(20, 20, 0, 0, 499 * kMs));
}

TEST(PacerTest, AStallIsCountedAndCaughtUp) {
  Pacer pacer(100, 50);
  pacer.Done(10 * kMs);
  // The second batch stalls from 0.5 s to 3.2 s: over at 1 s, so it is behind in three seconds.
  pacer.Done(3200 * kMs);
  EXPECT_EQ(pacer.NextDueUs(), 1000 * kMs);  // No batch is skipped.
  for (uint64_t batch = 2; batch < 7; ++batch) pacer.Done(3200 * kMs + batch * kMs);
  pacer.Done(3501 * kMs);
  // Batches 1 to 5 ended after 1, 1.5, 2, 2.5 and 3 s; that of 3 s is over at 3.5 s.
  EXPECT_EQ(Of(pacer.Finish(4000 * kMs)), std::tuple(8, 8, 5, 3, 2700 * kMs));
}

TEST(PacerTest, WhatWasNeverDoneIsLate) {
  Pacer pacer(1000, 50);
  pacer.Done(5 * kMs);
  EXPECT_EQ(Of(pacer.Finish(2000 * kMs)), std::tuple(40, 1, 39, 2, 1950 * kMs));
}

TEST(PacerTest, ReportsOfClientsAddUp) {
  PaceReport sum = {10, 9, 1, 1, 70};
  sum.Merge({10, 10, 0, 2, 50});
  EXPECT_EQ(Of(sum), std::tuple(20, 19, 1, 3, 70u));
}

}  // namespace
}  // namespace tidesdb::lab::iibench
