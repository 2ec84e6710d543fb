// JSON and terminal texts, and the quoting of SQL.
#include <gtest/gtest.h>

#include <limits>

#include "lab/generators/common/client.h"
#include "lab/generators/common/result_parts.h"
#include "lab/generators/common/terminal.h"

namespace tidesdb::lab {
namespace {

TEST(JsonTest, EveryByteOfAServerIsText) {
  EXPECT_EQ(JsonText(Json::array({ServerText("a\"b\\c\nd\x01\xe9")})),
            "[\"a\\\"b\\\\c\\nd\\u0001\\u00e9\"]\n");
  EXPECT_EQ(JsonText(Json("half \xe9")), "\"half \\ufffd\"\n");
}

TEST(JsonTest, ARealIsRoundedAndWhatIsNoNumberIsNull) {
  EXPECT_EQ(JsonText(Json::array({Rounded(std::numeric_limits<double>::quiet_NaN()),
                                  Rounded(0.12345), Rounded(12.34, 1)})),
            "[null,0.123,12.3]\n");
}

TEST(TerminalTest, AlignsColumns) {
  EXPECT_EQ(FormatTable({{"", "count"}, {"NEWORD", "1"}, {"A", "12,345"}}, 1),
            "         count\n"
            "NEWORD       1\n"
            "A       12,345\n");
}

TEST(TerminalTest, WritesNumbersForPeople) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatDuration(4.4), "4 s");
  EXPECT_EQ(FormatDuration(185), "3 min 5 s");
  EXPECT_EQ(FormatDuration(3720), "1 h 2 min");
  EXPECT_EQ(FormatMs(1234), "1.23");
  EXPECT_EQ(FormatMs(45678), "45.7");
  EXPECT_EQ(FormatMs(3500000), "3500");
}

TEST(QuoteTest, NamesAndTexts) {
  EXPECT_EQ(QuoteName("tpcc"), "`tpcc`");
  EXPECT_EQ(QuoteName("a`b"), "`a``b`");
  EXPECT_EQ(QuoteText("it's \\"), "'it''s \\\\'");
  EXPECT_EQ(ToInt(std::nullopt), 0);
  EXPECT_EQ(ToInt("-42"), -42);
}

}  // namespace
}  // namespace tidesdb::lab
