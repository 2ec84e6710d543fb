// Prepared transactions across close, kill and power cut, through the public interface.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "db/db_test_util.h"
#include "io/env.h"
#include "io/file_names.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"

namespace tidesdb {
namespace {

class DbTwoPhaseTest : public testing::Test {
 protected:
  DbTwoPhaseTest() {
    options_.memtable_bytes = 64 << 10;
    options_.wal_segment_bytes = 16 << 10;
    options_.memory_max_bytes = 64 << 20;
    options_.transaction_memory_bytes = 256 << 10;
    options_.lock_wait_timeout_us = 0;
    Open();
  }
  ~DbTwoPhaseTest() override {
    prepared_.clear();
    if (db_ != nullptr) {
      EXPECT_TRUE(db_->Close().ok());
    }
  }

  void Open() {
    env_ = EnvOn(fs_.get());
    options_.env = &env_;
    auto db = Db::Open(options_, "/db");
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    db_ = std::move(db).value();
    family_ = db_->FindFamily("data");
    if (family_ == nullptr) {
      ColumnFamilyOptions family_options;
      family_options.name = "data";
      auto family = db_->CreateFamily(family_options);
      ASSERT_TRUE(family.ok()) << family.status().ToString();
      family_ = *family;
    }
    auto prepared = db_->TakePrepared();
    ASSERT_TRUE(prepared.ok()) << prepared.status().ToString();
    prepared_ = std::move(prepared).value();
    EXPECT_TRUE(db_->TakePrepared()->empty());
  }
  enum class End : uint8_t { kClose, kKill, kPowerCut };
  void Reopen(End end) {
    prepared_.clear();
    if (end == End::kClose) {
      ASSERT_TRUE(db_->Close().ok());
      db_.reset();
    } else {
      auto next = end == End::kKill ? fs_->CleanClone() : fs_->CrashClone(7);
      fs_->PowerCut();  // The old process can do no more harm.
      db_.reset();
      fs_ = std::move(next);
    }
    Open();
  }

  std::unique_ptr<Transaction> Prepared(const std::string& key, const std::string& value,
                                        const std::string& name) {
    auto txn = db_->Begin({});
    EXPECT_TRUE(txn->Put(family_, key, value).ok());
    EXPECT_TRUE(txn->PrepareNamed(name).ok());
    return txn;
  }
  void Put(const std::string& key, const std::string& value) {
    auto txn = db_->Begin({});
    ASSERT_TRUE(txn->Put(family_, key, value).ok());
    ASSERT_TRUE(txn->Commit().ok());
  }
  std::string Get(const std::string& key) {
    auto txn = db_->Begin({});
    PinnedValue value;
    auto found = txn->Get(family_, key, &value);
    if (!found.ok()) return found.status().ToString();
    return *found ? std::string(value.slice()) : "(none)";
  }
  bool Locked(const std::string& key) {
    return db_->Begin({})->Put(family_, key, "x").code() == Code::kTimedOut;
  }
  bool HoldsWritersIn(const std::string& start, const std::string& end) {
    auto txn = db_->Begin({});
    const Status status = txn->LockRange(family_, start, end, RangeHold::kWrites, LockWait::kWait);
    EXPECT_TRUE(status.ok() || status.code() == Code::kTimedOut) << status.ToString();
    return !status.ok();
  }
  std::string Names() {
    std::vector<std::string> names;
    for (const auto& txn : prepared_) names.emplace_back(txn->prepared_name());
    std::sort(names.begin(), names.end());
    std::string text;
    for (const std::string& name : names) text += name + " ";
    return text;
  }
  size_t Files(FileKind kind) {
    const auto names = fs_->List("/db");
    return static_cast<size_t>(std::count_if(names->begin(), names->end(), [&](const auto& name) {
      return ParseFileName(name).kind == kind;
    }));
  }

