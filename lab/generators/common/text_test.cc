// JSON and terminal texts, and the quoting of SQL.
#include <gtest/gtest.h>

#include <limits>

#include "lab/generators/common/client.h"
#include "lab/generators/common/json.h"
#include "lab/generators/common/terminal.h"

namespace tidesdb::lab {
namespace {

TEST(JsonTest, NestsAndSeparates) {
  JsonWriter json;
  json.BeginObject();
  json.Key("a").Int(-1);
  json.Key("b").BeginArray(true).Unsigned(1).Real(2.5, 1).Null().Bool(true).EndArray();
  json.Key("empty").BeginObject().EndObject();
  json.EndObject();
  EXPECT_EQ(json.text(), "{\n \"a\": -1,\n \"b\": [1, 2.5, null, true],\n \"empty\": {}\n}\n");
}

TEST(JsonTest, EscapesEveryByteThatNeedsIt) {
  JsonWriter json;
  json.BeginArray(true).Text("a\"b\\c\nd\x01\xe9").EndArray();
  EXPECT_EQ(json.text(), "[\"a\\\"b\\\\c\\u000ad\\u0001\\u00e9\"]\n");
}

TEST(JsonTest, ARealThatIsNoNumberIsNull) {
  JsonWriter json;
  json.BeginArray(true).Real(std::numeric_limits<double>::quiet_NaN()).Real(1, 0).EndArray();
  EXPECT_EQ(json.text(), "[null, 1]\n");
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
