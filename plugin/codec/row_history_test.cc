#include "codec/row_history.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "codec/row_codec.h"
#include "codec/table_def.h"

namespace tidesdb::plugin {
namespace {

// A table of nullable INTs and VARCHAR(20)s, in changing order.
struct Table {
  struct Field {
    std::string name;
    bool varying;
  };
  explicit Table(std::vector<Field> all) : fields(std::move(all)) {
    uint32_t offset = 1;
    std::vector<Column> columns;
    for (size_t i = 0; i < fields.size(); i++) {
      Column column;
      column.layout = fields[i].varying ? Column::Layout::kVarying : Column::Layout::kFixed;
      column.length_bytes = fields[i].varying ? 1 : 0;
      column.bytes = fields[i].varying ? 20 : 4;
      column.null_mask = static_cast<uint8_t>(1 << i);
      column.offset = offset;
      offset += column.bytes + column.length_bytes;
      columns.push_back(column);
    }
    defaults.assign(offset, '\0');
    defaults[0] = static_cast<char>((1 << fields.size()) - 1);
    codec.Build(std::move(columns), 1, reinterpret_cast<const uint8_t*>(defaults.data()));
  }

  // A value "" is NULL. INTs are written as 4 bytes.
  std::string Row(const std::vector<std::string>& values) const {
    std::string record = defaults;
    auto* const bytes = reinterpret_cast<uint8_t*>(record.data());
    for (size_t i = 0; i < fields.size(); i++) {
      const Column& column = codec.columns()[i];
      if (values[i].empty()) continue;
      bytes[0] = static_cast<uint8_t>(bytes[0] & ~column.null_mask);
      EXPECT_TRUE(StoreRawValue(column, values[i], bytes));
    }
    std::string row;
    codec.Encode(bytes, &row);
    return row;
  }

  std::vector<std::string> Read(Slice row, const std::vector<bool>& wanted = {}) const {
    RowPlan plan;
    plan.Build(codec, wanted.empty() ? std::vector<bool>(fields.size(), true) : wanted);
    std::string record(defaults.size(), '\xee');
    auto* const bytes = reinterpret_cast<uint8_t*>(record.data());
    std::vector<ApartValue> apart;
    const Status decoded = plan.Decode(row, bytes, &apart);
    if (!decoded.ok()) return {decoded.ToString()};
    std::vector<std::string> values;
    for (const Column& column : codec.columns()) {
      values.emplace_back(IsNull(column, bytes) ? Slice() : RawValue(column, bytes));
    }
    return values;
  }

  std::vector<Field> fields;
  std::string defaults;
  RowCodec codec;
};

ColumnOrigin From(int before) { return {before, {}}; }
ColumnOrigin Added(const char* value) { return {-1, {0, false, value}}; }

class RowHistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(AddRowVersion(one.codec.Describe(), two.codec.Describe(),
                              {From(2), Added("new"), From(0)}, "frm1", &history));
    ASSERT_TRUE(two.codec.SetHistory(&history, history.newest()).ok());
    ASSERT_TRUE(AddRowVersion(two.codec.Describe(), three.codec.Describe(),
                              {From(1), From(2), {-1, {0, true, ""}}, From(0)}, "frm2", &history));
    ASSERT_TRUE(two.codec.SetHistory(&history, 1).ok());
    ASSERT_TRUE(three.codec.SetHistory(&history, history.newest()).ok());
  }

  Table one{{{"a", false}, {"b", true}, {"c", true}}};
  Table two{{{"c", true}, {"d", true}, {"a", false}}};                  // b dropped, d added.
  Table three{{{"d", true}, {"a", false}, {"b", false}, {"c", true}}};  // A new column b.
  RowHistory history;
};

using Values = std::vector<std::string>;

TEST_F(RowHistoryTest, OldRowsAreReadAsTheTableIsNow) {
  const std::string first = one.Row({"aaaa", "b", "cc"});
  const std::string second = two.Row({"cc", "ddd", ""});
  const std::string third = three.Row({"d", "aaaa", "bbbb", "c"});
  EXPECT_EQ(two.Read(first), Values({"cc", "new", "aaaa"}));
  EXPECT_EQ(three.Read(first), Values({"new", "aaaa", "", "cc"}));
  EXPECT_EQ(three.Read(second), Values({"ddd", "", "", "cc"}));
  EXPECT_EQ(three.Read(third), Values({"d", "aaaa", "bbbb", "c"}));
  EXPECT_EQ(three.Read(one.Row({"", "", ""})), Values({"new", "", "", ""}));
}

TEST_F(RowHistoryTest, OnlyWantedColumnsAreRead) {
  const std::string first = one.Row({"aaaa", "b", "cc"});
  const Values values = three.Read(first, {false, true, false, false});
  EXPECT_EQ(values[1], "aaaa");
}

