// A log that lost a part is refused by name, wherever it was cut.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "io/env.h"
#include "io/file_names.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"

namespace tidesdb {
namespace {

constexpr const char* kSegment = "/db/000001.wal";

class LostFilesTest : public testing::Test {
 protected:
  LostFilesTest() {
    env_ = *Env::Default();
    env_.is_real = false;
    options_.env = &env_;
    options_.wal_segment_bytes = 64 << 10;
    options_.memory_max_bytes = 64 << 20;
    UseDisk(std::make_unique<MemFs>());
    Open();
    ColumnFamilyOptions family;
    family.name = "data";
    EXPECT_TRUE(db_->CreateFamily(family).ok());
    for (int i = 0; i < 10; ++i) Put("key" + std::to_string(i));
  }

  void UseDisk(std::unique_ptr<MemFs> fs) {
    fs_ = std::move(fs);
    env_.fs = fs_.get();
  }
  void Open() {
    auto db = Db::Open(options_, "/db");
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    db_ = std::move(db).value();
  }
  void Close() {
    ASSERT_TRUE(db_->Close().ok());
    db_.reset();
  }
  // As after kill -9.
  void Kill() {
    auto disk = fs_->CleanClone();
    db_.reset();
    UseDisk(std::move(disk));
  }

  void Put(const std::string& key) {
    auto txn = db_->Begin({});
    ASSERT_TRUE(txn->Put(db_->FindFamily("data"), key, "value").ok());
    ASSERT_TRUE(txn->Commit().ok());
  }
  size_t Keys() {
    size_t keys = 0;
    auto txn = db_->Begin({});
    auto it = txn->NewIterator(db_->FindFamily("data"), {});
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++keys;
    EXPECT_TRUE(it->status().ok());
    return keys;
  }

  void Cut(uint64_t bytes) {
    auto file = fs_->NewPositionalFile(kSegment, OpenMode::kKeep);
    ASSERT_TRUE(file.ok() && (*file)->Truncate(bytes).ok());
  }
  // The end of the last but one record.
  uint64_t ARecordsBorder() {
    auto file = fs_->NewRandomAccessFile(kSegment);
    std::string bytes((*file)->size(), '\0');
    const auto read = (*file)->ReadAt(0, bytes.size(), bytes.data());
    const size_t key = read->find("key9");
    EXPECT_NE(key, Slice::npos);
    // Frame 32, kind 1, sequence 8, count 4, tag 1, family 1, length 1.
    return key - 48;
  }

  // Each damage is refused with the file's name; with the option it is accepted, permanently.
  void Refused(const std::function<void()>& harm, const std::string& says, size_t keys_left) {
    harm();
    const auto db = Db::Open(options_, "/db");
    ASSERT_EQ(db.status().code(), Code::kCorruption) << db.status().ToString();
    EXPECT_NE(db.status().ToString().find(says), std::string::npos) << db.status().ToString();

    options_.open_damaged_log = true;
    Open();
    options_.open_damaged_log = false;
    EXPECT_EQ(Keys(), keys_left);
    Put("after");
    Kill();
    Open();
    EXPECT_EQ(Keys(), keys_left + 1);
    Close();
    Open();
    EXPECT_EQ(Keys(), keys_left + 1);
    Close();
  }

