// Waits for memory or for a flush end when the disk is full, and no acknowledged write is lost.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>

#include "base/thread.h"
#include "db/db_test_util.h"
#include "io/env.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"

namespace tidesdb {
namespace {

// For operations that end at once or never.
constexpr uint64_t kDeadlineUs = 60'000'000;
constexpr size_t kValueBytes = 4000;

class FailedFlushes final : public LogSink {
 public:
  void Log(LogLevel, Slice message) noexcept override {
    if (message.find("flushing a memtable") != Slice::npos) seen_.store(true);
    if (message.find("memory_max_bytes") != Slice::npos) cuts_.fetch_add(1);
  }
  bool seen() const { return seen_.load(); }
  int cuts() const { return cuts_.load(); }

 private:
  std::atomic<bool> seen_ = false;
  std::atomic<int> cuts_ = 0;
};

class FullDiskTest : public testing::Test {
 protected:
  FullDiskTest() {
    env_ = EnvOn(&fs_);
    options_.env = &env_;
    options_.log = &log_;
    // The memtables get 4 MiB of it, each of them 2.
    options_.memory_max_bytes = 16 << 20;
    options_.block_cache_bytes = 256 << 20;
    options_.memtable_bytes = 128 << 20;
    options_.sync_mode = SyncMode::kNone;
  }
  ~FullDiskTest() override {
    if (db_ == nullptr) return;
    EXPECT_TRUE(db_->Close().ok());
  }

  void Open() {
    auto db = Db::Open(options_, "/db");
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    db_ = std::move(db).value();
    family_ = db_->FindFamily("data");
    if (family_ != nullptr) return;
    ColumnFamilyOptions family_options;
    family_options.name = "data";
    auto family = db_->CreateFamily(family_options);
    ASSERT_TRUE(family.ok()) << family.status().ToString();
    family_ = *family;
  }

  // From now on no table file can be written; the log still has room.
  void FillDisk() {
    FaultRule rule;
    rule.op = IoOp::kWrite;
    rule.path_part = ".tdb";
    rule.kind = FaultRule::Kind::kNoSpace;
    rule.times = UINT64_MAX;
    fs_.AddFault(rule);
  }

  // Ends hanging work by making room, and reports it.
  void InTime(const char* what, const std::function<void()>& work) {
    std::atomic<bool> done = false;
    Thread thread("work", [&] {
      work();
      done.store(true);
    });
    const uint64_t end_us = env_.clock->NowMicros() + kDeadlineUs;
    while (!done.load() && env_.clock->NowMicros() < end_us) env_.clock->SleepMicros(1'000);
    if (!done.load()) {
      ADD_FAILURE() << what << " waits for a disk that stays full";
      fs_.ClearFaults();
    }
    thread.Join();
  }

  Status Put() {
    auto txn = db_->Begin({});
    TIDESDB_TRY(
        txn->Put(family_, std::to_string(1'000'000 + rows_), std::string(kValueBytes, 'v')));
    TIDESDB_TRY(txn->Commit());
    ++rows_;
    return Status::Ok();
  }
  // Puts until there is an error, and returns it; OK: several times the memory was written.
  Status PutUntilRefused() {
    for (int i = 0; i < 5000; ++i) TIDESDB_TRY(Put());
    return Status::Ok();
  }
  void ExpectAllRows() {
    auto txn = db_->Begin({});
    auto it = txn->NewIterator(family_, {});
    uint64_t found = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      EXPECT_EQ(it->key(), std::to_string(1'000'000 + found));
      ++found;
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    EXPECT_EQ(found, rows_);
  }

  MemFs fs_;
  Env env_;
  FailedFlushes log_;
  Options options_;
  std::unique_ptr<Db> db_;
  ColumnFamily* family_ = nullptr;
  uint64_t rows_ = 0;  // Acknowledged.
};

TEST_F(FullDiskTest, AWriterGetsTheFlushesErrorAndGoesOnWhenThereIsRoom) {
  Open();
  FillDisk();
  InTime("a writer", [&] { EXPECT_EQ(PutUntilRefused().code(), Code::kNoSpace); });
  // A writer that retries must not fill the memory bit by bit.
  InTime("a writer that tries again", [&] {
    for (int i = 0; i < 20; ++i) Put().IgnoreError();
  });
  EXPECT_LE(db_->GetStats().memtable_bytes, uint64_t{4} << 20 | uint64_t{512} << 10);
  ExpectAllRows();
  fs_.ClearFaults();
  InTime("a writer with room", [&] {
    while (!Put().ok()) env_.clock->SleepMicros(1'000);
    for (int i = 0; i < 2000; ++i) EXPECT_TRUE(Put().ok());
  });
  ExpectAllRows();
  ASSERT_TRUE(db_->Close().ok());
  Open();
  ExpectAllRows();
}

TEST_F(FullDiskTest, FlushAndCompactEndWithTheError) {
  Open();
  ASSERT_TRUE(Put().ok());
  FillDisk();
  InTime("Flush", [&] { EXPECT_EQ(db_->Flush().code(), Code::kNoSpace); });
  InTime("Compact", [&] { EXPECT_EQ(db_->Compact(family_).code(), Code::kNoSpace); });
  ExpectAllRows();
  fs_.ClearFaults();
  // An earlier failed flush does not count.
  InTime("Flush with room", [&] { EXPECT_TRUE(db_->Flush().ok()); });
  EXPECT_GT(db_->GetStats().table_files, 0u);
  ExpectAllRows();
}

TEST_F(FullDiskTest, CloseEndsWhileAFlushFails) {
  Open();
  FillDisk();
  InTime("a writer", [&] { EXPECT_EQ(PutUntilRefused().code(), Code::kNoSpace); });
  InTime("Close", [&] { EXPECT_TRUE(db_->Close().ok()); });
  fs_.ClearFaults();
  Open();
  ExpectAllRows();
}

// With room for less than two memtables, a writer would wait for a flush at each rotation.
TEST_F(FullDiskTest, OneMemtableFillsWhileAnotherIsFlushed) {
  Open();
  EXPECT_EQ(log_.cuts(), 2);  // Cache and memtable, each reported once.
  FillDisk();
  while (db_->GetStats().immutable_memtables == 0) {
    const Status status = Put();
    ASSERT_TRUE(status.ok()) << status.ToString() << " at row " << rows_;
  }
  InTime("a flush", [&] {
    while (!log_.seen()) env_.clock->SleepMicros(1'000);
  });
  const uint64_t before = rows_;
  InTime("a writer", [&] { EXPECT_EQ(PutUntilRefused().code(), Code::kNoSpace); });
  EXPECT_GE((rows_ - before) * kValueBytes, uint64_t{3} << 19);
}

}  // namespace
}  // namespace tidesdb
