#include "codec/table_def.h"

#include <gtest/gtest.h>

#include <random>

#include "codec/table_stats.h"

namespace tidesdb::plugin {
namespace {

TableDef Example() {
  TableDef def;
  def.primary_family = 17;
  def.indexes = {{"by_name", 18}, {"ü", 4000000000u}};
  def.hidden_key = true;
  def.created_s = 1700000000;
  def.auto_increment_base = ~uint64_t{0};
  def.auto_increment_generation = 3;
  return def;
}

void ExpectNoStartIsAnEntry(Slice bytes) {
  for (size_t n = 0; n < bytes.size(); n++) {
    EXPECT_EQ(DecodeTableDef(bytes.substr(0, n)).status().code(), Code::kCorruption) << n;
  }
}

TEST(TableDefTest, ComesBack) {
  std::string bytes;
  EncodeTableDef(Example(), &bytes);
  const auto back = DecodeTableDef(bytes);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->primary_family, 17u);
  ASSERT_EQ(back->indexes.size(), 2u);
  EXPECT_EQ(back->indexes[0].name, "by_name");
  EXPECT_EQ(back->indexes[1].family, 4000000000u);
  EXPECT_TRUE(back->hidden_key);
  EXPECT_FALSE(back->temporary);
  EXPECT_EQ(back->created_s, 1700000000u);
  EXPECT_EQ(back->auto_increment_base, ~uint64_t{0});
  EXPECT_EQ(back->auto_increment_generation, 3u);
}

TEST(TableDefTest, TheFamilyOfLongValuesComesBack) {
  TableDef def = Example();
  std::string bytes;
  EncodeTableDef(def, &bytes);
  EXPECT_EQ(bytes[0], 1);
  def.values_family = 99;
  EncodeTableDef(def, &bytes);
  EXPECT_EQ(bytes[0], 3);
  const auto back = DecodeTableDef(bytes);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->values_family, 99u);
  EXPECT_EQ(back->indexes[1].family, 4000000000u);
  ExpectNoStartIsAnEntry(bytes);
}

TEST(TableDefTest, FormsOfKeysComeBack) {
  TableDef def = Example();
  def.key_forms = kWeightsOfStarts;
  std::string bytes;
  EncodeTableDef(def, &bytes);
  EXPECT_EQ(bytes[0], 4);
  const auto back = DecodeTableDef(bytes);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->key_forms, kWeightsOfStarts);
  EXPECT_EQ(back->values_family, 0u);
  EXPECT_EQ(back->indexes[1].family, 4000000000u);
  ExpectNoStartIsAnEntry(bytes);
  for (const uint32_t forms : {uint32_t{kFixedBinary}, uint32_t{kKeyForms}}) {
    def.key_forms = forms;
    EncodeTableDef(def, &bytes);
    EXPECT_EQ(bytes[0], 5);
    const auto newest = DecodeTableDef(bytes);
    ASSERT_TRUE(newest.ok()) << newest.status().ToString();
    EXPECT_EQ(newest->key_forms, forms);
  }
  // An older format that has one, and newer ones without.
  bytes[0] = 3;
  EXPECT_EQ(DecodeTableDef(bytes).status().code(), Code::kCorruption);
  bytes[0] = 4;
  EXPECT_EQ(DecodeTableDef(bytes).status().code(), Code::kCorruption);
  EncodeTableDef(Example(), &bytes);
  bytes[0] = 4;
  EXPECT_EQ(DecodeTableDef(bytes).status().code(), Code::kCorruption);
}

TEST(TableDefTest, DamagedAndNewerEntriesAreErrors) {
  std::string bytes;
  EncodeTableDef(Example(), &bytes);
  ExpectNoStartIsAnEntry(bytes);
  EXPECT_EQ(DecodeTableDef(bytes + "x").status().code(), Code::kCorruption);
  bytes[0] = 9;
  EXPECT_EQ(DecodeTableDef(bytes).status().code(), Code::kNotSupported);
}

TEST(TableDefTest, EveryNameHasItsOwnEntry) {
  EXPECT_EQ(TableEntryName("a/b"), "t/a/b");
  EXPECT_NE(TableEntryName("a__b/c"), TableEntryName("a/b__c"));
}

TEST(TableStatsTest, ComesBackAndDamageIsAnError) {
  TableStats stats;
  stats.rows = 12345678901;
  stats.row_bytes = 77;
  stats.indexes = {{10, {1, 2, 3}}, {20, {}}};
  std::string bytes;
  EncodeTableStats(stats, &bytes);
  const auto back = DecodeTableStats(bytes);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->rows, stats.rows);
  EXPECT_EQ(back->row_bytes, 77u);
  ASSERT_EQ(back->indexes.size(), 2u);
  EXPECT_EQ(back->indexes[0].distinct, stats.indexes[0].distinct);
  EXPECT_EQ(back->indexes[1].entry_bytes, 20u);
  for (size_t n = 0; n < bytes.size(); n++) {
    EXPECT_FALSE(DecodeTableStats(Slice(bytes).substr(0, n)).ok()) << n;
  }
}

}  // namespace
}  // namespace tidesdb::plugin
