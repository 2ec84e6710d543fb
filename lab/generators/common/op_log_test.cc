#include "lab/generators/common/op_log.h"

#include <gtest/gtest.h>

#include <thread>

namespace tidesdb::lab {
namespace {

TEST(OpLogTest, ASecondHasItsCountsAndPercentiles) {
  OpLog log(2);
  for (uint64_t us = 1; us <= 60; ++us) log.Record(3, 1, 50, us);
  log.RecordError(3, 1);
  const Interval interval = log.Read(3, 1);
  EXPECT_EQ(interval.count, 60u);
  EXPECT_EQ(interval.rows, 3000u);
  EXPECT_EQ(interval.errors, 1u);
  EXPECT_EQ(interval.mean_us(), 30u);
  EXPECT_EQ(interval.p50_us, 30u);
  EXPECT_EQ(interval.p99_us, 60u);
  EXPECT_EQ(interval.max_us, 60u);
  EXPECT_EQ(log.Read(3, 0).count, 0u);
  EXPECT_EQ(log.Read(2, 1).count, 0u);
  EXPECT_EQ(log.seconds(), 4u);
}

TEST(OpLogTest, SeriesOfASecondAddUp) {
  OpLog log(2);
  log.Record(3, 0, 1, 7000);
  for (const uint64_t us : {100, 300, 50}) log.Record(3, 1, 1, us);
  log.RecordError(3, 1);
  Interval all = log.Read(3, 1);
  EXPECT_EQ(all.sum_us, 450u);
  all.Add(log.Read(3, 0));
  EXPECT_EQ(all.count, 4u);
  EXPECT_EQ(all.errors, 1u);
  EXPECT_EQ(all.sum_us, 7450u);
  EXPECT_EQ(all.max_us, 7000u);
}

TEST(OpLogTest, AClosedSecondSaysTheSame) {
  OpLog log(1);
  log.Record(0, 0, 1, 10);
  log.Record(1, 0, 1, 20);
  log.CloseBefore(1);
  EXPECT_EQ(log.Read(0, 0).p50_us, 10u);
  EXPECT_EQ(log.Read(1, 0).p50_us, 20u);
  EXPECT_EQ(log.seconds(), 2u);
}

TEST(OpLogTest, WhatComesLateIsCountedInTheFirstOpenSecond) {
  OpLog log(1);
  log.Record(0, 0, 1, 10);
  log.Record(1, 0, 1, 10);
  log.CloseBefore(1);
  log.Record(0, 0, 7, 30);
  EXPECT_EQ(log.Read(0, 0).count, 1u);
  EXPECT_EQ(log.Read(1, 0).count, 2u);
  EXPECT_EQ(log.rows(0), 9u);
  EXPECT_EQ(log.Latency(0).max_us(), 30u);
}

TEST(OpLogTest, SecondsWithoutAnOperationAreNotClosedBeforeTheyAreOpen) {
  OpLog log(1);
  log.CloseBefore(5);
  log.Record(4, 0, 1, 10);
  EXPECT_EQ(log.Read(4, 0).count, 1u);
  EXPECT_EQ(log.seconds(), 5u);
}

TEST(OpLogTest, ThreadsLoseNothing) {
  OpLog log(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&log] {
      for (size_t second = 0; second < 100; ++second) {
        log.Record(second, 0, 2, 5);
        if (second > 1) log.CloseBefore(second - 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t count = 0;
  for (size_t second = 0; second < log.seconds(); ++second) count += log.Read(second, 0).count;
  EXPECT_EQ(count, 400u);
  EXPECT_EQ(log.rows(0), 800u);
}

}  // namespace
}  // namespace tidesdb::lab
