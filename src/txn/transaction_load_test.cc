// Loads of transactions: what they block, who sees them, and what they leave.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/clock.h"
#include "txn/test_env.h"

namespace tidesdb {
namespace {

using Rows = std::map<std::string, std::string>;

std::string Key(uint64_t n) { return "key" + std::to_string(100'000 + n); }

class TransactionLoadTest : public testing::Test {
 protected:
  TransactionLoadTest() {
    TestEnv::Options options;
    options.clock = &clock_;
    options.lock_wait_timeout_us = 0;  // One thread: no other can release a lock.
    options.target_file_bytes = 16 << 10;
    env_ = std::make_unique<TestEnv>(options);
    family_ = env_->family(1);
    other_ = env_->family(2);
  }
  ~TransactionLoadTest() override { EXPECT_EQ(env_->UnusedTableFiles(), 0u); }

  std::unique_ptr<Transaction> Begin() { return env_->Begin(); }
  std::unique_ptr<Load> BeginLoad(Transaction* txn) {
    auto load = txn->BeginLoad(family_, {.memory_bytes = 64 << 10, .on_written = nullptr});
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
  Rows Read(ColumnFamily* family) {
    Rows rows;
    auto txn = Begin();
    const auto scan = txn->NewIterator(family, {});
    for (scan->SeekToFirst(); scan->Valid(); scan->Next()) {
      rows[std::string(scan->key())] = scan->value();
    }
    EXPECT_TRUE(scan->status().ok()) << scan->status().ToString();
    return rows;
  }
  // All operations that another transaction may want in the family.
  std::string WhatOthersMayDo() {
    std::string may;
    const auto note = [&may](const char* what, const Status& status) {
      if (status.ok()) may += what;
      EXPECT_TRUE(status.ok() || status.code() == Code::kTimedOut) << status.ToString();
    };
    PinnedValue value;
    const auto lock = [&](LockMode mode) {
      return Begin()->GetForUpdate(family_, Key(1), mode, LockWait::kNoWait, &value).status();
    };
    note("share ", lock(LockMode::kShared));
    note("lock ", lock(LockMode::kExclusive));
    note("put ", Begin()->Put(family_, Key(1), "x"));
    note("put-under ", Begin()->PutUnderLock(family_, Key(1), "x"));
    note("delete ", Begin()->Delete(family_, Key(1)));
    note("range ", Begin()->LockRange(family_, "", "", RangeHold::kPuts, LockWait::kNoWait));
    note("row-range ", Begin()->LockRangeWithRow(family_, "a", "b", "a", LockWait::kNoWait));
    note("await ", Begin()->AwaitWriters(family_, "", "", LockWait::kNoWait));
    return may;
  }
  static constexpr char kAll[] = "share lock put put-under delete range row-range await ";

  FakeClock clock_;
  std::unique_ptr<TestEnv> env_;
  ColumnFamily* family_ = nullptr;
  ColumnFamily* other_ = nullptr;
};

TEST_F(TransactionLoadTest, IsCommittedWithTheRest) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(other_, "with", "it").ok());
  {
    const auto load = BeginLoad(txn.get());
    AddAll(load.get(), 5000);
    EXPECT_EQ(WhatOthersMayDo(), "");
    ASSERT_TRUE(load->Commit().ok());
    EXPECT_EQ(load->Commit().code(), Code::kInvalidArgument);
  }
  EXPECT_TRUE(txn->HasWrites());
  EXPECT_EQ(txn->WriteCount(), 5001u);
  EXPECT_EQ(WhatOthersMayDo(), "");
  EXPECT_TRUE(Read(family_).empty());
  EXPECT_TRUE(Read(other_).empty());
  const auto before = Begin();
  before->SetSnapshot(SnapshotAt::kDurable);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Read(family_).size(), 5000u);
  EXPECT_EQ(Read(other_).size(), 1u);
  EXPECT_EQ(WhatOthersMayDo(), kAll);
  PinnedValue value;
  EXPECT_FALSE(*before->Get(family_, Key(1), &value));
  EXPECT_FALSE(*before->Get(other_, "with", &value));
}

TEST_F(TransactionLoadTest, ALoadAloneIsAWrite) {
  auto txn = Begin();
  const auto load = BeginLoad(txn.get());
  AddAll(load.get(), 3);
  EXPECT_FALSE(txn->HasWrites());
  ASSERT_TRUE(load->Commit().ok());
  EXPECT_TRUE(txn->HasWrites());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_GT(txn->CommitSequence(), 0u);
  EXPECT_EQ(Read(family_).size(), 3u);
}

TEST_F(TransactionLoadTest, InTwoPhases) {
  for (const bool commit : {true, false}) {
    auto txn = Begin();
    {
      const auto load = BeginLoad(txn.get());
      AddAll(load.get(), 2000);
      ASSERT_TRUE(load->Commit().ok());
    }
    ASSERT_TRUE(txn->PrepareNamed("big").ok());
    EXPECT_EQ(WhatOthersMayDo(), "");
    if (!commit) {
      txn->Rollback();
      EXPECT_TRUE(Read(family_).empty());
      continue;
    }
    txn->OrderCommit();
    ASSERT_TRUE(txn->Commit().ok());
    EXPECT_EQ(Read(family_).size(), 2000u);
    ASSERT_TRUE(Begin()->Put(family_, "later", "1").ok());
    break;
  }
}

TEST_F(TransactionLoadTest, RolledBackItLeavesNothing) {
  auto txn = Begin();
  const auto load = BeginLoad(txn.get());
  AddAll(load.get(), 5000);
  ASSERT_TRUE(load->Commit().ok());
  txn->Rollback();
  EXPECT_TRUE(Read(family_).empty());
  EXPECT_EQ(WhatOthersMayDo(), kAll);
}

TEST_F(TransactionLoadTest, ItsTransactionMayEndFirst) {
  auto txn = Begin();
  const auto load = BeginLoad(txn.get());
  AddAll(load.get(), 5000);
  txn->Rollback();
  EXPECT_EQ(load->Commit().code(), Code::kInvalidArgument);
  const auto again = BeginLoad(Begin().get());
  ASSERT_TRUE(txn->Restart(TransactionOptions()).ok());
  const auto third = BeginLoad(txn.get());
  txn->Rollback();
  ASSERT_TRUE(txn->Restart(TransactionOptions()).ok());
  ASSERT_TRUE(third->Add("a", "b").ok());
  EXPECT_EQ(third->Commit().code(), Code::kInvalidArgument);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_TRUE(Read(family_).empty());
}

TEST_F(TransactionLoadTest, ASavepointFromBeforeTakesItAway) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(other_, "first", "1").ok());
  const Savepoint before = txn->SetSavepoint();
  ASSERT_TRUE(BeginLoad(txn.get())->Commit().ok());  // Empty.
  {
    const auto load = BeginLoad(txn.get());
    AddAll(load.get(), 1000);
    ASSERT_TRUE(load->Commit().ok());
  }
  const Savepoint after = txn->SetSavepoint();
  ASSERT_TRUE(txn->Put(other_, "second", "1").ok());
  ASSERT_TRUE(txn->RollbackTo(after, LocksSince::kRelease).ok());
  EXPECT_EQ(txn->WriteCount(), 1001u);
  EXPECT_EQ(WhatOthersMayDo(), "");
  ASSERT_TRUE(txn->RollbackTo(before, LocksSince::kKeep).ok());
  EXPECT_EQ(txn->WriteCount(), 1u);
  EXPECT_EQ(WhatOthersMayDo(), "");
  ASSERT_TRUE(txn->RollbackTo(before, LocksSince::kRelease).ok());
  EXPECT_EQ(WhatOthersMayDo(), kAll);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_TRUE(Read(family_).empty());
  EXPECT_EQ(Read(other_).size(), 1u);
}

