// Loads through the public interface: beside writers, given up, refused, and across a crash.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>

#include "base/failpoint.h"
#include "base/random.h"
#include "base/test_seed.h"
#include "base/thread.h"
#include "db/db_test_util.h"
#include "io/env.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"
#include "tidesdb/limits.h"

namespace tidesdb {
namespace {

using Rows = std::map<std::string, std::string>;

std::string Key(uint64_t n) { return "key" + std::to_string(1'000'000 + n); }

class DbLoadTest : public testing::Test {
 protected:
  DbLoadTest() : fs_(std::make_unique<MemFs>(1)) {
    options_.memtable_bytes = 64 << 10;
    options_.wal_segment_bytes = 64 << 10;
    options_.memory_max_bytes = 64 << 20;
    Open();
    EXPECT_TRUE(db_->CreateFamily(FamilyOptions("data")).ok());
  }
  ~DbLoadTest() override { Close(); }

  static ColumnFamilyOptions FamilyOptions(const std::string& name) {
    ColumnFamilyOptions family;
    family.name = name;
    family.target_file_bytes = 64 << 10;
    return family;
  }
  void Open() {
    env_ = EnvOn(fs_.get());
    options_.env = &env_;
    auto db = Db::Open(options_, "/db");
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    db_ = std::move(db).value();
  }
  void Close() {
    if (db_ == nullptr) return;
    EXPECT_TRUE(db_->Close().ok());
    db_.reset();
  }
  // Continues from the state after a power cut now.
  void Crash() {
    auto after = fs_->CrashClone(TestSeed(1));
    Close();
    fs_ = std::move(after);
    Open();
  }
  ColumnFamily* Data() { return db_->FindFamily("data"); }

  std::unique_ptr<Load> Begin() {
    LoadOptions options;
    options.memory_bytes = 64 << 10;
    auto load = db_->BeginLoad(Data(), options);
    EXPECT_TRUE(load.ok()) << load.status().ToString();
    return load.ok() ? std::move(load).value() : nullptr;
  }
  // Backwards, so that there is something to sort.
  static void AddAll(Load* load, uint64_t count) {
    for (uint64_t i = count; i-- > 0;) {
      const Status added = load->Add(Key(i), "loaded");
      ASSERT_TRUE(added.ok()) << added.ToString();
    }
  }
  void Write(const std::string& key, const char* value) {
    auto txn = db_->Begin({});
    const Status status =
        value == nullptr ? txn->Delete(Data(), key) : txn->Put(Data(), key, value);
    ASSERT_TRUE(status.ok()) << status.ToString();
    const Status committed = txn->Commit();
    ASSERT_TRUE(committed.ok()) << committed.ToString();
  }
  static Rows Read(Transaction* txn, ColumnFamily* family) {
    Rows rows;
    const auto scan = txn->NewIterator(family, {});
    for (scan->SeekToFirst(); scan->Valid(); scan->Next()) {
      rows[std::string(scan->key())] = scan->value();
    }
    EXPECT_TRUE(scan->status().ok()) << scan->status().ToString();
    return rows;
  }
  Rows Read() {
    const auto txn = db_->Begin({});
    return Read(txn.get(), Data());
  }
  size_t TableFiles() {
    size_t count = 0;
    const std::vector<std::string> names = fs_->List("/db").value();
    for (const std::string& name : names) count += name.ends_with(".tdb") ? 1 : 0;
    return count;
  }