  std::unique_ptr<MemFs> fs_ = std::make_unique<MemFs>();
  Env env_;
  Options options_;
  std::unique_ptr<Db> db_;
  ColumnFamily* family_ = nullptr;
  std::vector<std::unique_ptr<Transaction>> prepared_;
};

TEST_F(DbTwoPhaseTest, PreparedOnesComeBackWithTheirLocks) {
  for (const End end : {End::kClose, End::kKill, End::kPowerCut}) {
    Prepared("a", "1", "one").reset();
    Prepared("b", "1", "two").reset();
    Reopen(end);
    EXPECT_EQ(Names(), "one two ");
    EXPECT_EQ(Get("a"), "(none)");
    EXPECT_TRUE(Locked("a"));
    EXPECT_TRUE(Locked("b"));
    EXPECT_FALSE(Locked("c"));
    // Again, without changes.
    Reopen(end);
    EXPECT_EQ(Names(), "one two ");
    EXPECT_TRUE(Locked("a"));
    for (auto& txn : prepared_) {
      if (txn->prepared_name() == "one") {
        ASSERT_TRUE(txn->Commit().ok());
      } else {
        txn->Rollback();
      }
    }
    EXPECT_EQ(Get("a"), "1");
    EXPECT_EQ(Get("b"), "(none)");
    EXPECT_FALSE(Locked("a"));
    EXPECT_FALSE(Locked("b"));
    Reopen(end);
    EXPECT_EQ(Names(), "");
    EXPECT_EQ(Get("a"), "1");
    EXPECT_EQ(Get("b"), "(none)");
    auto txn = db_->Begin({});
    ASSERT_TRUE(txn->Delete(family_, "a").ok());
    ASSERT_TRUE(txn->Commit().ok());
  }
}

// The power fails after the caller's log has the commit and before ours is synced: the caller finds
// the transaction by name.
TEST_F(DbTwoPhaseTest, AnOrderedCommitThatTheDiskLostIsFoundPrepared) {
  auto txn = Prepared("a", "1", "x");
  txn->OrderCommit();
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Get("a"), "1");
  txn.reset();
  bool lost = false;
  for (uint64_t seed = 1; seed < 200 && !lost; ++seed) {
    auto next = fs_->CrashClone(seed);
    auto db_env = env_;
    db_env.fs = next.get();
    Options options = options_;
    options.env = &db_env;
    auto db = Db::Open(options, "/db");
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    auto found = (*db)->TakePrepared().value();
    if (!found.empty()) {
      lost = true;
      ASSERT_EQ(found.size(), 1u);
      ASSERT_TRUE(found[0]->Commit().ok());
    }
    found.clear();
    PinnedValue value;
    auto got = (*db)->Begin({})->Get((*db)->FindFamily("data"), "a", &value);
    ASSERT_TRUE(got.ok() && *got) << seed;
    value.Reset();
    ASSERT_TRUE((*db)->Close().ok());
  }
  EXPECT_TRUE(lost);
}

TEST_F(DbTwoPhaseTest, TheLogIsKeptForThemAndNoLonger) {
  auto txn = Prepared("held", "1", "x");
  const std::string value(2000, 'v');
  for (int i = 0; i < 300; ++i) Put("k" + std::to_string(i), value);
  ASSERT_TRUE(db_->Flush().ok());
  const size_t with = Files(FileKind::kWal);
  EXPECT_GT(with, 20u);
  txn.reset();
  Reopen(End::kKill);
  ASSERT_EQ(Names(), "x ");
  ASSERT_TRUE(prepared_[0]->Commit().ok());
  // Committed but not flushed: still needed.
  Reopen(End::kKill);
  EXPECT_EQ(Names(), "");
  EXPECT_EQ(Get("held"), "1");
  Put("after", "1");
  ASSERT_TRUE(db_->Flush().ok());
  for (int i = 0; i < 10'000 && Files(FileKind::kWal) > 6; ++i) env_.clock->SleepMicros(1000);
  EXPECT_LE(Files(FileKind::kWal), 6u);
  Reopen(End::kPowerCut);
  EXPECT_EQ(Get("held"), "1");
  EXPECT_EQ(Get("k299"), value);
}

TEST_F(DbTwoPhaseTest, ACommittedOneIsKeptUntilItsOwnMemtableIsFlushed) {
  auto txn = Prepared("held", "1", "x");
  const std::string value(2000, 'v');
  for (int i = 0; i < 100; ++i) Put("k" + std::to_string(i), value);
  txn->OrderCommit();
  ASSERT_TRUE(txn->Commit().ok());
  for (const End end : {End::kKill, End::kPowerCut}) {
    Reopen(end);
    EXPECT_EQ(Names(), "");
    EXPECT_EQ(Get("held"), "1");
  }
  ASSERT_TRUE(db_->Flush().ok());
  Reopen(End::kPowerCut);
  EXPECT_EQ(Get("held"), "1");
}

TEST_F(DbTwoPhaseTest, SpilledOnesComeBackWithFilesAndLocks) {
  const std::string value(2000, 'v');
  for (const bool commit : {true, false}) {
    const std::string prefix = commit ? "c" : "r";
    {
      auto txn = db_->Begin({});
      for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE(txn->Put(family_, prefix + std::to_string(i), value).ok());
      }
      ASSERT_TRUE(txn->PrepareNamed("big").ok());
    }
    for (const End end : {End::kClose, End::kPowerCut}) {
      Reopen(end);
      ASSERT_EQ(Names(), "big ");
      EXPECT_EQ(Get(prefix + "7"), "(none)");
      EXPECT_TRUE(Locked(prefix + "7"));
      EXPECT_FALSE(Locked(prefix + "x"));
      EXPECT_TRUE(HoldsWritersIn(prefix + "70", prefix + "8"));
      EXPECT_TRUE(HoldsWritersIn(prefix + "99", ""));
      EXPECT_FALSE(HoldsWritersIn(prefix + "990", prefix + "x"));
      EXPECT_FALSE(HoldsWritersIn(prefix + "x", ""));
    }
    if (commit) {
      ASSERT_TRUE(prepared_[0]->Commit().ok());
    } else {
      prepared_[0]->Rollback();
    }
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(Get(prefix + "7"), commit ? value : "(none)");
      EXPECT_FALSE(Locked(prefix + "7"));
      Reopen(End::kPowerCut);
      EXPECT_EQ(Names(), "");
    }
  }
  ASSERT_TRUE(db_->Verify(family_, VerifyDepth::kAll).ok());
}

