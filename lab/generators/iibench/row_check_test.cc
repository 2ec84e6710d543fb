#include "lab/generators/iibench/row_check.h"

#include <gtest/gtest.h>

namespace tidesdb::lab::iibench {
namespace {

TableCheck Right() {
  return {"pi1", 100, {{"PRIMARY", 100, "", "", ""}, {"pi1_pdc", 100, "42", "42", ""}}};
}

TEST(RowCheckTest, WhatIsExpectedHolds) {
  EXPECT_TRUE(Right().Faults().empty());
  EXPECT_EQ(FormatChecks({Right()}), "  pi1: expected 100 rows, PRIMARY 100, pi1_pdc 100  holds\n");
}

TEST(RowCheckTest, EachCountCanBreakIt) {
  TableCheck check = Right();
  check.expected = 99;
  EXPECT_EQ(check.Faults().size(), 2u);
  check = Right();
  check.indexes[1].rows = 101;
  EXPECT_EQ(check.Faults(), (std::vector<std::string>{"pi1 by pi1_pdc: 101 rows, expected 100"}));
  EXPECT_NE(FormatChecks({check}).find("BROKEN"), std::string::npos);
}

TEST(RowCheckTest, AsManyRowsOfOtherValuesBreakIt) {
  TableCheck check = Right();
  check.indexes[1].sum = "43";
  ASSERT_EQ(check.Faults().size(), 1u);
  EXPECT_NE(check.Faults()[0].find("other values"), std::string::npos);
}

TEST(RowCheckTest, WithoutAnExpectationIndexesAreComparedWithThePrimaryKey) {
  TableCheck check = Right();
  check.expected.reset();
  EXPECT_TRUE(check.Faults().empty());
  check.indexes[0].rows = 99;
  EXPECT_EQ(check.Faults().size(), 1u);
}

TEST(RowCheckTest, WhatWasNotReadIsSaid) {
  TableCheck check = Right();
  check.indexes[1] = {"pi1_pdc", 0, "", "42", "the server would scan the table"};
  EXPECT_TRUE(check.Faults().empty());
  EXPECT_NE(FormatChecks({check}).find("pi1_pdc skipped (the server would scan the table)"),
            std::string::npos);
}

}  // namespace
}  // namespace tidesdb::lab::iibench
