// A database of each format version, kept in the tree: it opens, has its contents, and can be written to.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "compat/contents.h"

namespace tidesdb::compat {
namespace {

namespace fs = std::filesystem;

class Compat : public testing::Test {
 protected:
  // A copy of the fixture, because opening changes it.
  void Copy(const std::string& version) {
    directory_ = fs::path(testing::TempDir()) / ("compat_" + version);
    fs::remove_all(directory_);
    fs::copy(fs::path(TIDESDB_FIXTURES) / version, directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::unique_ptr<Db> Open() {
    Options options = SmallFiles();
    options.create_if_missing = false;
    auto db = Db::Open(options, directory_.string());
    EXPECT_TRUE(db.ok()) << db.status().ToString();
    return db.ok() ? std::move(*db) : nullptr;
  }

  static void ExpectContents(Db* db, const Contents& wanted) {
    auto found = Read(db);
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    EXPECT_EQ(found->catalog, wanted.catalog);
    ASSERT_EQ(found->families.size(), wanted.families.size());
    for (const auto& [name, keys] : wanted.families) EXPECT_EQ(found->families[name], keys) << name;
  }

  void OpensAndTakesWrites(const std::string& version) {
    Copy(version);
    Contents wanted = ContentsOfV1();
    {
      auto db = Open();
      ASSERT_NE(db, nullptr);
      ExpectContents(db.get(), wanted);
      auto transaction = db->Begin({});
      for (auto& [name, keys] : wanted.families) {
        ASSERT_TRUE(transaction->Put(db->FindFamily(name), "written now", name).ok());
        keys["written now"] = name;
      }
      ASSERT_TRUE(transaction->Commit().ok());
      ASSERT_TRUE(db->Close().ok());
    }
    auto db = Open();
    ASSERT_NE(db, nullptr);
    ExpectContents(db.get(), wanted);
    // Merges files of both builds.
    ASSERT_TRUE(db->Flush().ok());
    for (ColumnFamily* family : db->ListFamilies()) ASSERT_TRUE(db->Compact(family).ok());
    ExpectContents(db.get(), wanted);
    ASSERT_TRUE(db->Close().ok());
  }

  // Otherwise the fixture would prove less than it seems to.
  void ExpectEveryKindOfFile(const std::string& version) {
    Copy(version);
    auto db = Open();
    ASSERT_NE(db, nullptr);
    for (ColumnFamily* family : db->ListFamilies()) {
      uint64_t levels = 0;
      for (const auto& level : db->GetFamilyStats(family).levels) levels += level.files > 0;
      EXPECT_GE(levels, 2U) << version << ": " << family->options().name;
    }
    ASSERT_TRUE(db->Close().ok());
  }

  void ExpectRuleForTombstones(const std::string& version, int trigger, uint64_t entries) {
    Copy(version);
    auto db = Open();
    ASSERT_NE(db, nullptr);
    for (ColumnFamily* family : db->ListFamilies()) {
      EXPECT_EQ(family->options().tombstone_density_trigger, trigger) << version;
      EXPECT_EQ(family->options().tombstone_density_min_entries, entries) << version;
    }
    ASSERT_TRUE(db->Close().ok());
  }

  fs::path directory_;
};

TEST_F(Compat, Version1) { OpensAndTakesWrites("v1"); }
TEST_F(Compat, Version2) { OpensAndTakesWrites("v2"); }

TEST_F(Compat, TheFixturesHaveEveryKindOfFile) {
  ExpectEveryKindOfFile("v1");
  ExpectEveryKindOfFile("v2");
}

TEST_F(Compat, FamiliesHaveTheirRuleForTombstones) {
  ExpectRuleForTombstones("v1", 0, 1024);
  ExpectRuleForTombstones("v2", kTombstoneTriggerOfV2, kTombstoneEntriesOfV2);
}

}  // namespace
}  // namespace tidesdb::compat