  Env env_;
  std::unique_ptr<MemFs> fs_;
  Options options_;
  std::unique_ptr<Db> db_;
};

constexpr const char* kWasSynced = "SYNCED says that it was synced up to /db/0";

TEST_F(LostFilesTest, TheLogIsEmptyAfterAKill) {
  Kill();
  Refused([&] { Cut(0); }, kWasSynced, 0);
}

TEST_F(LostFilesTest, TheLogsStartIsZeroAfterAKill) {
  Kill();
  Refused(
      [&] {
        auto file = fs_->NewPositionalFile(kSegment, OpenMode::kKeep);
        ASSERT_TRUE(file.ok() && (*file)->WriteAt(0, std::string(64, '\0')).ok());
      },
      kWasSynced, 0);
}

TEST_F(LostFilesTest, TheLogIsGoneAfterAKill) {
  Kill();
  Refused([&] { ASSERT_TRUE(fs_->Delete(kSegment).ok()); },
          std::string(kSegment) + " at offset 0: the log is missing; /db/" + kWasSynced, 0);
}

TEST_F(LostFilesTest, TheLogEndsEarlyAfterAKill) {
  Kill();
  Refused([&] { Cut(ARecordsBorder()); },
          std::string(kSegment) + " at offset " + std::to_string(ARecordsBorder()) +
              ": the log ends here, but /db/" + kWasSynced,
          9);
}

TEST_F(LostFilesTest, TheLogIsGoneAfterAShutdown) {
  Close();
  const auto all = [&] {
    const auto names = fs_->List("/db");
    for (const std::string& name : *names) {
      if (!name.ends_with(".wal")) continue;
      ASSERT_TRUE(fs_->Delete("/db/" + name).ok());
    }
  };
  Refused(all, ".wal at offset 0: the segment is missing", 10);
}

TEST_F(LostFilesTest, TheSegmentThatTheManifestNamesIsGone) {
  ASSERT_TRUE(db_->Flush().ok());
  Put("in the second");
  Kill();
  Refused([&] { ASSERT_TRUE(fs_->Delete("/db/000002.wal").ok()); }, "/db/000002.wal", 10);
}

// A prepared transaction keeps the log's start, whose commits are in table files already. What comes
// after the forgiven damage must not need forgiving too.
TEST_F(LostFilesTest, DamageBeforeWhatWasFlushedIsForgivenOnce) {
  for (const bool prepared_first : {false, true}) {
    SCOPED_TRACE(prepared_first);
    if (db_ != nullptr) Kill();
    UseDisk(std::make_unique<MemFs>());
    Open();
    ColumnFamilyOptions family;
    family.name = "data";
    ASSERT_TRUE(db_->CreateFamily(family).ok());
    const auto prepare = [&] {
      auto txn = db_->Begin({});
      ASSERT_TRUE(txn->Put(db_->FindFamily("data"), "prepared", "x").ok());
      ASSERT_TRUE(txn->PrepareNamed("p").ok());
    };
    if (prepared_first) prepare();
    for (int i = 0; i < 10; ++i) Put("key" + std::to_string(i));
    if (!prepared_first) prepare();
    ASSERT_TRUE(db_->Flush().ok());
    Put("in the second");
    Kill();
    fs_->FlipByte(kSegment, ARecordsBorder() + 40);
    EXPECT_EQ(Db::Open(options_, "/db").status().code(), Code::kCorruption);
    options_.open_damaged_log = true;
    Open();
    options_.open_damaged_log = false;
    EXPECT_EQ(Keys(), 10u);
    Put("after");
    Kill();
    Open();
    EXPECT_EQ(Keys(), 11u);
    Close();
    Open();
    EXPECT_EQ(Keys(), 11u);
    Close();
  }
}

TEST_F(LostFilesTest, AllButTheMarkIsGone) {
  Close();
  const auto names = fs_->List("/db");
  for (const std::string& name : *names) {
    if (name == "SYNCED" || name == "LOCK") continue;
    ASSERT_TRUE(fs_->Delete("/db/" + name).ok());
  }
  const auto db = Db::Open(options_, "/db");
  EXPECT_EQ(db.status().code(), Code::kCorruption) << db.status().ToString();
  EXPECT_NE(db.status().ToString().find("CURRENT: missing"), std::string::npos);
}

TEST_F(LostFilesTest, AnOlderDatabaseHasNoMark) {
  Close();
  ASSERT_TRUE(fs_->Delete("/db/SYNCED").ok());
  Open();
  EXPECT_EQ(Keys(), 10u);
  Close();
}

}  // namespace
}  // namespace tidesdb
