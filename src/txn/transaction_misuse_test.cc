// Wrong uses of a transaction and its iterators: calls at the wrong time and invalid values. Each
// returns an error, in every build, and leaves the transaction unchanged.
#include <gtest/gtest.h>

#include <functional>

#include "base/clock.h"
#include "tidesdb/limits.h"
#include "tidesdb/transaction.h"
#include "txn/test_env.h"

namespace tidesdb {
namespace {

class TransactionMisuseTest : public testing::TestWithParam<Concurrency> {
 protected:
  TransactionMisuseTest() {
    TestEnv::Options options;
    options.clock = &clock_;
    options.lock_wait_timeout_us = 0;
    options.transaction_memory_bytes = 16 << 10;
    env_ = std::make_unique<TestEnv>(options);
    family_ = env_->family(1);
  }

  std::unique_ptr<Transaction> Begin() { return env_->Begin(GetParam()); }
  void Write(Slice key, Slice value) {
    auto txn = Begin();
    ASSERT_TRUE(txn->Put(family_, key, value).ok());
    ASSERT_TRUE(txn->Commit().ok());
  }
  std::string Committed(Slice key) {
    PinnedValue value;
    const auto found = Begin()->Get(family_, key, &value);
    if (!found.ok()) return found.status().ToString();
    return *found ? std::string(value.slice()) : "-";
  }
  static std::string Message(const Status& status) {
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
    return std::string(status.message());
  }
  // The errors of all calls that need an open transaction.
  std::vector<Status> ActAll(Transaction* txn, ColumnFamily* family) {
    PinnedValue value;
    std::vector<Status> errors;
    errors.push_back(
        txn->GetForUpdate(family, "k", LockMode::kShared, LockWait::kNoWait, &value).status());
    errors.push_back(txn->LockRange(family, "a", "b", RangeHold::kPuts, LockWait::kWait));
    errors.push_back(txn->LockRangeWithRow(family, "a", "b", "a", LockWait::kWait));
    errors.push_back(txn->AwaitWriters(family, "a", "b", LockWait::kWait));
    errors.push_back(txn->Put(family, "k", "v"));
    errors.push_back(txn->Delete(family, "k"));
    errors.push_back(txn->SingleDelete(family, "k"));
    errors.push_back(txn->PutUnderLock(family, "k", "v"));
    errors.push_back(txn->DeleteUnderLock(family, "k", true));
    return errors;
  }
  Status Get(Transaction* txn, ColumnFamily* family) {
    PinnedValue value;
    return txn->Get(family, "k", &value).status();
  }
  void ExpectNothingHeld() {
    EXPECT_EQ(env_->txns().GetStats().locks_held, 0u);
    EXPECT_EQ(env_->txns().GetStats().active_transactions, 0u);
    EXPECT_EQ(env_->txns().Snapshots().size(), 1u);
  }

  FakeClock clock_;
  std::unique_ptr<TestEnv> env_;
  ColumnFamily* family_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Both, TransactionMisuseTest,
                         testing::Values(Concurrency::kPessimistic, Concurrency::kOptimistic),
                         [](const auto& param) {
                           return param.param == Concurrency::kPessimistic ? "Pessimistic"
                                                                           : "Optimistic";
                         });

TEST_P(TransactionMisuseTest, AfterItsEndOnlyRestartWorks) {
  for (const bool commit : {true, false}) {
    auto txn = Begin();
    ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
    if (commit) {
      ASSERT_TRUE(txn->Commit().ok());
    } else {
      txn->Rollback();
    }
    for (const Status& status : ActAll(txn.get(), family_)) {
      EXPECT_NE(Message(status).find("has ended"), std::string::npos);
    }
    EXPECT_NE(Message(Get(txn.get(), family_)).find("has ended"), std::string::npos);
    Message(txn->Prepare());
    Message(txn->Commit());
    Message(txn->Validate());
    Message(txn->RollbackTo(txn->SetSavepoint(), LocksSince::kKeep));
    Message(txn->NewIterator(family_, {})->status());
    txn->ReleaseSavepoint(txn->SetSavepoint());
    txn->UnlockLast(family_, "k");
    txn->SetSnapshot();
    EXPECT_FALSE(txn->HasSnapshot());
    txn->ReleaseSnapshot();
    txn->Rollback();
    txn->Interrupt();
    txn->ClearInterrupt();
    ExpectNothingHeld();
    ASSERT_TRUE(txn->Restart({}).ok());
    ASSERT_TRUE(txn->Put(family_, "k", "2").ok());
    ASSERT_TRUE(txn->Commit().ok());
    EXPECT_EQ(Committed("k"), "2");
  }
}

TEST_P(TransactionMisuseTest, APreparedOneReadsAndEnds) {
  auto txn = Begin();
  const Savepoint savepoint = txn->SetSavepoint();
  ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  for (const Status& status : ActAll(txn.get(), family_)) {
    EXPECT_NE(Message(status).find("is prepared"), std::string::npos);
  }
  Message(txn->RollbackTo(savepoint, LocksSince::kKeep));
  Message(txn->RollbackTo(txn->SetSavepoint(), LocksSince::kKeep));
  Message(txn->Restart({}));
  txn->UnlockLast(family_, "k");
  EXPECT_TRUE(txn->Prepare().ok());
  EXPECT_TRUE(Get(txn.get(), family_).ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("k"), "1");
  ExpectNothingHeld();
}

TEST_P(TransactionMisuseTest, AnOpenOneIsNotRestarted) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
  EXPECT_NE(Message(txn->Restart({})).find("is open"), std::string::npos);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("k"), "1");
}