TEST_F(RowHistoryTest, ValuesApartOfOldRowsAreFound) {
  const auto referring = [](const Table& table, const std::vector<ApartValue>& refers) {
    std::string record = table.defaults;
    record[0] = 0;
    std::string row;
    table.codec.Encode(reinterpret_cast<const uint8_t*>(record.data()), refers, &row);
    return row;
  };
  const std::string first = referring(one, {{}, {1, 100, 11}, {2, 200, 22}});
  const std::string third = referring(three, {{}, {}, {}, {3, 300, 33}});
  RowPlan plan;
  plan.Build(three.codec, std::vector<bool>(4, true));
  std::string record(three.defaults.size(), '\xee');
  auto* const bytes = reinterpret_cast<uint8_t*>(record.data());
  std::vector<ApartValue> apart;
  ASSERT_TRUE(plan.Decode(first, bytes, &apart).ok());
  ASSERT_EQ(apart.size(), 1u);
  EXPECT_EQ(apart[0].column, 3u);
  EXPECT_EQ(apart[0].id, 22u);
  ASSERT_TRUE(three.codec.ListApart(first, &apart).ok());
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_EQ(apart[0].column, ApartValue::kNoColumn);
  EXPECT_EQ(apart[0].id, 11u);
  EXPECT_EQ(apart[1].column, 3u);
  EXPECT_EQ(apart[1].bytes, 200u);
  ASSERT_TRUE(two.codec.ListApart(third, &apart).ok());
  ASSERT_EQ(apart.size(), 1u);
  EXPECT_EQ(apart[0].column, 0u);
  for (size_t n = 0; n < third.size(); n++) {
    EXPECT_FALSE(two.codec.ListApart(Slice(third).substr(0, n), &apart).ok()) << n;
  }
}

TEST_F(RowHistoryTest, AnOlderDefinitionReadsNewerRows) {
  EXPECT_EQ(history.VersionOf("frm1"), 0u);
  EXPECT_EQ(history.VersionOf("frm2"), 1u);
  EXPECT_EQ(history.VersionOf("of no version"), 2u);
  EXPECT_EQ(history.VersionOf(""), 2u);
  ASSERT_TRUE(one.codec.SetHistory(&history, 0).ok());
  const std::string third = three.Row({"d", "aaaa", "bbbb", "c"});
  EXPECT_EQ(one.Read(third), Values({"aaaa", "", "c"}));
  EXPECT_EQ(two.Read(third), Values({"c", "d", "aaaa"}));
}

TEST_F(RowHistoryTest, ADefinitionOfOtherColumnsIsAnError) {
  EXPECT_EQ(one.codec.SetHistory(&history, 2).code(), Code::kCorruption);
  EXPECT_EQ(two.codec.SetHistory(&history, 0).code(), Code::kCorruption);
  EXPECT_TRUE(one.codec.SetHistory(nullptr, 0).ok());
}

TEST_F(RowHistoryTest, RowsOfUnknownVersionsAndShortRowsAreErrors) {
  std::string third = three.Row({"d", "aaaa", "bbbb", "c"});
  const std::string first = one.Row({"aaaa", "b", "cc"});
  for (size_t n = 0; n < first.size(); n++) {
    EXPECT_EQ(three.Read(Slice(first).substr(0, n)).size(), 1u) << n;
  }
  for (size_t n = 0; n < third.size(); n++) {
    EXPECT_EQ(two.Read(Slice(third).substr(0, n)).size(), 1u) << n;
  }
  third[2] = 3;
  EXPECT_EQ(three.Read(third).size(), 1u);
}

TEST_F(RowHistoryTest, WhatLooksTheSameIsNoNewVersion) {
  ASSERT_TRUE(AddRowVersion(three.codec.Describe(), three.codec.Describe(),
                            {From(0), From(1), From(2), From(3)}, "frm3", &history));
  EXPECT_EQ(history.versions.size(), 3u);
  EXPECT_FALSE(AddRowVersion(three.codec.Describe(), three.codec.Describe(),
                             {From(1), From(0), From(2), From(3)}, "frm3", &history));
}

TEST_F(RowHistoryTest, TheNumberOfVersionsIsBounded) {
  size_t added = 0;
  while (AddRowVersion(three.codec.Describe(), three.codec.Describe(),
                       {From(0), From(1), Added("four"), From(3)}, "frm", &history)) {
    added++;
  }
  EXPECT_EQ(added, RowHistory::kVersionsMax - 3);
  EXPECT_EQ(history.defaults.size(), 2u);  // Of d and the newest b.
}

TEST_F(RowHistoryTest, IsStoredInTheTablesEntry) {
  TableDef def;
  def.frm_version = "newest";
  def.history = history;
  std::string bytes;
  EncodeTableDef(def, &bytes);
  EXPECT_EQ(bytes[0], 2);
  const auto back = DecodeTableDef(bytes);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->frm_version, "newest");
  EXPECT_EQ(back->history.next_id, history.next_id);
  ASSERT_EQ(back->history.versions.size(), 3u);
  EXPECT_EQ(back->history.versions[1].frm_version, "frm2");
  EXPECT_EQ(back->history.versions[2].columns, history.versions[2].columns);
  ASSERT_NE(back->history.FindDefault(3), nullptr);
  EXPECT_EQ(back->history.FindDefault(3)->value, "new");
  for (size_t n = 0; n < bytes.size(); n++) {
    EXPECT_EQ(DecodeTableDef(Slice(bytes).substr(0, n)).status().code(), Code::kCorruption) << n;
  }
}

}  // namespace
}  // namespace tidesdb::plugin
