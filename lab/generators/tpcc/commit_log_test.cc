#include "lab/generators/tpcc/commit_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "lab/generators/tpcc/verify.h"

namespace tidesdb::lab::tpcc {
namespace {

CommitRecord MustParse(std::string_view line) {
  const auto record = ParseRecord(line);
  EXPECT_TRUE(record.has_value()) << line;
  return record.value_or(CommitRecord());
}

TEST(CommitRecordTest, EveryKindComesBackAsItWas) {
  for (const std::string_view line : {
           "H tproc-c-commit-log 1 8",
           "B 1 10 3001 900 3000 3000000",
           "N 3 1 2 3005 17 11",
           "P 0 1 2 3 4 2999 5000 2026-01-31T23:59:59",
           "P 0 1 2 3 4 0 1 2026-01-31T23:59:59",
           "D 7 1 10 1:2101,2:2102,",
           "D 7 1 10 none",
           "D 7 1 10 -",
           "L 5",
           "E",
       }) {
    EXPECT_EQ(FormatRecord(MustParse(line)), std::string(line) + "\n");
  }
}

TEST(CommitRecordTest, FieldsAreWhereTheyBelong) {
  const CommitRecord order = MustParse("N 3 1 2 3005 17 11");
  EXPECT_EQ(order.user, 3);
  EXPECT_EQ(order.o_id, 3005);
  EXPECT_EQ(order.lines, 11);
  const CommitRecord payment = MustParse("P 0 1 2 3 4 5 6 2026-01-31T23:59:59");
  EXPECT_EQ(payment.c_w_id, 3);
  EXPECT_EQ(payment.amount, 6);
  EXPECT_EQ(payment.date, "2026-01-31 23:59:59");
  const CommitRecord delivery = MustParse("D 7 1 10 1:2101,2:2102,");
  ASSERT_EQ(delivery.delivered.size(), 2u);
  EXPECT_EQ(delivery.delivered[1], (std::pair<int, int>{2, 2102}));
}

TEST(CommitRecordTest, WhatIsNoRecordIsRefused) {
  for (const std::string_view line :
       {"", " ", "N", "N 3 1 2 3005 17", "N 3 1 2 3005 17 11 1", "N 3 1 2 x 17 11",
        "N 3  2 3005 17 11", "N 3 1 2 3005 17 11 ", "X 1", "H other 1 8",
        "H tproc-c-commit-log 2 8", "D 7 1 10 1:2101", "D 7 1 10 1-2101,", "D 7 1 10 :,", "L",
        "L five", "E 1", "NN 3 1 2 3005 17 11", "N 3 1 2 99999999999999999999 17 11"}) {
    EXPECT_FALSE(ParseRecord(line).has_value()) << line;
  }
}

TEST(CommitLogTest, AnUnfinishedLastLineIsLeftOut) {
  int records = 0;
  const auto count = [&records](const CommitRecord&) { ++records; };
  EXPECT_TRUE(ReadCommitLogText("H tproc-c-commit-log 1 2\nL 1\nN 3 1 2 30", "log", count).ok());
  EXPECT_EQ(records, 2);
}

TEST(CommitLogTest, DamageIsNamed) {
  const auto ignore = [](const CommitRecord&) {};
  EXPECT_EQ(ReadCommitLogText("H tproc-c-commit-log 1 2\nL\nE\n", "log", ignore).message,
            "commit log log, line 2: not a valid record");
  EXPECT_EQ(ReadCommitLogText("{\"kind\": 1}\n", "log", ignore).message,
            "commit log log, line 1: not a commit log of this version");
  EXPECT_EQ(ReadCommitLogText("", "log", ignore).message, "commit log log is empty");
}

TEST(CommitLogTest, AnExistingFileIsNotOverwritten) {
  const std::string path = testing::TempDir() + "/tpcc_commit_log_test_" + std::to_string(getpid());
  {
    CommitLog log;
    ASSERT_TRUE(log.Create(path).ok());
    ASSERT_TRUE(log.Append(MustParse("H tproc-c-commit-log 1 2")).ok());
    ASSERT_TRUE(log.Append(MustParse("N 3 1 2 3005 17 11")).ok());
  }
  CommitLog again;
  EXPECT_FALSE(again.Create(path).ok());
  LogContents contents;
  ASSERT_TRUE(ReadLogs({path}, &contents).ok());
  EXPECT_EQ(contents.new_orders.size(), 1u);
  EXPECT_EQ(contents.in_flight_max, 2)
      << "without an end record every user may have had one in flight";
  std::remove(path.c_str());
}

TEST(LogContentsTest, InFlightIsWhatBroke) {
  LogContents contents;
  const auto add = [&contents](const std::string& text) {
    ASSERT_TRUE(AddLog(text, "log", &contents).ok());
  };
  add("H tproc-c-commit-log 1 8\nB 1 1 3001 900 3000 3000000\nL 1\nL 2\nE\n");
  EXPECT_EQ(contents.in_flight_max, 2);
  add("H tproc-c-commit-log 1 8\nB 1 1 3005 900 3000 3000000\nE\n");
  EXPECT_EQ(contents.in_flight_max, 2);
  EXPECT_EQ(contents.bases.size(), 1u) << "the first log's base counts";
  add("H tproc-c-commit-log 1 8\n");
  EXPECT_EQ(contents.in_flight_max, 10);
}

}  // namespace
}  // namespace tidesdb::lab::tpcc
