// Transaction::Prefetch through the public interface: what it reads, and what it leaves alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "db/db_test_util.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"
#include "tidesdb/instruments.h"

namespace tidesdb {
namespace {

// Counts reads of table files. While it holds reads back, each waits until `wanted` of them are under way.
class ReadWatch final : public Instruments {
 public:
  void ThreadBegins(const char*) noexcept override {}
  void ThreadEnds() noexcept override {}
  void CallBegins(FileCall* call) noexcept override {
    if (!Counts(*call)) return;
    MutexLock lock(mu_);
    ++reads_;
    most_ = std::max(most_, ++under_way_);
    changed_.NotifyAll();
    for (int turn = 0; turn < kTurnsMax && most_ < wanted_; ++turn) changed_.WaitFor(mu_, 10'000);
  }
  void CallEnds(FileCall* call) noexcept override {
    if (!Counts(*call)) return;
    MutexLock lock(mu_);
    --under_way_;
  }
  void WaitBegins(WaitCall*) noexcept override {}
  void WaitEnds(WaitCall*) noexcept override {}

  void HoldBack(int wanted) {
    MutexLock lock(mu_);
    wanted_ = wanted;
    most_ = 0;
  }
  int most() {
    MutexLock lock(mu_);
    return most_;
  }
  int reads() {
    MutexLock lock(mu_);
    return reads_;
  }

 private:
  static constexpr int kTurnsMax = 200;

  static bool Counts(const FileCall& call) {
    return call.kind == WatchedFile::kTable && call.action == FileAction::kRead;
  }

  Mutex mu_;
  CondVar changed_;
  int reads_ GUARDED_BY(mu_) = 0;
  int under_way_ GUARDED_BY(mu_) = 0;
  int most_ GUARDED_BY(mu_) = 0;
  int wanted_ GUARDED_BY(mu_) = 0;
};

std::string Key(int n) {
  char text[24];
  std::snprintf(text, sizeof text, "key%06d", n);
  return text;
}
std::string Value(int n) { return std::string(4'000, static_cast<char>('a' + n % 26)); }

class PrefetchTest : public testing::Test {
 protected:
  static constexpr int kRows = 400;

  PrefetchTest() {
    env_ = EnvOn(&fs_);
    options_.env = &env_;
    options_.instruments = &watch_;
    Open();
    ColumnFamilyOptions options;
    options.name = "data";
    auto family = db_->CreateFamily(options);
    CHECK(family.ok());
    family_ = *family;
    for (int n = 0; n < kRows; ++n) Write(n, Value(n));
    ToFiles();
  }
  ~PrefetchTest() override {
    if (db_ != nullptr) OK(db_->Close());
  }

  static void OK(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }
  void Open() {
    auto db = Db::Open(options_, "/db");
    CHECK(db.ok());
    db_ = std::move(db).value();
    family_ = db_->FindFamily("data");
  }
  void Write(int n, const std::string& value) {
    auto txn = db_->Begin({});
    OK(value.empty() ? txn->Delete(family_, Key(n)) : txn->Put(family_, Key(n), value));
    OK(txn->Commit());
  }
  // Everything written is in files, and no block of them is in the cache.
  void ToFiles() {
    OK(db_->Flush());
    OK(db_->Compact(family_));
    OK(db_->Close());
    db_.reset();
    Open();
  }
  uint64_t Prefetch(Transaction* txn, const std::vector<int>& rows) {
    std::vector<std::string> keys;
    for (const int n : rows) keys.push_back(Key(n));
    const std::vector<Slice> slices(keys.begin(), keys.end());
    return txn->Prefetch(family_, slices.data(), slices.size());
  }
  std::string Get(Transaction* txn, int n) {
    PinnedValue value;
    const auto found = txn->Get(family_, Key(n), &value);
    if (!found.ok()) return "error";
    return *found ? std::string(value.slice()) : "none";
  }

  ReadWatch watch_;
  MemFs fs_;
  Env env_;
  Options options_;
  std::unique_ptr<Db> db_;
  ColumnFamily* family_ = nullptr;
};

const std::vector<int> kFarApart = {5,   30,  55,  80,  105, 130, 155, 180,
                                    205, 230, 255, 280, 305, 330, 355, 380};

TEST_F(PrefetchTest, ReadsSeveralBlocksAtATime) {
  auto txn = db_->Begin({});
  EXPECT_EQ(Get(txn.get(), 0), Value(0));  // Opens the file.
  watch_.HoldBack(4);
  EXPECT_GE(Prefetch(txn.get(), kFarApart), kFarApart.size());
  EXPECT_GE(watch_.most(), 4);
}

TEST_F(PrefetchTest, ReadsThatFollowReadNothing) {
  auto txn = db_->Begin({});
  Prefetch(txn.get(), kFarApart);
  const int reads = watch_.reads();
  const uint64_t blocks = ThreadBlocksRead();
  for (const int n : kFarApart) EXPECT_EQ(Get(txn.get(), n), Value(n));
  EXPECT_EQ(Prefetch(txn.get(), kFarApart), 0u);
  EXPECT_EQ(watch_.reads(), reads);
  EXPECT_EQ(ThreadBlocksRead(), blocks);
  EXPECT_EQ(Get(txn.get(), 200), Value(200));
  EXPECT_GT(ThreadBlocksRead(), blocks);
}

TEST_F(PrefetchTest, ReadsWhatTheSnapshotSees) {
  auto old = db_->Begin({});
  old->SetSnapshot();
  for (const int n : kFarApart) Write(n, "new");
  OK(db_->Flush());
  Prefetch(old.get(), kFarApart);
  const int reads = watch_.reads();
  for (const int n : kFarApart) EXPECT_EQ(Get(old.get(), n), Value(n));
  EXPECT_EQ(watch_.reads(), reads);
}

TEST_F(PrefetchTest, SomeKeysNeedNoRead) {
  auto txn = db_->Begin({});
  OK(txn->Put(family_, Key(5), "own"));
  Write(30, "in memory");
  Write(55, "");
  const std::vector<int> keys = {5, 30, 55, kRows + 7, 80, 80, 105};
  Prefetch(txn.get(), keys);
  EXPECT_EQ(Get(txn.get(), 5), "own");
  EXPECT_EQ(Get(txn.get(), 30), "in memory");
  EXPECT_EQ(Get(txn.get(), 55), "none");
  EXPECT_EQ(Get(txn.get(), kRows + 7), "none");
  EXPECT_EQ(Get(txn.get(), 80), Value(80));
  EXPECT_EQ(txn->Prefetch(family_, nullptr, 0), 0u);
}

TEST_F(PrefetchTest, ChangesNothing) {
  auto txn = db_->Begin({});
  Prefetch(txn.get(), kFarApart);
  EXPECT_FALSE(txn->HasLocks());
  EXPECT_FALSE(txn->HasWrites());
  EXPECT_FALSE(txn->HasSnapshot());
  Write(5, "later");
  EXPECT_EQ(Get(txn.get(), 5), "later");
}

TEST_F(PrefetchTest, LeavesErrorsToTheReads) {
  auto txn = db_->Begin({});
  EXPECT_EQ(Get(txn.get(), kRows - 1), Value(kRows - 1));  // Far from the others.
  FaultRule rule;
  rule.op = IoOp::kRead;
  rule.times = UINT64_MAX;
  fs_.AddFault(rule);
  Prefetch(txn.get(), kFarApart);
  EXPECT_EQ(Get(txn.get(), 5), "error");
  fs_.ClearFaults();
  EXPECT_EQ(Get(txn.get(), 5), Value(5));
  EXPECT_EQ(Prefetch(txn.get(), {5}), 0u);
}

TEST_F(PrefetchTest, DoesNothingWhereAReadWouldFail) {
  auto txn = db_->Begin({});
  const Slice key = "key";
  EXPECT_EQ(txn->Prefetch(nullptr, &key, 1), 0u);
  txn->Rollback();
  EXPECT_EQ(Prefetch(txn.get(), kFarApart), 0u);
  auto open = db_->Begin({});
  db_.reset();
  EXPECT_EQ(open->Prefetch(family_, &key, 1), 0u);
}

// For the thread sanitizer: hints of several transactions beside writers, flushes and merges, and a close right after.
TEST_F(PrefetchTest, RunsBesideEverythingElse) {
  options_.memtable_bytes = 256 << 10;
  options_.memory_max_bytes = 16 << 20;
  options_.block_cache_bytes = 1 << 20;
  ToFiles();
  std::vector<std::unique_ptr<Thread>> readers;
  for (int r = 0; r < 3; ++r) {
    readers.push_back(std::make_unique<Thread>("reader", [this, r] {
      for (int round = 0; round < 100; ++round) {
        auto txn = db_->Begin({});
        if (round % 2 == 0) txn->SetSnapshot();
        std::vector<int> rows;
        for (int i = 0; i < 16; ++i) rows.push_back((37 * round + 131 * r + 23 * i) % kRows);
        Prefetch(txn.get(), rows);
        for (const int n : rows) CHECK(Get(txn.get(), n) == Value(n));
      }
    }));
  }
  for (int round = 0; round < 10; ++round) {
    for (int n = round; n < kRows; n += 10) Write(n, Value(n));
    OK(db_->Flush());
  }
  for (const auto& reader : readers) reader->Join();
}

}  // namespace
}  // namespace tidesdb