TEST_F(TransactionLoadTest, TakesThePlaceOfWhatIsThere) {
  auto old = Begin();
  ASSERT_TRUE(old->Put(family_, Key(1), "old").ok());
  ASSERT_TRUE(old->Put(family_, "stays", "old").ok());
  ASSERT_TRUE(old->Commit().ok());
  auto txn = Begin();
  const auto load = BeginLoad(txn.get());
  AddAll(load.get(), 2);
  ASSERT_TRUE(load->Commit().ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Read(family_), (Rows{{Key(0), "loaded"}, {Key(1), "loaded"}, {"stays", "old"}}));
}

// Whatever another transaction has in the family: the load is refused and has changed nothing.
TEST_F(TransactionLoadTest, NotBesideOthers) {
  PinnedValue value;
  const auto refused = [this] {
    const auto txn = Begin();
    EXPECT_EQ(txn->BeginLoad(family_, {}).status().code(), Code::kTimedOut);
    EXPECT_FALSE(txn->HasLocks());
  };
  for (const LockMode mode : {LockMode::kShared, LockMode::kExclusive}) {
    const auto other = Begin();
    ASSERT_TRUE(other->GetForUpdate(family_, "a", mode, LockWait::kNoWait, &value).ok());
    refused();
  }
  {
    const auto other = Begin();
    ASSERT_TRUE(other->PutUnderLock(family_, "a", "b").ok());
    refused();
    ASSERT_TRUE(other->PrepareNamed("other").ok());
    refused();
    other->Rollback();
  }
  {
    const auto other = Begin();
    ASSERT_TRUE(other->LockRange(family_, "x", "y", RangeHold::kPuts, LockWait::kNoWait).ok());
    refused();
  }
  {
    const auto other = Begin();
    const auto load = BeginLoad(other.get());
    refused();
  }
  EXPECT_EQ(WhatOthersMayDo(), kAll);
}