TEST_P(TransactionMisuseTest, ASavepointIsGoodInItsTransactionOnly) {
  auto txn = Begin();
  auto other = Begin();
  const Savepoint others = other->SetSavepoint();
  ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
  const Savepoint mine = txn->SetSavepoint();
  ASSERT_TRUE(txn->Put(family_, "k", "2").ok());
  EXPECT_NE(Message(txn->RollbackTo(others, LocksSince::kKeep)).find("not of transaction"),
            std::string::npos);
  Message(txn->RollbackTo(Savepoint(), LocksSince::kKeep));
  Message(txn->RollbackTo(Savepoint{txn->id(), 77}, LocksSince::kKeep));
  txn->ReleaseSavepoint(others);
  txn->ReleaseSavepoint(Savepoint{txn->id(), 77});
  ASSERT_TRUE(txn->RollbackTo(mine, LocksSince::kKeep).ok());
  txn->ReleaseSavepoint(mine);
  txn->ReleaseSavepoint(mine);
  Message(txn->RollbackTo(mine, LocksSince::kKeep));
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("k"), "1");
  ASSERT_TRUE(txn->Restart({}).ok());
  Message(txn->RollbackTo(mine, LocksSince::kKeep));  // Of the previous transaction.
}

TEST_P(TransactionMisuseTest, NoFamilyNoPlaceAndNoModeAreErrors) {
  Write("k", "1");
  auto txn = Begin();
  for (const Status& status : ActAll(txn.get(), nullptr)) {
    EXPECT_NE(Message(status).find("null"), std::string::npos);
  }
  Message(Get(txn.get(), nullptr));
  Message(txn->NewIterator(nullptr, {})->status());
  txn->UnlockLast(nullptr, "k");
  Message(txn->Get(family_, "k", nullptr).status());
  Message(txn->GetForUpdate(family_, "k", LockMode::kShared, LockWait::kNoWait, nullptr).status());
  PinnedValue value;
  const auto mode = static_cast<LockMode>(7);
  Message(txn->GetForUpdate(family_, "k", mode, LockWait::kNoWait, &value).status());
  const auto hold = static_cast<RangeHold>(7);
  Message(txn->LockRange(family_, "a", "b", hold, LockWait::kWait));
  EXPECT_EQ(env_->txns().GetStats().locks_held, 0u);
  ASSERT_TRUE(txn->Put(family_, "k", "2").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("k"), "2");
}

TEST_P(TransactionMisuseTest, WrongOptionsMakeATransactionThatSaysSo) {
  TransactionOptions options;
  options.concurrency = static_cast<Concurrency>(9);
  auto refused = env_->txns().Begin(options);
  for (const Status& status : ActAll(refused.get(), family_)) {
    EXPECT_NE(Message(status).find("concurrency is 9"), std::string::npos);
  }
  Message(Get(refused.get(), family_));
  Message(refused->NewIterator(family_, {})->status());
  Message(refused->RollbackTo(refused->SetSavepoint(), LocksSince::kKeep));
  Message(refused->Commit());
  refused->Rollback();
  auto txn = Begin();
  txn->Rollback();
  Message(txn->Restart(options));
  Message(txn->Put(family_, "k", "v"));
  ExpectNothingHeld();
  EXPECT_TRUE(txn->Restart({}).ok());
}

TEST_P(TransactionMisuseTest, LocksOnKeysOverTheLimitAreRefusedUnread) {
  // Reading beyond the first byte crashes.
  const char byte = 'k';
  const Slice long_key(&byte, kKeyBytesMax + 1);
  const Slice long_bound(&byte, kKeyBytesMax + 2);
  auto txn = Begin();
  PinnedValue value;
  Message(
      txn->GetForUpdate(family_, long_key, LockMode::kShared, LockWait::kNoWait, &value).status());
  Message(txn->LockRangeWithRow(family_, "a", "b", "b", LockWait::kWait));
  Message(txn->LockRangeWithRow(family_, "b", "", "a", LockWait::kWait));
  Message(txn->LockRange(family_, long_bound, "z", RangeHold::kPuts, LockWait::kWait));
  Message(txn->LockRange(family_, "a", long_bound, RangeHold::kPuts, LockWait::kWait));
  Message(txn->AwaitWriters(family_, "a", long_bound, LockWait::kWait));
  ASSERT_TRUE(txn->Commit().ok());
}