TEST_F(DbTwoPhaseTest, LoadedOnesComeBackWithFilesAndLocks) {
  for (const bool commit : {false, true}) {
    {
      auto txn = db_->Begin({});
      auto load = txn->BeginLoad(family_, {});
      ASSERT_TRUE(load.ok()) << load.status().ToString();
      for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE((*load)->Add("l" + std::to_string(i), "loaded").ok());
      }
      ASSERT_TRUE((*load)->Commit().ok());
      ASSERT_TRUE(txn->PrepareNamed("load").ok());
    }
    for (const End end : {End::kKill, End::kPowerCut}) {
      Reopen(end);
      ASSERT_EQ(Names(), "load ");
      EXPECT_EQ(Get("l7"), "(none)");
      EXPECT_TRUE(Locked("l7"));
      EXPECT_FALSE(Locked("x"));
    }
    if (commit) {
      ASSERT_TRUE(prepared_[0]->Commit().ok());
    } else {
      prepared_[0]->Rollback();
    }
    Reopen(End::kPowerCut);
    EXPECT_EQ(Names(), "");
    EXPECT_EQ(Get("l7"), commit ? "loaded" : "(none)");
  }
  EXPECT_TRUE(db_->Verify(family_, VerifyDepth::kAll).ok());
}

TEST_F(DbTwoPhaseTest, AFamilyMayBeDroppedUnderThem) {
  Prepared("a", "1", "x").reset();
  ASSERT_TRUE(db_->DropFamily(family_).ok());
  Reopen(End::kKill);
  ASSERT_EQ(Names(), "x ");
  ASSERT_TRUE(prepared_[0]->Commit().ok());
  ASSERT_TRUE(db_->Flush().ok());
  Reopen(End::kKill);
  EXPECT_EQ(Names(), "");
}

TEST_F(DbTwoPhaseTest, ACopyHasTheFilesOfASpilledOneWhoseFamilyIsGone) {
  {
    auto txn = db_->Begin({});
    const std::string value(2000, 'v');
    for (int i = 0; i < 500; ++i) {
      ASSERT_TRUE(txn->Put(family_, "a" + std::to_string(i), value).ok());
    }
    ASSERT_TRUE(txn->PrepareNamed("big").ok());
  }
  ASSERT_GT(db_->GetStats().spills, 0u);
  ASSERT_TRUE(db_->DropFamily(family_).ok());
  for (const bool decided : {false, true}) {
    const std::string directory = decided ? "/decided" : "/prepared";
    const auto made = db_->Checkpoint(directory, CheckpointFiles::kLink);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    auto copy = Db::Open(options_, directory);
    ASSERT_TRUE(copy.ok()) << copy.status().ToString();
    auto prepared = (*copy)->TakePrepared();
    ASSERT_TRUE(prepared.ok()) << prepared.status().ToString();
    ASSERT_EQ(prepared->size(), decided ? 0u : 1u);
    for (auto& txn : *prepared) ASSERT_TRUE(txn->Commit().ok());
    prepared->clear();
    ASSERT_TRUE((*copy)->Close().ok());
    Reopen(End::kKill);
    for (auto& txn : prepared_) ASSERT_TRUE(txn->Commit().ok());
  }
}

TEST_F(DbTwoPhaseTest, AwaitOrderedMakesThemVisible) {
  auto txn = Prepared("a", "1", "x");
  txn->OrderCommit();
  ASSERT_TRUE(db_->AwaitOrdered().ok());
  EXPECT_EQ(Get("a"), "1");
  ASSERT_TRUE(txn->Commit().ok());
}

// The disk is full from the prepare on: room for the end was reserved.
TEST_F(DbTwoPhaseTest, AFullDiskDoesNotStopACommit) {
  std::vector<std::unique_ptr<Transaction>> ready;
  for (int i = 0; i < 300; ++i) {
    const std::string number = std::to_string(i);
    ready.push_back(Prepared("k" + number, std::string(200, 'v'), number));
  }
  fs_->SetCapacity(1);  // Nothing can grow any more.
  for (auto& txn : ready) {
    txn->OrderCommit();
    const Status committed = txn->Commit();
    ASSERT_TRUE(committed.ok()) << committed.ToString();
  }
  fs_->SetCapacity(UINT64_MAX);
  EXPECT_EQ(Get("k299"), std::string(200, 'v'));
}

}  // namespace
}  // namespace tidesdb
