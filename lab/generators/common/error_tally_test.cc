#include "lab/generators/common/error_tally.h"

#include <gtest/gtest.h>

namespace tidesdb::lab {
namespace {

TEST(ErrorTallyTest, CountsByNumberAndKeepsTheFirstMessage) {
  ErrorTally tally;
  tally.Add({1213, "40001", "first deadlock"}, "NEWORD");
  tally.Add({1213, "40001", "second deadlock"}, "PAYMENT");
  tally.Add({1205, "HY000", "timeout"}, "PAYMENT");
  EXPECT_EQ(tally.CountOf(1213), 2u);
  EXPECT_EQ(tally.CountOf(1205), 1u);
  EXPECT_EQ(tally.CountOf(1020), 0u);
  EXPECT_EQ(tally.entries().at(1213).first_message, "first deadlock");
  EXPECT_EQ(tally.entries().at(1213).first_where, "NEWORD");
  EXPECT_EQ(tally.unexpected(), 0u);
}

TEST(ErrorTallyTest, WhatIsNoConflictIsUnexpected) {
  ErrorTally tally;
  tally.Add({1020, "HY000", "changed"}, "DELIVERY");
  tally.Add({1180, "HY000", "Got error 149 during COMMIT"}, "NEWORD");
  EXPECT_EQ(tally.total(), 2u);
  EXPECT_EQ(tally.unexpected(), 1u);
}

TEST(ErrorTallyTest, MergeAddsAndKeepsOurFirst) {
  ErrorTally a;
  ErrorTally b;
  a.Add({1213, "40001", "ours"}, "NEWORD");
  b.Add({1213, "40001", "theirs"}, "NEWORD");
  b.Add({1205, "HY000", "theirs alone"}, "OSTAT");
  a.Merge(b);
  EXPECT_EQ(a.CountOf(1213), 2u);
  EXPECT_EQ(a.entries().at(1213).first_message, "ours");
  EXPECT_EQ(a.entries().at(1205).first_message, "theirs alone");
}

TEST(OutcomeTest, KnowsConflictsAndLostConnections) {
  EXPECT_TRUE(Outcome().ok());
  EXPECT_TRUE((Outcome{1205, "", ""}).is_conflict());
  EXPECT_FALSE((Outcome{1062, "", ""}).is_conflict());
  EXPECT_TRUE((Outcome{2013, "", ""}).is_lost());
  EXPECT_FALSE((Outcome{1213, "", ""}).is_lost());
  EXPECT_EQ(Outcome::Fail("no disk").ToString(), "no disk");
}

}  // namespace
}  // namespace tidesdb::lab