TEST_P(TransactionMisuseTest, AnEmptyKeyIsAKey) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(family_, "", "1").ok());
  ASSERT_TRUE(txn->Put(family_, "k", "").ok());
  ASSERT_TRUE(txn->Commit().ok());
  env_->Rotate();
  env_->Compact();
  EXPECT_EQ(Committed(""), "1");
  EXPECT_EQ(Committed("k"), "");
  ASSERT_TRUE(txn->Restart({}).ok());
  auto it = txn->NewIterator(family_, {});
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "");
  it->Next();
  EXPECT_EQ(it->key(), "k");
  it->SeekForPrev("");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), "1");
  it->Prev();
  EXPECT_FALSE(it->Valid());
  ASSERT_TRUE(txn->Delete(family_, "").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed(""), "-");
}

TEST_P(TransactionMisuseTest, AMoveFromNoKeyIsAnErrorUntilTheNextSeek) {
  Write("a", "1");
  Write("b", "2");
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(family_, "c", "3").ok());
  auto it = txn->NewIterator(family_, {});
  const std::vector<std::function<void()>> to_no_key = {
      [] {},
      [&] { it->Seek("x"); },
      [&] { it->SeekForPrev("A"); },
      [&] { it->SeekToLast(), it->Next(); },
      [&] { it->SeekToFirst(), it->Prev(); },
  };
  for (const auto& move : to_no_key) {
    for (const bool forward : {true, false}) {
      move();
      ASSERT_FALSE(it->Valid());
      EXPECT_EQ(it->key(), "");
      EXPECT_EQ(it->value(), "");
      forward ? it->Next() : it->Prev();
      EXPECT_FALSE(it->Valid());
      EXPECT_NE(Message(it->status()).find("is not on a key"), std::string::npos);
      it->Seek("b");
      ASSERT_TRUE(it->Valid());
      EXPECT_TRUE(it->status().ok());
      EXPECT_EQ(it->key(), "b");
      it->Seek("x");
      EXPECT_TRUE(it->status().ok());
    }
  }
  txn->Interrupt();
  it->SeekToFirst();
  it->Next();
  EXPECT_EQ(it->status().code(), Code::kInterrupted);
}

TEST_P(TransactionMisuseTest, BoundsThatCrossHoldNoKey) {
  Write("a", "1");
  Write("b", "2");
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(family_, "c", "3").ok());
  ScanOptions options;
  options.lower = "c";
  options.upper = "b";
  auto it = txn->NewIterator(family_, options);
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  it->SeekToLast();
  EXPECT_FALSE(it->Valid());
  it->Seek("b");
  EXPECT_FALSE(it->Valid());
  it->SeekForPrev("b");
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
}

TEST_P(TransactionMisuseTest, AnIteratorStopsWithItsTransaction) {
  Write("a", "1");
  Write("b", "2");
  const std::vector<std::function<void(std::unique_ptr<Transaction>*)>> ends = {
      [](auto* txn) { EXPECT_TRUE((*txn)->Commit().ok()); },
      [](auto* txn) { (*txn)->Rollback(); },
      [](auto* txn) { txn->reset(); },
      [](auto* txn) {
        (*txn)->Rollback();
        EXPECT_TRUE((*txn)->Restart({}).ok());
      },
  };
  for (const auto& end : ends) {
    auto txn = Begin();
    // Some of it is in runs on disk.
    const std::string large(1000, 'v');
    for (char c = 'c'; c <= 'z'; ++c) ASSERT_TRUE(txn->Put(family_, std::string(1, c), large).ok());
    auto first = txn->NewIterator(family_, {});
    auto on_own = txn->NewIterator(family_, {});
    auto gone = txn->NewIterator(family_, {});
    auto fresh = txn->NewIterator(family_, {});
    first->SeekToFirst();
    on_own->Seek("m");
    ASSERT_EQ(on_own->key(), "m");
    gone.reset();
    end(&txn);
    for (Iterator* it : {first.get(), on_own.get(), fresh.get()}) {
      const std::vector<std::function<void()>> calls = {
          [] {},
          [&] { it->Next(); },
          [&] { it->Prev(); },
          [&] { it->SeekToFirst(); },
          [&] { it->SeekToLast(); },
          [&] { it->Seek("a"); },
          [&] { it->SeekForPrev("b"); },
      };
      for (const auto& call : calls) {
        call();
        EXPECT_FALSE(it->Valid());
        EXPECT_EQ(it->key(), "");
        EXPECT_EQ(it->value(), "");
        EXPECT_NE(Message(it->status()).find("transaction has ended"), std::string::npos);
      }
    }
    txn.reset();
    EXPECT_EQ(env_->SpillFiles(), 0u);
  }
  ExpectNothingHeld();
}

}  // namespace
}  // namespace tidesdb