  std::unique_ptr<MemFs> fs_;
  Env env_;
  Options options_;
  std::unique_ptr<Db> db_;
};

TEST_F(DbLoadTest, IsThereAndDurable) {
  const auto load = Begin();
  AddAll(load.get(), 5000);
  ASSERT_TRUE(load->Finish().ok());
  EXPECT_TRUE(Read().empty());
  ASSERT_TRUE(load->Commit().ok());
  EXPECT_EQ(Read().size(), 5000u);
  EXPECT_EQ(load->Add("a", "b").code(), Code::kInvalidArgument);
  EXPECT_EQ(load->Commit().code(), Code::kInvalidArgument);
}

TEST_F(DbLoadTest, SurvivesAPowerCutWithWhatWasCommittedBefore) {
  options_.sync_mode = SyncMode::kNone;
  Close();
  Open();
  EXPECT_TRUE(db_->CreateFamily(FamilyOptions("other")).ok());
  {
    auto txn = db_->Begin({});
    ASSERT_TRUE(txn->Put(db_->FindFamily("other"), "before", "1").ok());
    ASSERT_TRUE(txn->Commit().ok());
    const auto load = Begin();
    AddAll(load.get(), 3000);
    ASSERT_TRUE(load->Commit().ok());
  }
  Crash();
  EXPECT_EQ(Read().size(), 3000u);
  EXPECT_EQ(Read(db_->Begin({}).get(), db_->FindFamily("other")).size(), 1u);
}

TEST_F(DbLoadTest, WhatIsWrittenMeanwhileStays) {
  auto load = Begin();
  Write(Key(1), nullptr);
  Write(Key(2), "written");
  ASSERT_TRUE(db_->Compact(Data()).ok());
  AddAll(load.get(), 3000);
  Write(Key(3), nullptr);
  Write(Key(4), "written");
  ASSERT_TRUE(db_->Flush().ok());
  ASSERT_TRUE(load->Commit().ok());
  Write(Key(5), nullptr);
  const auto check = [&] {
    const Rows rows = Read();
    EXPECT_EQ(rows.size(), 2997u);
    EXPECT_EQ(rows.count(Key(1)) + rows.count(Key(3)) + rows.count(Key(5)), 0u);
    EXPECT_EQ(rows.at(Key(2)), "written");
    EXPECT_EQ(rows.at(Key(4)), "written");
  };
  check();
  ASSERT_TRUE(db_->Compact(Data()).ok());
  check();
  load = nullptr;
  Crash();
  check();
}

TEST_F(DbLoadTest, SnapshotsFromBeforeSeeNothingOfIt) {
  EXPECT_TRUE(db_->CreateFamily(FamilyOptions("other")).ok());
  const auto before = db_->Begin({});
  before->SetSnapshot();
  auto other = db_->Begin({});
  ASSERT_TRUE(other->Put(db_->FindFamily("other"), "a", "1").ok());
  ASSERT_TRUE(other->Commit().ok());
  const auto load = Begin();
  const auto after = db_->Begin({});
  after->SetSnapshot();
  AddAll(load.get(), 10);
  ASSERT_TRUE(load->Commit().ok());
  EXPECT_EQ(Read(before.get(), Data()).size(), 0u);
  EXPECT_EQ(Read(after.get(), Data()).size(), 10u);
}

TEST_F(DbLoadTest, GivenUpItLeavesNothing) {
  {
    const auto load = Begin();
    AddAll(load.get(), 3000);
    ASSERT_TRUE(load->Finish().ok());
    EXPECT_GT(TableFiles(), 0u);
  }
  EXPECT_EQ(TableFiles(), 0u);
  EXPECT_TRUE(Read().empty());
  EXPECT_NE(Begin(), nullptr);
}

TEST_F(DbLoadTest, ACrashBeforeCommitLeavesNothing) {
  auto load = Begin();
  AddAll(load.get(), 3000);
  ASSERT_TRUE(load->Finish().ok());
  auto after = fs_->CrashClone(1);
  load = nullptr;
  Close();
  fs_ = std::move(after);
  Open();
  EXPECT_EQ(TableFiles(), 0u);
  EXPECT_TRUE(Read().empty());
}

TEST_F(DbLoadTest, OfATransactionSurvivesAPowerCutOnceItIsCommitted) {
  for (const bool committed : {false, true}) {
    auto txn = db_->Begin({});
    {
      auto load = txn->BeginLoad(Data(), {.memory_bytes = 64 << 10, .on_written = nullptr});
      ASSERT_TRUE(load.ok()) << load.status().ToString();
      AddAll(load->get(), 5000);
      ASSERT_TRUE((*load)->Commit().ok());
    }
    if (committed) {
      ASSERT_TRUE(txn->Commit().ok());
    }
    txn.reset();
    Crash();
    EXPECT_EQ(Read().size(), committed ? 5000u : 0u);
    EXPECT_EQ(TableFiles() > 0, committed);
  }
  EXPECT_TRUE(db_->Verify(Data(), VerifyDepth::kAll).ok());
}

// A load of the database and a transaction's load of one family: neither starts beside the other.
TEST_F(DbLoadTest, OfATransactionBesideOneOfTheDatabase) {
  const auto load = Begin();
  AddAll(load.get(), 100);
  auto txn = db_->Begin({});
  auto own = txn->BeginLoad(Data(), {});
  ASSERT_TRUE(own.ok());
  ASSERT_TRUE((*own)->Add(Key(7), "own").ok());
  ASSERT_TRUE((*own)->Commit().ok());
  ASSERT_TRUE(txn->Commit().ok());
  ASSERT_TRUE(load->Commit().ok());
  const Rows rows = Read();
  EXPECT_EQ(rows.size(), 100u);
  EXPECT_EQ(rows.at(Key(7)), "own");  // Newer than the start of the other.
}

TEST_F(DbLoadTest, TwoEntriesOfOneKeyAreAnError) {
  const auto load = Begin();
  AddAll(load.get(), 3000);
  ASSERT_TRUE(load->Add(Key(17), "again").ok());
  EXPECT_EQ(load->Finish().code(), Code::kAlreadyExists);
  EXPECT_EQ(load->duplicate_key(), Key(17));
  EXPECT_EQ(load->Commit().code(), Code::kInvalidArgument);
}

TEST_F(DbLoadTest, MisuseIsRefused) {
  {
    const auto load = Begin();
    EXPECT_EQ(db_->BeginLoad(Data(), {}).status().code(), Code::kBusy);
    EXPECT_EQ(db_->BeginLoad(nullptr, {}).status().code(), Code::kInvalidArgument);
    EXPECT_EQ(db_->Close().code(), Code::kBusy);
    EXPECT_EQ(load->Add(std::string(kKeyBytesMax + 1, 'k'), "").code(), Code::kInvalidArgument);
  }
  {
    auto small = db_->BeginLoad(Data(), {.memory_bytes = 0, .on_written = nullptr});
    ASSERT_TRUE(small.ok());
    ASSERT_TRUE((*small)->Finish().ok());
    EXPECT_EQ((*small)->Add("a", "b").code(), Code::kInvalidArgument);
    EXPECT_EQ((*small)->Finish().code(), Code::kInvalidArgument);
    ASSERT_TRUE((*small)->Commit().ok());
    EXPECT_EQ((*small)->Add("a", "b").code(), Code::kInvalidArgument);
    EXPECT_EQ((*small)->Finish().code(), Code::kInvalidArgument);
    EXPECT_EQ((*small)->Commit().code(), Code::kInvalidArgument);
  }
  Write("a", "b");
  EXPECT_EQ(db_->BeginLoad(Data(), {}).status().code(), Code::kInvalidArgument);
  auto family = db_->CreateFamily(FamilyOptions("gone"));
  ASSERT_TRUE(family.ok());
  auto load = db_->BeginLoad(*family, {});
  ASSERT_TRUE(load.ok());
  ASSERT_TRUE((*load)->Add("a", "b").ok());
  ASSERT_TRUE((*load)->Finish().ok());
  ASSERT_TRUE(db_->DropFamily(*family).ok());
  EXPECT_EQ((*load)->Commit().code(), Code::kInvalidArgument);
}

// With others it takes what transactions may take, and the cache makes room.
TEST_F(DbLoadTest, ItsMemoryCounts) {
  for (const bool crowded : {false, true}) {
    auto other = db_->Begin({});
    const std::string large(1000, 'v');
    for (uint64_t i = 0; crowded && db_->GetStats().transaction_bytes < 13u << 20; ++i) {
      PinnedValue value;
      const std::string key = large + Key(i);
      ASSERT_TRUE(
          other->GetForUpdate(Data(), key, LockMode::kShared, LockWait::kNoWait, &value).ok());
    }
    const uint64_t before = db_->GetStats().transaction_bytes;
    auto load = db_->BeginLoad(Data(), {.memory_bytes = 16 << 20, .on_written = nullptr});
    ASSERT_TRUE(load.ok());
    AddAll(load->get(), 100'000);
    const uint64_t taken = db_->GetStats().transaction_bytes - before;
    EXPECT_EQ(taken > 3u << 20, !crowded) << taken;
    load->reset();
    EXPECT_LT(db_->GetStats().transaction_bytes, before + (100 << 10));
  }
}

TEST_F(DbLoadTest, IsInTheCacheAsFarAsThereIsRoom) {
  Write("used", "by others");
  ASSERT_TRUE(db_->Flush().ok());
  for (const bool room : {true, false}) {
    SCOPED_TRACE(room);
    options_.block_cache_bytes = room ? 8 << 20 : 256 << 10;
    Close();
    Open();
    ASSERT_EQ(Read().size(), 1u);
    const std::string name = room ? "fits" : "large";
    ASSERT_TRUE(db_->CreateFamily(FamilyOptions(name)).ok());
    ColumnFamily* const family = db_->FindFamily(name);
    auto load = db_->BeginLoad(family, {.memory_bytes = 64 << 10, .on_written = nullptr});
    ASSERT_TRUE(load.ok());
    AddAll(load->get(), 30'000);
    ASSERT_TRUE((*load)->Commit().ok());
    const auto misses = [this, before = db_->GetStats().cache_misses] {
      return db_->GetStats().cache_misses - before;
    };
    ASSERT_EQ(Read().size(), 1u);
    EXPECT_EQ(misses(), 0u);
    EXPECT_EQ(Read(db_->Begin({}).get(), family).size(), 30'000u);
    EXPECT_EQ(misses() == 0, room) << misses();
  }
}

TEST_F(DbLoadTest, OutlivesItsDbWithErrors) {
  auto load = Begin();
  AddAll(load.get(), 100);
  db_.reset();
  EXPECT_EQ(load->Add("a", "b").code(), Code::kShuttingDown);
  EXPECT_EQ(load->Commit().code(), Code::kShuttingDown);
}

// Writers with known sums beside a load, with flushes and compactions all the time.
TEST_F(DbLoadTest, BesideWriters) {
  constexpr uint64_t kKeys = 2000;
  for (int round = 0; round < 5; ++round) {
    const std::string name = "round" + std::to_string(round);
    ASSERT_TRUE(db_->CreateFamily(FamilyOptions(name)).ok());
    ColumnFamily* const family = db_->FindFamily(name);
    LoadOptions options;
    options.memory_bytes = 64 << 10;
    auto load = db_->BeginLoad(family, options);
    ASSERT_TRUE(load.ok());
    Rows written;  // "" for deleted.
    std::atomic<bool> stop = false;
    Thread writer("writer", [&] {
      Random random(static_cast<uint64_t>(round) + TestSeed(1));
      while (!stop.load()) {
        const std::string key = Key(random.Uniform(kKeys));
        auto txn = db_->Begin({});
        const bool put = random.OneIn(2);
        CHECK_OK(put ? txn->Put(family, key, "written") : txn->Delete(family, key));
        CHECK_OK(txn->Commit());
        written[key] = put ? "written" : "";
        if (random.OneIn(300)) CHECK_OK(db_->Compact(family));
      }
    });
    for (uint64_t i = kKeys; i-- > 0;) ASSERT_TRUE((*load)->Add(Key(i), "loaded").ok());
    const Status committed = (*load)->Commit();
    stop = true;
    writer.Join();
    ASSERT_TRUE(committed.ok()) << committed.ToString();
    const Rows rows = Read(db_->Begin({}).get(), family);
    for (uint64_t i = 0; i < kKeys; ++i) {
      const auto wrote = written.find(Key(i));
      const std::string wanted = wrote == written.end() ? "loaded" : wrote->second;
      const auto row = rows.find(Key(i));
      ASSERT_EQ(row == rows.end() ? "" : row->second, wanted) << Key(i);
    }
  }
}

}  // namespace
}  // namespace tidesdb