TEST_F(TransactionLoadTest, LoadedAndWrittenIsRefused) {
  for (const bool before : {true, false}) {
    auto txn = Begin();
    if (before) {
      ASSERT_TRUE(txn->Put(family_, "own", "1").ok());
    }
    const auto load = BeginLoad(txn.get());
    AddAll(load.get(), 10);
    ASSERT_TRUE(load->Commit().ok());
    if (!before) {
      ASSERT_TRUE(txn->Put(family_, "own", "1").ok());
    }
    const Status committed = txn->Commit();
    EXPECT_EQ(committed.code(), Code::kInvalidArgument);
    EXPECT_NE(committed.ToString().find("also written to it"), std::string::npos);
    txn->Rollback();
  }
  // Undone writes do not count.
  auto txn = Begin();
  const Savepoint savepoint = txn->SetSavepoint();
  ASSERT_TRUE(txn->Put(family_, "own", "1").ok());
  ASSERT_TRUE(txn->RollbackTo(savepoint, LocksSince::kKeep).ok());
  const auto load = BeginLoad(txn.get());
  AddAll(load.get(), 10);
  ASSERT_TRUE(load->Commit().ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Read(family_).size(), 10u);
}

// Many simultaneous loads stay within the memory limit of transactions.
TEST_F(TransactionLoadTest, ItsMemoryCounts) {
  for (const uint64_t share : {64 << 20, 1 << 20}) {
    TestEnv::Options options;
    options.transaction_memory_bytes = share;
    TestEnv env(options);
    auto txn = env.Begin();
    const uint64_t before = env.txns().MemoryBytes();
    {
      auto load = txn->BeginLoad(env.family(1), {.memory_bytes = 16 << 20, .on_written = nullptr});
      ASSERT_TRUE(load.ok());
      AddAll(load->get(), 100'000);
      const uint64_t taken = env.txns().MemoryBytes() - before;
      EXPECT_EQ(taken > 4u << 20, share > 4u << 20) << taken;
      ASSERT_TRUE((*load)->Commit().ok());
    }
    EXPECT_LT(env.txns().MemoryBytes(), before + (100 << 10));
    ASSERT_TRUE(txn->Commit().ok());
  }
}

TEST_F(TransactionLoadTest, TwiceIsRefused) {
  auto txn = Begin();
  const auto first = BeginLoad(txn.get());
  const auto second = BeginLoad(txn.get());
  AddAll(first.get(), 100);
  AddAll(second.get(), 50);
  ASSERT_TRUE(first->Commit().ok());
  EXPECT_EQ(second->Commit().code(), Code::kInvalidArgument);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Read(family_).size(), 100u);
}

// The load's lock has been released.
TEST_F(TransactionLoadTest, ARollbackFromBeforeItBeganEndsIt) {
  auto txn = Begin();
  const Savepoint before = txn->SetSavepoint();
  const auto load = BeginLoad(txn.get());
  AddAll(load.get(), 100);
  ASSERT_TRUE(txn->RollbackTo(before, LocksSince::kRelease).ok());
  EXPECT_EQ(WhatOthersMayDo(), kAll);
  EXPECT_EQ(load->Commit().code(), Code::kInvalidArgument);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_TRUE(Read(family_).empty());
}

TEST_F(TransactionLoadTest, MisuseIsRefused) {
  auto optimistic = env_->Begin(Concurrency::kOptimistic);
  EXPECT_EQ(optimistic->BeginLoad(family_, {}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Begin()->BeginLoad(nullptr, {}).status().code(), Code::kInvalidArgument);
  auto txn = Begin();
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(txn->BeginLoad(family_, {}).status().code(), Code::kInvalidArgument);
}

TEST_F(TransactionLoadTest, AKeyTwiceIsFoundWithItsRow) {
  auto txn = Begin();
  const auto load = BeginLoad(txn.get());
  std::string value;
  EXPECT_EQ(load->Find(Key(1), &value).status().code(), Code::kInvalidArgument);
  AddAll(load.get(), 3000);
  ASSERT_TRUE(load->Finish().ok());
  EXPECT_TRUE(*load->Find(Key(1234), &value));
  EXPECT_EQ(value, "loaded");
  EXPECT_FALSE(*load->Find("none", &value));
  txn->Rollback();

  auto twice = Begin();
  const auto second = BeginLoad(twice.get());
  AddAll(second.get(), 3000);
  ASSERT_TRUE(second->Add(Key(7), "again").ok());
  EXPECT_EQ(second->Finish().code(), Code::kAlreadyExists);
  EXPECT_EQ(second->duplicate_key(), Key(7));
}

}  // namespace
}  // namespace tidesdb
